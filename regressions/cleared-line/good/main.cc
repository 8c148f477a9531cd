#include "page.h"

#include <iostream>

// Writes a letter to the people that are named.
int main(int argc, char **argv) {
    std::vector<std::string> people(argv + 1, argv + argc);
    Page page;
    page.text("Dear ");
    page.part(people);
    page.text(",");
    page.end_line();
    page.end_line();
    page.indent(4);
    page.part({});
    page.text("come as you are.");
    page.end_line();
    std::cout << page.content();
    return 0;
}
