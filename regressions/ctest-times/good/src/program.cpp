#include "pattern.h"

namespace pattern {
namespace {

class translator {
  public:
    program code;

    void emit(const node &tree) {
        switch (tree.kind) {
        case node_kind::empty:
            break;
        case node_kind::bytes:
            add(opcode::bytes).bytes = tree.bytes;
            break;
        case node_kind::sequence:
            for (const auto &child : tree.children)
                emit(*child);
            break;
        case node_kind::either:
            either(tree);
            break;
        case node_kind::repeat:
            repeat(tree);
            break;
        case node_kind::group:
            add(opcode::save).first = tree.number * 2;
            emit(*tree.children[0]);
            add(opcode::save).first = tree.number * 2 + 1;
            break;
        case node_kind::line_start:
            add(opcode::line_start);
            break;
        case node_kind::line_end:
            add(opcode::line_end);
            break;
        }
    }

    instruction &add(opcode op) {
        code.push_back({op, {}, 0, 0});
        return code.back();
    }

  private:
    int here() const { return static_cast<int>(code.size()); }

    void either(const node &tree) {
        std::vector<int> ends;
        for (std::size_t i = 0; i + 1 < tree.children.size(); i++) {
            int split = here();
            add(opcode::split).first = split + 1;
            emit(*tree.children[i]);
            ends.push_back(here());
            add(opcode::jump);
            code[split].second = here();
        }
        emit(*tree.children.back());
        for (int end : ends)
            code[end].first = here();
    }

    /// A split that prefers to go on, or, if lazy, to leave.
    int choice(bool lazy) {
        int split = here();
        add(opcode::split);
        (lazy ? code[split].second : code[split].first) = split + 1;
        return split;
    }

    void leave(int split, bool lazy) {
        (lazy ? code[split].first : code[split].second) = here();
    }

    void repeat(const node &tree) {
        const node &child = *tree.children[0];
        for (int i = 0; i < tree.least; i++)
            emit(child);
        if (tree.most < 0) {
            int split = choice(tree.lazy);
            emit(child);
            add(opcode::jump).first = split;
            leave(split, tree.lazy);
            return;
        }
        std::vector<int> splits;
        for (int i = tree.least; i < tree.most; i++) {
            splits.push_back(choice(tree.lazy));
            emit(child);
        }
        for (int split : splits)
            leave(split, tree.lazy);
    }
};

} // namespace

byte_set first_bytes(const node &tree, bool &empty) {
    byte_set set;
    empty = false;
    switch (tree.kind) {
    case node_kind::bytes:
        return tree.bytes;
    case node_kind::sequence:
        empty = true;
        for (const auto &child : tree.children) {
            set |= first_bytes(*child, empty);
            if (!empty)
                break;
        }
        return set;
    case node_kind::either:
        for (const auto &child : tree.children) {
            bool child_empty;
            set |= first_bytes(*child, child_empty);
            empty |= child_empty;
        }
        return set;
    case node_kind::repeat:
        set = first_bytes(*tree.children[0], empty);
        if (tree.least == 0)
            empty = true;
        return set;
    case node_kind::group:
        return first_bytes(*tree.children[0], empty);
    default:
        empty = true;
        return set;
    }
}

program translate(const node &tree) {
    translator t;
    t.add(opcode::save).first = 0;
    t.emit(tree);
    t.add(opcode::save).first = 1;
    t.add(opcode::match);
    return std::move(t.code);
}

} // namespace pattern
