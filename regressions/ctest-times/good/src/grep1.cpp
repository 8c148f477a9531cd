// Prints the lines that match, and what each group is.
#include "pattern.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: grep1 EXPRESSION\n");
        return 2;
    }
    try {
        pattern::expression expression(argv[1]);
        bool any = false;
        char buffer[4096];
        while (std::fgets(buffer, sizeof buffer, stdin)) {
            buffer[std::strcspn(buffer, "\n")] = '\0';
            std::string line = buffer;
            auto found = expression.search(line);
            if (!found)
                continue;
            any = true;
            std::printf("%s\n", line.c_str());
            for (int i = 1; i <= expression.groups(); i++)
                std::printf("  %d: %s\n", i, std::string(found->group(line, i)).c_str());
        }
        return any ? 0 : 1;
    } catch (const pattern::syntax_error &error) {
        std::fprintf(stderr, "grep1: at %zu: %s\n", error.place, error.what());
        return 2;
    }
}
