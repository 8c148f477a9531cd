// opaque:
// signal: ABRT
// expect: before
// expect: leave
#include <cstdio>
#include <string>

// Nobody catches the second one.
struct Guard {
    ~Guard() { std::printf("leave\n"); }
};

static void fail(int n) {
    if (n > 1) throw n;
}

int main(int argc, char **) {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    std::printf("before\n");
    try {
        Guard g;
        fail(argc + 1);
    } catch (int) {
        fail(argc + 5);
    }
    return 0;
}
