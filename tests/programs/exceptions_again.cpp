// opaque:
// expect: rethrow 0
// expect: rethrow 1
// expect: rethrow 2
// expect: got 14 after 3
// expect: sum 57
// expect: in a destructor: inner
// expect: outer
// expect: from a constructor: 0
// expect: frames 40
#include <cstdio>
#include <stdexcept>
#include <string>

// Thrown again, tried again, thrown while cleaning up; handlers that loop; frames that grow.
static int risky(int n) {
    if (n < 14) throw std::runtime_error("small");
    return n;
}

static void again(int n) {
    for (int tries = 0;; tries++) {
        try {
            try {
                std::string label(tries + 1, '.');
                std::printf("got %d after %d\n", risky(n + tries), tries);
                return;
            } catch (...) {
                std::printf("rethrow %d\n", tries);
                throw;
            }
        } catch (const std::exception &) {
        }
    }
}

static int loops() {
    int sum = 0, next = 0;
retry:
    try {
        for (; next < 10; next++) {
            if (next % 4 == 3) throw next;
            sum += next;
        }
    } catch (int v) {
        sum += 10 + v % 2;
        next++;
        if (next < 10) goto retry;
    }
    return sum;
}

struct Cleanup {
    ~Cleanup() {
        try {
            throw std::string("inner");
        } catch (const std::string &s) {
            std::printf("in a destructor: %s\n", s.c_str());
        }
    }
};

struct Part {
    static int alive;
    Part() {
        if (++alive == 3) throw std::string("from a constructor");
    }
    ~Part() { alive--; }
};
int Part::alive = 0;
struct Whole {
    Part parts[4];
};

static int grows(int n) {
    char *space = (char *)__builtin_alloca(n);
    space[0] = (char)n;
    try {
        if (n % 2) throw space[0];
        return space[0];
    } catch (char c) {
        char *more = (char *)__builtin_alloca(64);
        more[0] = c;
        return more[0] + 1;
    }
}

int main() {
    again(11);
    std::printf("sum %d\n", loops());
    try {
        Cleanup c;
        throw std::string("outer");
    } catch (const std::string &s) {
        std::printf("%s\n", s.c_str());
    }
    try {
        Whole w;
    } catch (const std::string &s) {
        std::printf("%s: %d\n", s.c_str(), Part::alive - 1);
    }
    int sum = 0;
    for (int i = 0; i < 9; i++) sum += grows(i);
    std::printf("frames %d\n", sum);
    return 0;
}
