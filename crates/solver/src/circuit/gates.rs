//! Gates over a SAT solver: hashed, and simplified where an input is constant.

use batsat::{BasicSolver, Lit, SolverInterface, lbool};

use rustc_hash::FxHashMap;

/// A wire: a literal of the SAT solver.
pub(super) type Wire = Lit;

pub(super) struct Gates {
    pub sat: BasicSolver,
    pub yes: Wire,
    and: FxHashMap<(u32, u32), Wire>,
    xor: FxHashMap<(u32, u32), Wire>,
    clause: Vec<Lit>,
}

/// A number for a wire; a wire and its complement have adjacent numbers.
fn number(wire: Wire) -> u32 {
    wire.var().idx() << 1 | u32::from(wire.sign())
}

impl Gates {
    pub fn new() -> Gates {
        let mut sat = BasicSolver::default();
        let yes = Lit::new(sat.new_var_default(), true);
        let mut gates =
            Gates { sat, yes, and: FxHashMap::default(), xor: FxHashMap::default(), clause: Vec::new() };
        gates.add(&[yes]);
        gates
    }

    fn add(&mut self, clause: &[Wire]) {
        self.clause.clear();
        self.clause.extend_from_slice(clause);
        self.sat.add_clause_reuse(&mut self.clause);
    }

    pub fn input(&mut self) -> Wire {
        Lit::new(self.sat.new_var_default(), true)
    }

    pub fn known(&self, value: bool) -> Wire {
        if value { self.yes } else { !self.yes }
    }

    /// Number of wires.
    pub fn len(&self) -> usize {
        self.sat.num_vars() as usize
    }

    pub fn value(&self, wire: Wire) -> bool {
        self.sat.value_lit(wire) == lbool::TRUE
    }

    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        let (yes, no) = (self.yes, !self.yes);
        if a == no || b == no || a == !b {
            return no;
        }
        if a == yes || a == b {
            return b;
        }
        if b == yes {
            return a;
        }
        let (a, b) = if number(a) < number(b) { (a, b) } else { (b, a) };
        if let Some(&known) = self.and.get(&(number(a), number(b))) {
            return known;
        }
        let out = self.input();
        self.add(&[!out, a]);
        self.add(&[!out, b]);
        self.add(&[out, !a, !b]);
        self.and.insert((number(a), number(b)), out);
        out
    }

    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        let (yes, no) = (self.yes, !self.yes);
        if a == b {
            return no;
        }
        if a == !b {
            return yes;
        }
        for (a, b) in [(a, b), (b, a)] {
            if a == no {
                return b;
            }
            if a == yes {
                return !b;
            }
        }
        // Complements are moved to the output, so that complementary inputs share a gate.
        let flip = !a.sign() ^ !b.sign();
        let (a, b) = (Lit::new(a.var(), true), Lit::new(b.var(), true));
        let (a, b) = if number(a) < number(b) { (a, b) } else { (b, a) };
        let out = match self.xor.get(&(number(a), number(b))) {
            Some(&known) => known,
            None => {
                let out = self.input();
                self.add(&[!out, a, b]);
                self.add(&[!out, !a, !b]);
                self.add(&[out, !a, b]);
                self.add(&[out, a, !b]);
                self.xor.insert((number(a), number(b)), out);
                out
            }
        };
        if flip { !out } else { out }
    }

    /// `a` if `c`, otherwise `b`.
    pub fn mux(&mut self, c: Wire, a: Wire, b: Wire) -> Wire {
        let (yes, no) = (self.yes, !self.yes);
        match () {
            () if c == yes || a == b => a,
            () if c == no => b,
            () if a == yes || a == c => self.or(c, b),
            () if a == no || a == !c => self.and(!c, b),
            () if b == yes || b == !c => self.or(!c, a),
            () if b == no || b == c => self.and(c, a),
            () if a == !b => !self.xor(c, a),
            () => {
                let out = self.input();
                self.add(&[!c, !a, out]);
                self.add(&[!c, a, !out]);
                self.add(&[c, !b, out]);
                self.add(&[c, b, !out]);
                // These clauses are redundant, but propagate the output when the condition is unassigned.
                self.add(&[!a, !b, out]);
                self.add(&[a, b, !out]);
                out
            }
        }
    }

    /// At least two of the three.
    pub fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let (yes, no) = (self.yes, !self.yes);
        for (x, y, z) in [(a, b, c), (b, c, a), (c, a, b)] {
            if x == yes {
                return self.or(y, z);
            }
            if x == no {
                return self.and(y, z);
            }
            if x == y {
                return x;
            }
            if x == !y {
                return z;
            }
        }
        let out = self.input();
        for (x, y) in [(a, b), (b, c), (a, c)] {
            self.add(&[!x, !y, out]);
            self.add(&[x, y, !out]);
        }
        out
    }
}
