// Regular expressions, matched without going back.
#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pattern {

class syntax_error : public std::runtime_error {
  public:
    syntax_error(const std::string &message, std::size_t at) : std::runtime_error(message), place(at) {}
    std::size_t place;
};

using byte_set = std::bitset<256>;

enum class node_kind { empty, bytes, sequence, either, repeat, group, line_start, line_end };

/// The tree of an expression.
struct node {
    node_kind kind = node_kind::empty;
    byte_set bytes;
    std::vector<std::unique_ptr<node>> children;
    int least = 0;
    int most = -1; // without bound
    bool lazy = false;
    int number = 0; // of a group
};

std::unique_ptr<node> parse(std::string_view text, int &groups);

enum class opcode { bytes, split, jump, save, line_start, line_end, match };

struct instruction {
    opcode code;
    byte_set bytes;
    int first = 0;  // where to go on; the slot of a save
    int second = 0; // of a split: what to try if the first fails
};

using program = std::vector<instruction>;

program translate(const node &tree);

/// The bytes that a match can start with; `empty` is set if it can be without any.
byte_set first_bytes(const node &tree, bool &empty);

struct match {
    std::vector<std::size_t> slots; // start and end of each group; 0 is the whole
    std::string_view group(std::string_view text, int number) const;
};

class expression {
  public:
    explicit expression(std::string_view text);
    std::optional<match> search(std::string_view text) const;
    int groups() const { return groups_; }

  private:
    int groups_ = 0;
    program program_;
    byte_set first_;
    bool empty_ = false;
};

} // namespace pattern
