// All threads of a program go through the text together. Their order is the order of
// preference, so the first that matches cuts off those behind it.
#include "pattern.h"

namespace pattern {
namespace {

struct thread {
    int at;
    std::vector<std::size_t> slots;
};

class machine {
  public:
    machine(const program &code, std::string_view text, std::size_t slots, const byte_set *first)
        : code_(code), text_(text), slots_(slots), first_(first), mark_(code.size(), 0) {}

    std::optional<match> run() {
        std::vector<thread> current, next;
        std::optional<match> best;
        for (std::size_t at = 0; at <= text_.size(); at++) {
            if (!best && may_start(at))
                start(current, at);
            generation_++;
            for (auto &thread : current) {
                const instruction &instruction = code_[thread.at];
                if (instruction.code == opcode::match) {
                    best = match{thread.slots};
                    break;
                }
                if (at < text_.size() && instruction.bytes.test(static_cast<unsigned char>(text_[at])))
                    follow(next, thread.at + 1, at + 1, thread.slots);
            }
            current.swap(next);
            next.clear();
            if (best && current.empty())
                break;
        }
        return best;
    }

  private:
    const program &code_;
    std::string_view text_;
    std::size_t slots_;
    const byte_set *first_; // null if a match may start anywhere
    std::vector<unsigned long> mark_;
    unsigned long generation_ = 1;

    bool may_start(std::size_t at) const {
        if (first_ == nullptr)
            return true;
        return at < text_.size() && first_->test(static_cast<unsigned char>(text_[at]));
    }

    void start(std::vector<thread> &threads, std::size_t at) {
        follow(threads, 0, at, std::vector<std::size_t>(slots_, std::string_view::npos));
    }

    /// Adds what can be reached from `at` without reading a byte, each once.
    void follow(std::vector<thread> &threads, int at, std::size_t place, std::vector<std::size_t> slots) {
        if (mark_[at] == generation_)
            return;
        mark_[at] = generation_;
        const instruction &instruction = code_[at];
        switch (instruction.code) {
        case opcode::jump:
            follow(threads, instruction.first, place, std::move(slots));
            break;
        case opcode::split:
            follow(threads, instruction.first, place, slots);
            follow(threads, instruction.second, place, std::move(slots));
            break;
        case opcode::save:
            slots[static_cast<std::size_t>(instruction.first)] = place;
            follow(threads, at + 1, place, std::move(slots));
            break;
        case opcode::line_start:
            if (place == 0 || text_[place - 1] == '\n')
                follow(threads, at + 1, place, std::move(slots));
            break;
        case opcode::line_end:
            if (place == text_.size() || text_[place] == '\n')
                follow(threads, at + 1, place, std::move(slots));
            break;
        default:
            threads.push_back({at, std::move(slots)});
        }
    }
};

} // namespace

std::string_view match::group(std::string_view text, int number) const {
    std::size_t from = slots[static_cast<std::size_t>(number) * 2];
    std::size_t to = slots[static_cast<std::size_t>(number) * 2 + 1];
    if (from == std::string_view::npos || to == std::string_view::npos)
        return {};
    return text.substr(from, to - from);
}

expression::expression(std::string_view text) {
    auto tree = parse(text, groups_);
    program_ = translate(*tree);
    first_ = first_bytes(*tree, empty_);
}

std::optional<match> expression::search(std::string_view text) const {
    return machine(program_, text, static_cast<std::size_t>(groups_ + 1) * 2, empty_ ? nullptr : &first_).run();
}

} // namespace pattern
