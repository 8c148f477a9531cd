// What expressions find, by subject.
#include "pattern.h"

#include <cstdio>
#include <cstring>

static int failures = 0;

/// What the whole match, or a group of it, is expected to be; "-" for none.
static void check(const char *expression, const char *text, const char *expected, int group = 0) {
    auto found = pattern::expression(expression).search(text);
    std::string what = found ? std::string(found->group(text, group)) : "-";
    if (what != expected) {
        std::printf("%s in %s: %s, not %s\n", expression, text, what.c_str(), expected);
        failures++;
    }
}

static void classes() {
    check("[a-c]+", "xxabcabx", "abcab");
    check("[^a-c]+", "abxyz", "xyz");
    check("\\d+", "room 101", "101");
    check("[]x]+", "a]x]", "]x]");
    check("[\\w-]+", "  one-two ", "one-two");
    check("\\S+", "  end", "end");
}

static void repeats() {
    check("a*", "aaa", "aaa");
    check("a+?", "aaa", "a");
    check("a{2}", "aaa", "aa");
    check("a{2,}", "aaaa", "aaaa");
    check("ba{0,2}", "baaa", "baa");
    check("x{2,3}?y", "xxxy", "xxxy");
    check("<.+?>", "<a><b>", "<a>");
    check("x*y", "zy", "y");
    check("(ab)?c", "abxc", "c");
}

static void groups() {
    check("(\\w+)@(\\w+)", "to: me@home", "home", 2);
    check("(a|ab)(c|bcd)(d*)", "abcd", "abcd");
    check("(a|ab)(c|bcd)(d*)", "abcd", "a", 1);
    check("(x)|y", "y", "", 1);
    check("((a)|b)+", "ab", "b", 1);
}

static void anchors() {
    check("^b", "ab", "-");
    check("^b", "a\nb", "b");
    check("a$", "a\nb", "a");
    check("^$", "", "");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"classes", classes}, {"repeats", repeats}, {"groups", groups}, {"anchors", anchors}};
    for (const auto &one : all)
        if (argc < 2 || std::strcmp(argv[1], one.name) == 0)
            one.run();
    return failures != 0;
}
