#include "pattern.h"

namespace pattern {
namespace {

class parser {
  public:
    explicit parser(std::string_view text) : text_(text) {}

    std::unique_ptr<node> all(int &groups) {
        auto tree = either();
        if (at_ < text_.size())
            fail("a bracket is closed that is not open");
        groups = groups_;
        return tree;
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
    int groups_ = 0;

    [[noreturn]] void fail(const std::string &message) const { throw syntax_error(message, at_); }
    bool more() const { return at_ < text_.size(); }
    bool is(char c) const { return more() && text_[at_] == c; }

    bool accept(char c) {
        if (!is(c))
            return false;
        at_++;
        return true;
    }

    static std::unique_ptr<node> make(node_kind kind) {
        auto result = std::make_unique<node>();
        result->kind = kind;
        return result;
    }

    std::unique_ptr<node> either() {
        auto first = sequence();
        if (!is('|'))
            return first;
        auto result = make(node_kind::either);
        result->children.push_back(std::move(first));
        while (accept('|'))
            result->children.push_back(sequence());
        return result;
    }

    std::unique_ptr<node> sequence() {
        auto result = make(node_kind::sequence);
        while (more() && !is('|') && !is(')'))
            result->children.push_back(repeated());
        return result;
    }

    int number() {
        int value = 0;
        if (!more() || text_[at_] < '0' || text_[at_] > '9')
            fail("a count is missing");
        while (more() && text_[at_] >= '0' && text_[at_] <= '9') {
            value = value * 10 + (text_[at_++] - '0');
            if (value > 1000)
                fail("a count is too large");
        }
        return value;
    }

    std::unique_ptr<node> repeated() {
        auto child = single();
        for (;;) {
            int least, most;
            if (accept('*')) {
                least = 0, most = -1;
            } else if (accept('+')) {
                least = 1, most = -1;
            } else if (accept('?')) {
                least = 0, most = 1;
            } else if (accept('{')) {
                least = most = number();
                if (accept(','))
                    most = is('}') ? -1 : number();
                if (!accept('}'))
                    fail("a count is not closed");
                if (most >= 0 && most < least)
                    fail("counts in the wrong order");
            } else {
                return child;
            }
            auto result = make(node_kind::repeat);
            result->least = least;
            result->most = most;
            result->lazy = accept('?');
            result->children.push_back(std::move(child));
            child = std::move(result);
        }
    }

    static void add_range(byte_set &set, unsigned char from, unsigned char to) {
        for (int c = from; c <= to; c++)
            set.set(static_cast<std::size_t>(c));
    }

    byte_set escape() {
        byte_set set;
        if (!more())
            fail("nothing behind a backslash");
        char c = text_[at_++];
        switch (c) {
        case 'd':
        case 'D':
            add_range(set, '0', '9');
            break;
        case 'w':
        case 'W':
            add_range(set, 'a', 'z');
            add_range(set, 'A', 'Z');
            add_range(set, '0', '9');
            set.set('_');
            break;
        case 's':
        case 'S':
            for (char blank : {' ', '\t', '\n', '\r', '\f', '\v'})
                set.set(static_cast<unsigned char>(blank));
            break;
        case 'n':
            set.set('\n');
            break;
        case 't':
            set.set('\t');
            break;
        default:
            set.set(static_cast<unsigned char>(c));
        }
        if (c == 'D' || c == 'W' || c == 'S')
            set.flip();
        return set;
    }

    std::unique_ptr<node> set_of_bytes() {
        auto result = make(node_kind::bytes);
        bool inverted = accept('^');
        bool first = true;
        while (first || !is(']')) {
            first = false;
            if (!more())
                fail("a class is not closed");
            if (accept('\\')) {
                result->bytes |= escape();
                continue;
            }
            unsigned char from = static_cast<unsigned char>(text_[at_++]), to = from;
            if (is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
                to = static_cast<unsigned char>(text_[at_ + 1]);
                at_ += 2;
            }
            if (to < from)
                fail("a range in the wrong order");
            add_range(result->bytes, from, to);
        }
        at_++;
        if (inverted)
            result->bytes.flip();
        return result;
    }

    std::unique_ptr<node> single() {
        if (accept('(')) {
            auto result = make(node_kind::group);
            result->number = ++groups_;
            result->children.push_back(either());
            if (!accept(')'))
                fail("a bracket is not closed");
            return result;
        }
        if (accept('['))
            return set_of_bytes();
        if (accept('^'))
            return make(node_kind::line_start);
        if (accept('$'))
            return make(node_kind::line_end);
        auto result = make(node_kind::bytes);
        if (accept('.')) {
            result->bytes.set();
            result->bytes.reset('\n');
        } else if (accept('\\')) {
            result->bytes = escape();
        } else if (is('*') || is('+') || is('?')) {
            fail("nothing to repeat");
        } else {
            result->bytes.set(static_cast<unsigned char>(text_[at_++]));
        }
        return result;
    }
};

} // namespace

std::unique_ptr<node> parse(std::string_view text, int &groups) {
    return parser(text).all(groups);
}

} // namespace pattern
