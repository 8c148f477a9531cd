//! Pseudorandom inputs for the programs with seeded faults; the same number gives the same input.

/// A pseudorandom number generator.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x51_7CC1_B727_220A)
    }

    /// A number below `most`.
    pub fn below(&mut self, most: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % most.max(1)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// The input with this number for a program.
pub fn input(program: &str, number: u64) -> String {
    let mut dice = Dice::new(number + 1);
    match program {
        "calc" => calc(&mut dice),
        "schedule" => schedule(&mut dice),
        "format" => format_text(&mut dice),
        "tables" => tables(&mut dice),
        _ => advise(&mut dice),
    }
}

fn calc(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(5) {
        if dice.below(3) == 0 {
            text += &format!("{} = ", dice.one(&["a", "b", "c"]));
        }
        text += &expression(dice, 3);
        text.push('\n');
    }
    text
}

fn expression(dice: &mut Dice, depth: u32) -> String {
    if depth == 0 || dice.below(4) == 0 {
        return match dice.below(6) {
            0 => dice.one(&["a", "b", "c"]).to_owned(),
            1 => format!("0x{:x}", dice.below(60)),
            _ => dice.below(30).to_string(),
        };
    }
    let left = expression(dice, depth - 1);
    match dice.below(9) {
        0 => format!("({left})"),
        1 => format!("-{left}"),
        2 => format!("|{left} - {}|", dice.below(40)),
        3 => format!("{left} < {}", expression(dice, depth - 1)),
        4 => format!("{} ^ {}", dice.below(6), dice.below(4)),
        _ => {
            let sign = dice.one(&["+", "-", "*", "/", "%"]);
            format!("{left} {sign} {}", expression(dice, depth - 1))
        }
    }
}

fn schedule(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..4 + dice.below(14) {
        text += &match dice.below(8) {
            0..=2 => format!("new {} {}\n", dice.below(4), dice.below(9)),
            3 | 4 => format!("run {}\n", dice.below(5)),
            5 => "block\n".to_owned(),
            6 => format!("wake {}\n", dice.below(101)),
            _ => format!("raise {}\n", 1 + dice.below(6)),
        };
    }
    text + "list\n"
}

fn advise(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(3) {
        let own = 1000 + dice.below(1200) as i64;
        let numbers = [
            dice.below(2) as i64,
            own,
            dice.below(900) as i64 - 200,
            own + dice.below(1600) as i64 - 800,
            dice.below(900) as i64 - 450,
            dice.below(700) as i64,
            dice.below(1000) as i64,
            dice.below(1000) as i64,
            dice.below(3) as i64,
            dice.below(2) as i64,
            dice.below(2) as i64,
            dice.below(6) as i64 - 1,
        ];
        text += &numbers.map(|n| n.to_string()).join(" ");
        text.push('\n');
    }
    text
}

fn format_text(dice: &mut Dice) -> String {
    let mut text = format!(".width {}\n", 8 + dice.below(20));
    for _ in 0..2 + dice.below(6) {
        match dice.below(7) {
            0 => text += ".center\n",
            1 => text += ".fill\n",
            2 => text += &format!(".indent {}\n", dice.below(6)),
            3 => text.push('\n'),
            _ => {
                let words: Vec<&str> = (0..1 + dice.below(8))
                    .map(|_| dice.one(&["a", "to", "run", "this", "words", "longer", "sentence"]))
                    .collect();
                text += &words.join(" ");
                text.push('\n');
            }
        }
    }
    text
}

fn tables(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(3) {
        let (rows, columns) = (dice.below(5), dice.below(5));
        text += &format!("{rows} {columns}\n");
        for _ in 0..rows {
            let row: Vec<String> = (0..columns).map(|_| (dice.below(40) as i64 - 8).to_string()).collect();
            text += &row.join(" ");
            text.push('\n');
        }
    }
    text
}
