// opaque:
// expect: enter middle
// expect: enter risky
// expect: leave risky
// expect: leave middle
// expect: 1 -> 3
// expect: enter middle
// expect: enter risky
// expect: leave risky
// expect: leave middle
// expect: caught multiple of three: 3
// expect: 3 -> -1
// expect: enter middle
// expect: enter risky
// expect: leave risky
// expect: leave middle
// expect: caught 5
// expect: 5 -> -5
// expect: caught something
// expect: derived as base
// expect: range
// expect: new
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

// Handlers by type, cleanups on the way, and exceptions that the library throws.
struct Guard {
    const char *name;
    explicit Guard(const char *n) : name(n) { std::printf("enter %s\n", name); }
    ~Guard() { std::printf("leave %s\n", name); }
};

static int risky(int n) {
    Guard g("risky");
    if (n % 3 == 0) throw std::runtime_error("multiple of three: " + std::to_string(n));
    if (n % 5 == 0) throw n;
    return n * 2;
}

static int middle(int n) {
    Guard g("middle");
    std::string s(n, 'x');
    return risky(n) + (int)s.size();
}

static int guarded(int n) {
    int result = 0;
    try {
        result = middle(n);
    } catch (const std::runtime_error &e) {
        std::printf("caught %s\n", e.what());
        result = -1;
    } catch (int v) {
        std::printf("caught %d\n", v);
        result = -v;
    }
    return result;
}

struct Base {
    virtual ~Base() {}
    virtual const char *name() const { return "base"; }
};
struct Derived : Base {
    const char *name() const override { return "derived"; }
};

int main() {
    for (int i = 1; i < 6; i += 2) std::printf("%d -> %d\n", i, guarded(i));
    try {
        throw 2.5;
    } catch (...) {
        std::printf("caught something\n");
    }
    try {
        throw Derived();
    } catch (const Base &b) {
        std::printf("%s as base\n", b.name());
    }
    std::vector<int> v(3);
    try {
        std::printf("%d\n", v.at(100));
    } catch (const std::out_of_range &) {
        std::printf("range\n");
    }
    try {
        volatile size_t much = (size_t)1 << 62;
        std::printf("%p\n", ::operator new(much));
    } catch (const std::bad_alloc &) {
        std::printf("new\n");
    }
    return 0;
}
