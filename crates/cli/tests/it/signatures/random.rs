//! Random programs: three inputs, four variables, nested branches, short loops.

use std::fmt::Write;

/// A small generator of pseudo-random numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A variable (0 to 2 are the inputs, 3 to 6 the others) or a number.
#[derive(Clone, Copy)]
pub enum Atom {
    Variable(usize),
    Number(i32),
}

const NAMES: [&str; 7] = ["x", "y", "z", "a", "b", "c", "d"];

pub enum Expression {
    Atom(Atom),
    Sum(Atom, Atom),
    Difference(Atom, Atom),
}

pub enum Statement {
    Assign(usize, Expression),
    If {
        sum: Expression,
        how: &'static str,
        than: i32,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// So many times.
    Repeat(u64, Vec<Statement>),
}

pub struct Program {
    pub body: Vec<Statement>,
    pub printed: usize,
}

impl Program {
    pub fn random(random: &mut Random) -> Program {
        let mut body = block(random, 3);
        body.extend(block(random, 2));
        Program { body, printed: 3 + random.below(4) as usize }
    }

    /// Changes one of its statements, by its number among all.
    pub fn change(&mut self, mut number: usize) {
        change_in(&mut self.body, &mut number);
    }

    /// In C.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "#include <stdio.h>\nint main(void) {\n    int x = getchar() & 3, y = getchar() & 3, z = getchar() & 3;\n    \
             int a = 0, b = 1, c = 0, d = 2;\n",
        );
        write_block(&self.body, 1, &mut text);
        let _ = writeln!(text, "    printf(\"%d\\n\", {});\n    return 0;\n}}", NAMES[self.printed]);
        text
    }

    /// The variables in the beginning.
    pub fn initial(input: [u8; 3]) -> [i32; 7] {
        let mut values = [0, 0, 0, 0, 1, 0, 2];
        for (value, byte) in values.iter_mut().zip(input) {
            *value = (byte & 3).into();
        }
        values
    }

    /// What is printed, and the path.
    pub fn run(&self, input: [u8; 3]) -> (i32, Vec<bool>) {
        let mut values = Program::initial(input);
        let mut path = Vec::new();
        run_block(&self.body, &mut values, &mut path);
        (values[self.printed], path)
    }
}

/// Whether it was one of these.
fn change_in(block: &mut [Statement], number: &mut usize) -> bool {
    block.iter_mut().any(|statement| {
        if *number == 0 {
            match statement {
                Statement::Assign(_, value) => *value = Expression::Sum(Atom::Variable(1), Atom::Number(1)),
                Statement::If { than, .. } => *than += 1,
                Statement::Repeat(times, _) => *times += 1,
            }
            return true;
        }
        *number -= 1;
        match statement {
            Statement::Assign(..) => false,
            Statement::If { then, otherwise, .. } => change_in(then, number) || change_in(otherwise, number),
            Statement::Repeat(_, body) => change_in(body, number),
        }
    })
}

fn atom(random: &mut Random) -> Atom {
    match random.below(10) {
        n @ 0..7 => Atom::Variable(n as usize),
        n => Atom::Number(n as i32 - 7),
    }
}

fn expression(random: &mut Random) -> Expression {
    match random.below(3) {
        0 => Expression::Atom(atom(random)),
        1 => Expression::Sum(atom(random), atom(random)),
        _ => Expression::Difference(atom(random), atom(random)),
    }
}

fn block(random: &mut Random, depth: u32) -> Vec<Statement> {
    (0..=random.below(3))
        .map(|_| match random.below(20) {
            0..10 if depth > 0 => Statement::If {
                sum: expression(random),
                how: [">", "==", "<="][random.below(3) as usize],
                than: random.below(4) as i32 - 1,
                then: block(random, depth - 1),
                otherwise: if random.below(2) == 0 { block(random, depth - 1) } else { Vec::new() },
            },
            10 if depth > 1 => Statement::Repeat(2, block(random, 1)),
            _ => Statement::Assign(3 + random.below(4) as usize, expression(random)),
        })
        .collect()
}

fn write_atom(atom: Atom) -> String {
    match atom {
        Atom::Variable(n) => NAMES[n].to_owned(),
        Atom::Number(n) => n.to_string(),
    }
}

fn write_expression(expression: &Expression) -> String {
    match expression {
        Expression::Atom(a) => write_atom(*a),
        Expression::Sum(a, b) => format!("{} + {}", write_atom(*a), write_atom(*b)),
        Expression::Difference(a, b) => format!("{} - {}", write_atom(*a), write_atom(*b)),
    }
}

fn write_block(block: &[Statement], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    for statement in block {
        let _ = match statement {
            Statement::Assign(to, value) => {
                writeln!(text, "{indent}{} = {};", NAMES[*to], write_expression(value))
            }
            Statement::If { sum, how, than, then, otherwise } => {
                let _ = writeln!(text, "{indent}if ({} {how} {than}) {{", write_expression(sum));
                write_block(then, depth + 1, text);
                if !otherwise.is_empty() {
                    let _ = writeln!(text, "{indent}}} else {{");
                    write_block(otherwise, depth + 1, text);
                }
                writeln!(text, "{indent}}}")
            }
            Statement::Repeat(times, block) => {
                let _ = writeln!(text, "{indent}for (int i{depth} = 0; i{depth} < {times}; i{depth}++) {{");
                write_block(block, depth + 1, text);
                writeln!(text, "{indent}}}")
            }
        };
    }
}

fn value(atom: Atom, values: &[i32; 7]) -> i32 {
    match atom {
        Atom::Variable(n) => values[n],
        Atom::Number(n) => n,
    }
}

pub fn evaluate(expression: &Expression, values: &[i32; 7]) -> i32 {
    match expression {
        Expression::Atom(a) => value(*a, values),
        Expression::Sum(a, b) => value(*a, values).wrapping_add(value(*b, values)),
        Expression::Difference(a, b) => value(*a, values).wrapping_sub(value(*b, values)),
    }
}

fn run_block(block: &[Statement], values: &mut [i32; 7], path: &mut Vec<bool>) {
    for statement in block {
        match statement {
            Statement::Assign(to, expression) => values[*to] = evaluate(expression, values),
            Statement::If { sum, how, than, then, otherwise } => {
                let goes = holds(evaluate(sum, values), how, *than);
                path.push(goes);
                run_block(if goes { then } else { otherwise }, values, path);
            }
            Statement::Repeat(times, block) => {
                for _ in 0..*times {
                    run_block(block, values, path);
                }
            }
        }
    }
}

/// Whether a comparison holds.
pub fn holds(sum: i32, how: &str, than: i32) -> bool {
    match how {
        ">" => sum > than,
        "==" => sum == than,
        _ => sum <= than,
    }
}

/// The variables that an expression uses.
pub fn variables(expression: &Expression) -> Vec<usize> {
    let atoms = match expression {
        Expression::Atom(a) => vec![*a],
        Expression::Sum(a, b) | Expression::Difference(a, b) => vec![*a, *b],
    };
    let used = atoms.into_iter().filter_map(|atom| match atom {
        Atom::Variable(n) => Some(n),
        Atom::Number(_) => None,
    });
    used.collect()
}
