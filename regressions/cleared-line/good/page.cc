#include "page.h"

namespace {

bool is_blank(const std::string &text) {
    return text.find_first_not_of(' ') == std::string::npos;
}

} // namespace

void Page::indent(unsigned columns) {
    line_.append(columns, ' ');
}

void Page::text(const std::string &words) {
    line_.append(words);
}

void Page::part(const std::vector<std::string> &words) {
    bool first = true;
    for (const auto &word : words) {
        if (!first)
            text(", ");
        text(word);
        first = false;
    }
}

void Page::settle() {
    if (is_blank(line_))
        line_.clear();
}

void Page::end_line() {
    settle();
    content_ += line_ + "\n";
    line_.clear();
}
