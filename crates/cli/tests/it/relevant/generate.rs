//! Random programs as text and as graphs of statements: branches, loops, jumps, calls, calls
//! through pointers, globals, arrays and stores through pointers, one statement a line.

/// A small generator of pseudo-random numbers (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }
}

/// Locals 0 to 3 are `v0` to `v3`, 4 and 5 the parameters, the others count loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    Local(usize),
    Global(usize),
    /// The element that a local names.
    Array(usize),
    /// What the pointer points to.
    Pointed,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub reads: Vec<Read>,
    /// What was read is multiplied by this, which no other statement does: equal
    /// computations would be made once.
    pub times: u32,
    pub add: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Local(usize),
    Global(usize),
    Array(usize),
    Pointed,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Assign(Target, Expr),
    /// The pointer gets the address of a global.
    Point(usize),
    /// The pointer to functions gets a helper.
    Choose(usize),
    /// The first is smaller than the second, both modulo 8.
    Branch(Expr, Expr),
    /// None: through the pointer.
    Call(Target, Option<usize>, Expr, Expr),
    Return(Expr),
    Nothing,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub line: u32,
    pub kind: Kind,
    /// Of a branch: if it holds, if not. The end is the number of nodes.
    pub next: Vec<usize>,
}

pub const GLOBALS: usize = 3;
pub const ARRAY: usize = 4;

#[derive(Default)]
pub struct Function {
    pub nodes: Vec<Node>,
}

/// A program: helpers, and what is run. It ends with the question.
pub struct Case {
    pub helpers: Vec<Function>,
    pub body: Function,
    pub question: u32,
    /// Its lines.
    pub lines: std::ops::Range<u32>,
}

pub struct Writer {
    random: Random,
    pub text: String,
    line: u32,
    number: usize,
    helpers: usize,
    /// Helpers that may be called from here.
    callable: usize,
    function: Function,
    /// Edges that lead to whatever comes next: node and which.
    open: Vec<(usize, usize)>,
    counters: usize,
    labels: usize,
    /// Jumps to the end of the block that is open, by depth.
    pending: Vec<(String, Vec<(usize, usize)>)>,
    times: u32,
}

impl Writer {
    pub fn new(seed: u64) -> Writer {
        let mut w = Writer {
            random: Random::new(seed),
            text: String::new(),
            line: 1,
            number: 0,
            helpers: 0,
            callable: 0,
            function: Function::default(),
            open: Vec::new(),
            counters: 0,
            labels: 0,
            pending: Vec::new(),
            times: 1,
        };
        w.put("#include <stdio.h>");
        w
    }

    fn put(&mut self, text: &str) -> u32 {
        self.text += text;
        self.text.push('\n');
        self.line += 1;
        self.line - 1
    }

    /// The next program.
    pub fn case(&mut self) -> Case {
        let first = self.line;
        let n = self.number;
        self.helpers = self.random.below(3);
        let globals: Vec<String> = (0..GLOBALS).map(|g| format!("g{n}_{g} = {}", g + 1)).collect();
        self.put(&format!(
            "volatile unsigned {}, arr{n}[{ARRAY}] = {{ 1, 2, 3, 4 }}, out{n};",
            globals.join(", ")
        ));
        self.put(&format!("volatile unsigned *volatile p{n} = &g{n}_0;"));
        if self.helpers > 0 {
            self.put(&format!("static unsigned h{n}_0(unsigned a, unsigned b);"));
            self.put(&format!("unsigned (*volatile q{n})(unsigned, unsigned) = h{n}_0;"));
        }
        let mut helpers = Vec::new();
        for h in 0..self.helpers {
            self.callable = h;
            helpers.push(self.function(
                // One that nobody calls may assign as well.
                &format!("__attribute__((used)) static unsigned h{n}_{h}(unsigned a, unsigned b)"),
                4,
                true,
            ));
        }
        self.callable = self.helpers;
        let size = 4 + self.random.below(5);
        let body = self.function(
            &format!("__attribute__((noinline)) void case{n}(unsigned a, unsigned b)"),
            size,
            false,
        );
        let question = body.nodes.last().expect("the question").line;
        self.number += 1;
        Case { helpers, body, question, lines: first..self.line }
    }

    /// All programs are run one after the other.
    pub fn finish(&mut self) -> String {
        self.put("int main(void) {");
        for n in 0..self.number {
            self.put(&format!("    case{n}({}u, {}u);", n % 7, n % 5));
        }
        self.put("    return 0;");
        self.put("}");
        std::mem::take(&mut self.text)
    }

    fn function(&mut self, head: &str, size: usize, returns: bool) -> Function {
        self.function = Function::default();
        self.open = Vec::new();
        self.counters = 0;
        let n = self.number;
        self.put(&format!("{head} {{"));
        let counters = "n0 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0, n5 = 0, n6 = 0, n7 = 0, n8 = 0, n9 = 0";
        // Counters are assigned before they are used; these values are never read.
        self.put(&format!("    unsigned v0, v1, v2, v3, {counters};"));
        self.put("    (void)n0, (void)n1, (void)n2, (void)n3, (void)n4, (void)n5, (void)n6, (void)n7, (void)n8, (void)n9;");
        for v in 0..4 {
            let expr = self.make(vec![Read::Local(4 + v % 2)], v as u32);
            self.assign(1, Target::Local(v), expr);
        }
        self.block(1, size);
        let expr = self.expr(2);
        let text = self.show(&expr);
        if returns {
            let line = self.put(&format!("    return {text};"));
            self.node(line, Kind::Return(expr));
        } else {
            let line = self.put(&format!("    out{n} = {text};"));
            self.node(line, Kind::Assign(Target::Global(GLOBALS), expr));
        }
        self.put("}");
        let end = self.function.nodes.len();
        for (node, edge) in std::mem::take(&mut self.open) {
            self.function.nodes[node].next[edge] = end;
        }
        std::mem::take(&mut self.function)
    }

    /// A node that what is open leads to.
    fn node(&mut self, line: u32, kind: Kind) -> usize {
        let at = self.function.nodes.len();
        for (node, edge) in std::mem::take(&mut self.open) {
            self.function.nodes[node].next[edge] = at;
        }
        let edges = if matches!(kind, Kind::Branch(..)) { 2 } else { 1 };
        self.function.nodes.push(Node { line, kind, next: vec![usize::MAX; edges] });
        if edges == 1 {
            self.open.push((at, 0));
        }
        at
    }

    fn read(&mut self) -> Read {
        match self.random.below(10) {
            0..=5 => Read::Local(self.random.below(6)),
            6 | 7 => Read::Global(self.random.below(GLOBALS)),
            8 => Read::Array(self.random.below(4)),
            _ => Read::Pointed,
        }
    }

    fn expr(&mut self, most: usize) -> Expr {
        let n = 1 + self.random.below(most);
        let mut reads: Vec<Read> = Vec::new();
        for _ in 0..n {
            let read = self.read();
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        let add = self.random.below(8) as u32;
        self.make(reads, add)
    }

    fn make(&mut self, reads: Vec<Read>, add: u32) -> Expr {
        self.times += 2;
        Expr { reads, times: self.times, add }
    }

    /// Volatile, and no index computed twice: what is read again is read again.
    fn name(&self, read: Read) -> String {
        let (n, unique) = (self.number, 4 * self.line);
        match read {
            Read::Local(4) => "a".into(),
            Read::Local(5) => "b".into(),
            Read::Local(v) if v < 4 => format!("v{v}"),
            Read::Local(v) => format!("n{}", v - 6),
            Read::Global(GLOBALS) => format!("out{n}"),
            Read::Global(g) => format!("g{n}_{g}"),
            Read::Array(v) => format!("arr{n}[({} + {unique}u) & 3u]", self.name(Read::Local(v))),
            Read::Pointed => format!("*p{n}"),
        }
    }

    fn show(&self, expr: &Expr) -> String {
        let parts: Vec<String> =
            expr.reads.iter().map(|r| format!("{} * {}u", self.name(*r), expr.times)).collect();
        format!("{} + {}u", parts.join(" + "), expr.add)
    }

    fn target(&mut self) -> Target {
        match self.random.below(10) {
            0..=5 => Target::Local(self.random.below(4)),
            6 | 7 => Target::Global(self.random.below(GLOBALS)),
            8 => Target::Array(self.random.below(4)),
            _ => Target::Pointed,
        }
    }

    fn target_name(&self, target: Target) -> String {
        self.name(match target {
            Target::Local(v) => Read::Local(v),
            Target::Global(g) => Read::Global(g),
            Target::Array(v) => Read::Array(v),
            Target::Pointed => Read::Pointed,
        })
    }

    fn assign(&mut self, depth: usize, target: Target, expr: Expr) {
        let text = if expr.reads.is_empty() { format!("{}u", expr.add) } else { self.show(&expr) };
        let line = self.put(&format!("{}{} = {text};", "    ".repeat(depth), self.target_name(target)));
        self.node(line, Kind::Assign(target, expr));
    }

    fn condition(&mut self) -> (String, Expr, Expr) {
        let (x, y) = (self.expr(2), self.expr(1));
        (format!("(({}) & 7u) < (({}) & 7u)", self.show(&x), self.show(&y)), x, y)
    }

    fn block(&mut self, depth: usize, size: usize) {
        let label = format!("end{}", self.labels);
        self.labels += 1;
        self.pending.push((label.clone(), Vec::new()));
        for _ in 0..size {
            self.statement(depth);
        }
        let (_, jumps) = self.pending.pop().expect("this block");
        if !jumps.is_empty() {
            let line = self.put(&format!("{label}: ;"));
            self.node(line, Kind::Nothing);
            let at = self.function.nodes.len() - 1;
            for (node, edge) in jumps {
                self.function.nodes[node].next[edge] = at;
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        let pad = "    ".repeat(depth);
        let n = self.number;
        let deep = depth > 3;
        match self.random.below(if deep { 6 } else { 13 }) {
            0..=2 => {
                let (target, expr) = (self.target(), self.expr(2));
                self.assign(depth, target, expr);
            }
            3 => {
                let g = self.random.below(GLOBALS - 1);
                let line = self.put(&format!("{pad}p{n} = &g{n}_{g};"));
                self.node(line, Kind::Point(g));
            }
            4 if self.callable > 0 => {
                let h = self.random.below(self.callable);
                let line = self.put(&format!("{pad}q{n} = h{n}_{h};"));
                self.node(line, Kind::Choose(h));
            }
            4..=5 if self.callable > 0 => {
                // A helper never calls through the pointer: it might call itself.
                let whole = self.callable == self.helpers && self.random.below(2) == 0;
                let callee = if whole { None } else { Some(self.random.below(self.callable)) };
                let (target, x, y) = (self.target(), self.expr(2), self.expr(1));
                let function = callee.map_or(format!("q{n}"), |h| format!("h{n}_{h}"));
                let (left, a, b) = (self.target_name(target), self.show(&x), self.show(&y));
                let line = self.put(&format!("{pad}{left} = {function}({a}, {b});"));
                self.node(line, Kind::Call(target, callee, x, y));
            }
            6..=8 => {
                let (text, x, y) = self.condition();
                let line = self.put(&format!("{pad}if ({text}) {{"));
                let at = self.node(line, Kind::Branch(x, y));
                self.open = vec![(at, 0)];
                let size = 1 + self.random.below(2);
                self.block(depth + 1, size);
                let then = std::mem::replace(&mut self.open, vec![(at, 1)]);
                if self.random.below(2) == 0 {
                    self.put(&format!("{pad}}} else {{"));
                    self.block(depth + 1, 1);
                }
                self.put(&format!("{pad}}}"));
                self.open.extend(then);
            }
            9 if self.counters < 10 => {
                let c = self.counters;
                self.counters += 1;
                self.assign(depth, Target::Local(6 + c), Expr { reads: vec![], times: 1, add: 0 });
                let limit = Read::Local(self.random.below(4));
                let (x, y) = (
                    Expr { reads: vec![Read::Local(6 + c)], times: 1, add: 0 },
                    Expr { reads: vec![limit], times: 1, add: 0 },
                );
                let text = format!("n{c} < (({} + {}u) & 3u)", self.name(limit), 4 * self.line);
                let line = self.put(&format!("{pad}while ({text}) {{"));
                let head = self.node(line, Kind::Branch(x, y));
                self.open = vec![(head, 0)];
                self.assign(
                    depth + 1,
                    Target::Local(6 + c),
                    Expr { reads: vec![Read::Local(6 + c)], times: 1, add: 1 },
                );
                let mut out = vec![(head, 1)];
                self.block(depth + 1, 1);
                if self.random.below(3) == 0 {
                    let (text, x, y) = self.condition();
                    let line = self.put(&format!("{pad}    if ({text}) break;"));
                    let at = self.node(line, Kind::Branch(x, y));
                    out.push((at, 0));
                    self.open = vec![(at, 1)];
                    self.block(depth + 1, 1);
                }
                self.put(&format!("{pad}}}"));
                for (node, edge) in std::mem::replace(&mut self.open, out) {
                    self.function.nodes[node].next[edge] = head;
                }
            }
            10 if self.counters < 10 => {
                // A loop made of a jump back.
                let c = self.counters;
                self.counters += 1;
                self.assign(depth, Target::Local(6 + c), Expr { reads: vec![], times: 1, add: 0 });
                let label = self.labels;
                self.labels += 1;
                let line = self.put(&format!("again{label}: ;"));
                let head = self.node(line, Kind::Nothing);
                self.block(depth, 2);
                self.assign(
                    depth,
                    Target::Local(6 + c),
                    Expr { reads: vec![Read::Local(6 + c)], times: 1, add: 1 },
                );
                let limit = Read::Local(self.random.below(4));
                let line = {
                    let limit = format!("({} + {}u) & 3u", self.name(limit), 4 * self.line);
                    self.put(&format!("{pad}if (n{c} < ({limit})) goto again{label};"))
                };
                let x = Expr { reads: vec![Read::Local(6 + c)], times: 1, add: 0 };
                let at = self.node(line, Kind::Branch(x, Expr { reads: vec![limit], times: 1, add: 0 }));
                self.function.nodes[at].next[0] = head;
                self.open = vec![(at, 1)];
            }
            11 => {
                // Out of one of the blocks around.
                let to = self.random.below(self.pending.len());
                let (text, x, y) = self.condition();
                let line = self.put(&format!("{pad}if ({text}) goto {};", self.pending[to].0));
                let at = self.node(line, Kind::Branch(x, y));
                self.pending[to].1.push((at, 0));
                self.open = vec![(at, 1)];
            }
            _ => {
                let (target, expr) = (Target::Local(self.random.below(4)), self.expr(2));
                self.assign(depth, target, expr);
            }
        }
    }
}
