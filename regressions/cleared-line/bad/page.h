// A page that is filled line by line.
#ifndef PAGE_H
#define PAGE_H

#include <string>
#include <vector>

class Page {
public:
    void indent(unsigned columns);
    void text(const std::string &words);
    // The words of a part, between others of the same line.
    void part(const std::vector<std::string> &words);
    void end_line();
    const std::string &content() const { return content_; }

private:
    // What is blank has no place in the page.
    void settle();

    std::string content_;
    std::string line_;
};

#endif
