#include "element.h"

Element &Element::set(const std::string &name, const std::string &value) {
    attributes_[name] = value;
    return *this;
}

Element &Element::set(const std::string &name, double value) {
    return set(name, short_number(value));
}

Element &Element::set(const std::string &name, int value) {
    return set(name, std::to_string(value));
}

Element &Element::add(const std::string &name) {
    children_.push_back(std::make_unique<Element>(name));
    return *children_.back();
}

Element &Element::text(const std::string &text) {
    text_ = text;
    return *this;
}

static std::string escaped(const std::string &text) {
    std::string result;
    for (char c : text) {
        switch (c) {
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '&':
            result += "&amp;";
            break;
        case '"':
            result += "&quot;";
            break;
        default:
            result += c;
        }
    }
    return result;
}

void Element::write(std::FILE *out, int depth) const {
    std::fprintf(out, "%*s<%s", 2 * depth, "", name_.c_str());
    for (const auto &attribute : attributes_)
        std::fprintf(out, " %s=\"%s\"", attribute.first.c_str(), escaped(attribute.second).c_str());
    if (children_.empty() && text_.empty()) {
        std::fputs("/>\n", out);
        return;
    }
    std::fputc('>', out);
    if (children_.empty()) {
        std::fprintf(out, "%s</%s>\n", escaped(text_).c_str(), name_.c_str());
        return;
    }
    std::fputc('\n', out);
    for (const auto &child : children_)
        child->write(out, depth + 1);
    std::fprintf(out, "%*s</%s>\n", 2 * depth, "", name_.c_str());
}

std::string short_number(double value) {
    char buffer[64];
    int length = std::snprintf(buffer, sizeof buffer, "%.2f", value);
    std::string text(buffer, static_cast<size_t>(length));
    while (text.back() == '0')
        text.pop_back();
    if (text.back() == '.')
        text.pop_back();
    return text;
}
