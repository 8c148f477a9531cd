#include <cstdio>
#include <cstdlib>
#include <stdexcept>

struct Table {
    int cells[4];
    int at(int i);
};

int Table::at(int i) {
    if (i < 0 || i >= 4)
        throw std::out_of_range("at");
    return cells[i];
}

int main(int argc, char **argv) {
    Table table = {{10, 20, 30, 40}};
    for (int i = 1; i < argc; i++) {
        try {
            std::printf("%d\n", table.at(std::atoi(argv[i])));
        } catch (const std::exception &) {
            std::puts("no");
        }
    }
    return 0;
}
