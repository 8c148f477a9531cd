// Elements of a drawing: a name, attributes, and elements inside.
#ifndef ELEMENT_H
#define ELEMENT_H

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

class Element {
public:
    explicit Element(std::string name) : name_(std::move(name)) {}

    // Sets an attribute; a value that it had is replaced.
    Element &set(const std::string &name, const std::string &value);
    Element &set(const std::string &name, double value);
    Element &set(const std::string &name, int value);

    bool has(const std::string &name) const { return attributes_.count(name) != 0; }

    Element &add(const std::string &name);
    Element &text(const std::string &text);

    void write(std::FILE *out, int depth = 0) const;

private:
    std::string name_;
    std::map<std::string, std::string> attributes_;
    std::vector<std::unique_ptr<Element>> children_;
    std::string text_;
};

// A number as short as it can be said, with two places at most.
std::string short_number(double value);

#endif
