// flags: -pthread
// expect: thread big
// expect: future big
// expect: 45
#include <cstdio>
#include <future>
#include <string>
#include <thread>

// Exceptions inside of threads and from one thread to another.
static int inner(int x) {
    std::string s(x, 'y');
    if (x > 3) throw std::string("big");
    return x * 15;
}

int main() {
    std::thread t([] {
        try {
            inner(7);
        } catch (const std::string &s) {
            std::printf("thread %s\n", s.c_str());
        }
    });
    t.join();
    auto f = std::async(std::launch::async, [] { return inner(5); });
    try {
        std::printf("%d\n", f.get());
    } catch (const std::string &s) {
        std::printf("future %s\n", s.c_str());
    }
    std::printf("%d\n", std::async(std::launch::async, inner, 3).get());
    return 0;
}
