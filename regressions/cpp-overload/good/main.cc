#include "chart.h"

int main(int argc, char **argv) {
    Chart chart;
    Element root("svg");
    std::FILE *in;
    int wrong;

    if (argc != 2) {
        std::fprintf(stderr, "usage: chart FILE\n");
        return 2;
    }
    in = std::fopen(argv[1], "r");
    if (in == nullptr) {
        std::perror(argv[1]);
        return 2;
    }
    wrong = parse(in, chart);
    std::fclose(in);
    if (wrong != 0) {
        std::fprintf(stderr, "%s:%d: cannot be understood\n", argv[1], wrong);
        return 1;
    }
    draw(chart, root);
    root.write(stdout);
    return 0;
}
