//! Terms as source-like text: `stdin[3] == 'a'`.
//!
//! Written like C, with C's precedences and as few parentheses as they allow. Numbers are unsigned unless
//! marked: `i8(x)` is x as a signed number. `u8(…)` marks a result that is truncated to 8 bits; a wider
//! result needs no mark because C's own numbers are at least 32 bits wide. Adjacent bytes of one input that
//! form a number are written as such: `u32(stdin[4..8])`.
//!
//! Text is bounded: of a term too large for the limit the parts nearest to the root are written, and `…`
//! represents the others.

mod constants;
mod elements;
mod floats;
mod names;
mod slices;

use crate::node::{ArrayNode, Binary, Node, Term, Unary};
use crate::pool::Pool;
use constants::Use;
use elements::Element;

/// Maximum number of nodes written, so that the writer can be recursive.
const MAX_NODES: usize = 2000;

/// A smaller budget is not divided any further.
const MIN_SPLIT_BUDGET: usize = 6;

/// Precedence of an expression, as in C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Order,
    Shift,
    Sum,
    Product,
    Prefix,
    Leaf,
}

struct Shown {
    text: String,
    level: Level,
}

impl Shown {
    fn leaf(text: impl Into<String>) -> Shown {
        Shown { text: text.into(), level: Level::Leaf }
    }

    /// In parentheses unless its precedence is at least this.
    fn at(self, level: Level) -> String {
        if self.level >= level { self.text } else { format!("({})", self.text) }
    }

    fn infix(left: Shown, sign: &str, right: Shown, level: Level) -> Shown {
        if left.text == "…" && right.text == "…" {
            return left;
        }
        // For associative operators the right operand needs no parentheses either.
        let free = matches!(sign, "&&" | "||" | "&" | "|" | "^");
        let right = right.at(if free { level } else { next_level(level) });
        Shown { text: format!("{} {sign} {right}", left.at(level)), level }
    }

    fn cast(self, name: &str) -> Shown {
        Shown::leaf(format!("{name}({})", self.text))
    }
}

fn next_level(level: Level) -> Level {
    match level {
        Level::Choice => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::BitOr,
        Level::BitOr => Level::BitXor,
        Level::BitXor => Level::BitAnd,
        Level::BitAnd => Level::Equality,
        Level::Equality => Level::Order,
        Level::Order => Level::Shift,
        Level::Shift => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product => Level::Prefix,
        Level::Prefix | Level::Leaf => Level::Leaf,
    }
}

struct Writer<'a> {
    pool: &'a Pool,
    name: &'a dyn Fn(u32) -> String,
}

impl Pool {
    /// The term as source-like text of about `limit` names and operators at most.
    ///
    /// Names that end in a number in brackets (`stdin[3]`) are treated as bytes of one input.
    ///
    /// ```
    /// use solver::{Binary, Pool};
    ///
    /// let mut pool = Pool::new();
    /// let byte = pool.variable(3, 8);
    /// let letter = pool.constant(8, 97);
    /// let same = pool.binary(Binary::Eq, byte, letter);
    /// assert_eq!(pool.text(same, &|index| format!("stdin[{index}]"), 100), "stdin[3] == 'a'");
    /// ```
    pub fn text(&self, t: Term, name: &dyn Fn(u32) -> String, limit: usize) -> String {
        let writer = Writer { pool: self, name };
        writer.term(t, limit.clamp(1, MAX_NODES)).text
    }
}

impl Writer<'_> {
    /// The number of nodes of a term as a tree, but no more than the cap.
    fn size(&self, t: Term, cap: usize) -> usize {
        let mut stack = vec![t];
        let mut count = 0;
        while let Some(t) = stack.pop() {
            count += 1;
            if count >= cap {
                return cap;
            }
            let node = self.pool.node(t);
            stack.extend(node.operands());
            if let Node::Read(array, _) = node {
                match self.pool.array_node(array) {
                    ArrayNode::Bytes(_) => count += 1,
                    ArrayNode::Store(_, index, value) => stack.extend([index, value]),
                }
            }
        }
        count
    }

    /// Divides a budget between two operands: the smaller one gets what it needs, if that is at most half.
    fn shares(&self, a: Term, b: Term, budget: usize) -> (usize, usize) {
        let budget = budget.saturating_sub(1);
        let (x, y) = (self.size(a, budget + 1), self.size(b, budget + 1));
        if x + y <= budget {
            (x, y)
        } else if y <= budget / 2 {
            (budget - y, y)
        } else if x <= budget / 2 {
            (x, budget - x)
        } else {
            (budget - budget / 2, budget / 2)
        }
    }

    fn term(&self, t: Term, budget: usize) -> Shown {
        let pool = self.pool;
        if let Some(value) = pool.as_constant(t) {
            return Shown::leaf(constants::number(pool.width(t), value, Use::Plain));
        }
        if let Node::Variable(index) = pool.node(t) {
            return Shown::leaf((self.name)(index));
        }
        if let Some(whole) = self.input_bytes(t) {
            return Shown::leaf(whole);
        }
        if let Node::Concat(..) = pool.node(t)
            && let Some(element) = self.element(self.concat_parts(t).into_iter().rev())
        {
            return self.show_element(element, budget);
        }
        if let Node::Binary(Binary::And, ..) = pool.node(t)
            && let Some(compared) = self.compared_element(t)
        {
            return self.element_equality("==", compared, budget);
        }
        // Too little budget for a large term: it is elided.
        if budget <= 1 || (budget < MIN_SPLIT_BUDGET && self.size(t, budget + 1) > budget) {
            return Shown::leaf("…");
        }
        let width = pool.width(t);
        match pool.node(t) {
            Node::Constant(_) | Node::Variable(_) => Shown::leaf("…"),
            Node::Unary(Unary::Not, a) if width == 1 => self.negated(a, budget),
            Node::Unary(op, a) => {
                let sign = if op == Unary::Not { "~" } else { "-" };
                let text = format!("{sign}{}", self.term(a, budget - 1).at(Level::Prefix));
                cut(width, Shown { text, level: Level::Prefix })
            }
            Node::Binary(op, a, b) if op.is_comparison() => self.comparison(op, a, b, budget),
            Node::Binary(op, a, b) => self.operation(op, width, a, b, budget),
            Node::Ite(c, a, b) => {
                let (x, rest) = (budget / 3, budget - budget / 3);
                let (y, z) = self.shares(a, b, rest);
                let c = self.term(c, self.size(c, x.max(2)));
                let (a, b) = (self.term(a, y), self.term(b, z));
                let text = format!("{} ? {} : {}", c.at(Level::Or), a.at(Level::Or), b.at(Level::Choice));
                Shown { text, level: Level::Choice }
            }
            Node::Extract(a, low) => self.extract(t, a, low, budget),
            Node::Concat(..) => self.concat(t, budget),
            Node::Zext(a) => self.zext(t, a, budget),
            Node::Sext(a) => self.sext(t, a, budget),
            Node::Read(array, index) => self.read(t, array, index, budget),
            Node::Float(op, a, b) => self.float(op, (a, b), width, budget),
        }
    }

    fn negated(&self, a: Term, budget: usize) -> Shown {
        match self.pool.node(a) {
            Node::Binary(Binary::Eq, x, y) => self.equality("!=", x, y, budget),
            Node::Binary(Binary::And, ..) if let Some(compared) = self.compared_element(a) => {
                self.element_equality("!=", compared, budget)
            }
            _ => Shown {
                text: format!("!{}", self.term(a, budget - 1).at(Level::Prefix)),
                level: Level::Prefix,
            },
        }
    }

    fn element_equality(&self, sign: &str, (element, value): (Element, u128), budget: usize) -> Shown {
        let constant = Shown::leaf(constants::number(128, value, Use::Plain));
        Shown::infix(self.show_element(element, budget), sign, constant, Level::Equality)
    }

    fn equality(&self, sign: &str, a: Term, b: Term, budget: usize) -> Shown {
        if self.pool.as_constant(b) == Some(0)
            && let Some((name, element)) = self.flag(a)
        {
            let not = if sign == "==" { "!" } else { "" };
            let text = format!("{not}{name}({})", self.term(element, budget - 1).text);
            return Shown { text, level: Level::Prefix };
        }
        let (x, y) = self.shares(a, b, budget);
        let left = self.term(a, x);
        let right = match self.pool.as_constant(b) {
            Some(value) => self.comparison_constant(a, value, Use::Equal),
            None => self.term(b, y),
        };
        Shown::infix(left, sign, right, Level::Equality)
    }

    /// A constant that is compared with a term: a character for a byte, possibly negative for a signed
    /// number.
    fn comparison_constant(&self, t: Term, value: u128, used: Use) -> Shown {
        let width = self.pool.width(t);
        Shown::leaf(constants::number(width, value, used))
    }

    fn comparison(&self, op: Binary, a: Term, b: Term, budget: usize) -> Shown {
        let signed = matches!(op, Binary::Slt | Binary::Sle);
        let (sign, flipped) = match op {
            Binary::Eq => return self.equality("==", a, b, budget),
            Binary::Ult | Binary::Slt => ("<", ">"),
            _ => ("<=", ">="),
        };
        let used = if signed { Use::Signed } else { Use::Order };
        let (x, y) = self.shares(a, b, budget);
        let operand = |t, budget| if signed { self.signed(t, budget) } else { self.term(t, budget) };
        match (self.pool.as_constant(a), self.pool.as_constant(b)) {
            // All bits set is minus one: negative.
            (None, Some(k)) if signed && k == crate::semantics::ones(self.pool.width(a)) => {
                Shown::infix(operand(a, x), "<", Shown::leaf("0"), Level::Order)
            }
            (None, Some(k)) => {
                Shown::infix(operand(a, x), sign, self.comparison_constant(a, k, used), Level::Order)
            }
            (Some(k), None) => {
                Shown::infix(operand(b, y), flipped, self.comparison_constant(b, k, used), Level::Order)
            }
            _ => Shown::infix(operand(a, x), sign, operand(b, y), Level::Order),
        }
    }

    /// An operand that is read as signed.
    fn signed(&self, t: Term, budget: usize) -> Shown {
        if let Some(value) = self.pool.as_constant(t) {
            return Shown::leaf(constants::number(self.pool.width(t), value, Use::Signed));
        }
        match self.pool.node(t) {
            // These are written with their sign already.
            Node::Sext(_) | Node::Zext(_) => self.term(t, budget),
            _ => self.term(t, budget).cast(&format!("i{}", self.pool.width(t))),
        }
    }

    fn operation(&self, op: Binary, width: u32, a: Term, b: Term, budget: usize) -> Shown {
        let (x, y) = self.shares(a, b, budget);
        let plain = |sign, level| Shown::infix(self.term(a, x), sign, self.term(b, y), level);
        let signed = |sign, level| Shown::infix(self.signed(a, x), sign, self.signed(b, y), level);
        match op {
            Binary::Add => match self.pool.as_constant(b) {
                // A negative constant: a difference.
                Some(k) if crate::semantics::negative(width, k) => {
                    let k = constants::number(
                        width,
                        k.wrapping_neg() & crate::semantics::ones(width),
                        Use::Plain,
                    );
                    cut(width, Shown::infix(self.term(a, x), "-", Shown::leaf(k), Level::Sum))
                }
                _ => cut(width, plain("+", Level::Sum)),
            },
            Binary::Sub => cut(width, plain("-", Level::Sum)),
            Binary::Mul => cut(width, plain("*", Level::Product)),
            Binary::UDiv => plain("/", Level::Product),
            Binary::URem => plain("%", Level::Product),
            Binary::SDiv => signed("/", Level::Product),
            Binary::SRem => signed("%", Level::Product),
            Binary::And if width == 1 => self.both(a, b, x, y),
            Binary::Or if width == 1 => plain("||", Level::Or),
            Binary::And => plain("&", Level::BitAnd),
            Binary::Or => plain("|", Level::BitOr),
            Binary::Xor => plain("^", Level::BitXor),
            Binary::Shl => cut(width, plain("<<", Level::Shift)),
            Binary::LShr => plain(">>", Level::Shift),
            Binary::AShr => Shown::infix(self.signed(a, x), ">>", self.term(b, y), Level::Shift),
            Binary::Eq | Binary::Ult | Binary::Ule | Binary::Slt | Binary::Sle => {
                self.comparison(op, a, b, budget)
            }
        }
    }

    /// `a && b`; bounds of one term from both sides are written as `'0' <= x && x <= '9'`.
    fn both(&self, a: Term, b: Term, x: usize, y: usize) -> Shown {
        let bound = |t| match self.pool.node(t) {
            Node::Binary(op @ (Binary::Ule | Binary::Sle), p, q) => Some((op, p, q)),
            _ => None,
        };
        if let (Some((op, p, q)), Some((other, r, s))) = (bound(a), bound(b))
            && op == other
        {
            let found = match (self.pool.as_constant(p), self.pool.as_constant(r)) {
                (Some(low), None) if q == r => self.pool.as_constant(s).map(|high| (low, q, high)),
                (None, Some(low)) if p == s => self.pool.as_constant(q).map(|high| (low, p, high)),
                _ => None,
            };
            if let Some((low, t, high)) = found {
                let used = if op == Binary::Sle { Use::Signed } else { Use::Order };
                let shown =
                    |budget| if op == Binary::Sle { self.signed(t, budget) } else { self.term(t, budget) };
                let constant = |value| self.comparison_constant(t, value, used);
                let left = Shown::infix(constant(low), "<=", shown(x), Level::Order);
                let right = Shown::infix(shown(y), "<=", constant(high), Level::Order);
                return Shown::infix(left, "&&", right, Level::And);
            }
        }
        Shown::infix(self.term(a, x), "&&", self.term(b, y), Level::And)
    }
}

/// Marks a result of few bits as truncated.
fn cut(width: u32, shown: Shown) -> Shown {
    if width < 32 { shown.cast(&format!("u{width}")) } else { shown }
}

#[cfg(test)]
mod tests;
