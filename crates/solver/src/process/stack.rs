//! The current assertions as text, level by level.
//!
//! The text is stored so that it can be sent again to a process that was restarted, and to further solvers
//! that join the race later.

use std::fmt::Write;

use crate::node::Term;
use crate::pool::Pool;
use crate::smtlib::Emitter;

pub(super) struct Stack {
    emitter: Emitter<'static>,
    levels: Vec<Level>,
    made: u64,
}

struct Level {
    /// Unique: never reused for another level.
    id: u64,
    text: String,
}

/// The part of a stack that a process has received.
#[derive(Default)]
pub(super) struct SentLevels {
    /// The levels it has, and the number of bytes of each one's text.
    levels: Vec<(u64, usize)>,
}

impl Stack {
    pub fn new() -> Stack {
        let emitter = Emitter::new(|index| format!("v{index}"));
        Stack { emitter, levels: vec![Level { id: 0, text: String::new() }], made: 0 }
    }

    /// Number of pushed levels.
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    pub fn push(&mut self) {
        self.made += 1;
        self.levels.push(Level { id: self.made, text: String::new() });
        self.emitter.push();
    }

    pub fn pop(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
            self.emitter.pop();
        }
    }

    pub fn assert(&mut self, pool: &Pool, condition: Term, name: Option<u32>) {
        let Some(level) = self.levels.last_mut() else { return };
        let expression = self.emitter.condition(pool, condition, &mut level.text);
        let _ = match name {
            Some(name) => writeln!(level.text, "(assert (! {expression} :named n{name}))"),
            None => writeln!(level.text, "(assert {expression})"),
        };
    }

    /// Whether any assertion ever contained floating-point operations.
    pub fn has_floats(&self) -> bool {
        self.emitter.has_floats()
    }

    /// The symbol of a variable that occurs in some assertion.
    pub fn symbol_of(&self, variable: u32) -> Option<&str> {
        self.emitter.symbol_of(variable)
    }

    /// The commands that bring a process from its levels to exactly those of this stack.
    pub fn synchronise(&self, followed: &mut SentLevels) -> String {
        let mut text = String::new();
        let same = self.levels.iter().zip(&followed.levels).take_while(|(a, b)| a.id == b.0).count();
        let extra = followed.levels.len() - same;
        if extra > 0 {
            let _ = writeln!(text, "(pop {extra})");
            followed.levels.truncate(same);
        }
        for (at, level) in self.levels.iter().enumerate() {
            match followed.levels.get_mut(at) {
                Some((_, told)) => {
                    text.push_str(&level.text[*told..]);
                    *told = level.text.len();
                }
                None => {
                    if at > 0 {
                        text.push_str("(push 1)\n");
                    }
                    text.push_str(&level.text);
                    followed.levels.push((level.id, level.text.len()));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Binary;

    #[test]
    fn a_process_is_told_only_what_it_does_not_know() {
        let mut pool = Pool::new();
        let mut stack = Stack::new();
        let mut followed = SentLevels::default();
        let byte = pool.variable(0, 8);
        let mut condition = |value: u128| {
            let value = pool.constant(8, value);
            pool.binary(Binary::Eq, byte, value)
        };
        let (a, b, c) = (condition(1), condition(2), condition(3));
        stack.push();
        stack.assert(&pool, a, None);
        let text = stack.synchronise(&mut followed);
        assert_eq!(text, "(push 1)\n(declare-const v0 (_ BitVec 8))\n(assert (= v0 #x01))\n");
        assert_eq!(stack.synchronise(&mut followed), "");
        stack.push();
        stack.assert(&pool, b, Some(7));
        assert_eq!(stack.synchronise(&mut followed), "(push 1)\n(assert (! (= v0 #x02) :named n7))\n");
        stack.pop();
        stack.push();
        stack.assert(&pool, c, None);
        assert_eq!(stack.synchronise(&mut followed), "(pop 1)\n(push 1)\n(assert (= v0 #x03))\n");
        stack.pop();
        stack.pop();
        stack.pop();
        assert_eq!((stack.depth(), stack.synchronise(&mut followed).as_str()), (0, "(pop 2)\n"));
        // A new process receives everything.
        stack.push();
        stack.assert(&pool, b, None);
        let text = stack.synchronise(&mut SentLevels::default());
        assert_eq!(text, "(push 1)\n(declare-const v0 (_ BitVec 8))\n(assert (= v0 #x02))\n");
    }
}
