//! Random programs of several translation units, to test the effects of linkers and loaders on functions and
//! variables.
//!
//! A unit defines functions with all linkages that C has (`inline` in its three dialects, weak, alias, ifunc,
//! hidden and protected, constructors). Each unit has its own optimisation level, and some use `-flto`; some
//! form a library, shared, static or opened with `dlopen`, and some are built by plain clang. A program has
//! no undefined behaviour: numbers are unsigned, indices are masked, loops are bounded, and a function calls
//! only functions with higher numbers.

/// A source file and its compiler options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub file: String,
    pub text: String,
    pub flags: Vec<&'static str>,
    /// Compiled by clang in both builds.
    pub foreign: bool,
    pub place: UnitBinary,
}

/// The binary that contains a unit's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitBinary {
    Program,
    Archive,
    Shared,
    /// A library that `main` opens with `dlopen`.
    Opened,
}

/// A whole program; the first unit has `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub cxx: bool,
    pub header: String,
    pub units: Vec<Unit>,
}

/// SplitMix64: small, and deterministic on every platform.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// How a function is defined. Each kind is visible to all units unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// `static`, called by other units through a pointer.
    Static,
    /// `static inline` in the header.
    StaticInline,
    /// C99 `inline` in the header, with an external definition in one unit; in C++, plain `inline`.
    Inline,
    /// GNU89 `extern inline`, whose body is only for inlining; one unit defines the function.
    GnuInline,
    AlwaysInline,
    Noinline,
    /// A weak function that another unit overrides.
    Weak,
    /// An alias of a function.
    Alias,
    /// Selected by a resolver at load time.
    Ifunc,
    Hidden,
    Protected,
    /// C++: an instance of a template in the header.
    Template,
    /// C++: a virtual method, called through its base class.
    Virtual,
    /// A function of a library that `main` opens.
    Opened,
}

const C_KINDS: &[Kind] = &[
    Kind::Plain,
    Kind::Static,
    Kind::StaticInline,
    Kind::Inline,
    Kind::Inline,
    Kind::GnuInline,
    Kind::AlwaysInline,
    Kind::Noinline,
    Kind::Weak,
    Kind::Alias,
    Kind::Ifunc,
    Kind::Hidden,
    Kind::Protected,
];

const CXX_KINDS: &[Kind] = &[
    Kind::Plain,
    Kind::Static,
    Kind::StaticInline,
    Kind::Inline,
    Kind::Inline,
    Kind::AlwaysInline,
    Kind::Noinline,
    Kind::Weak,
    Kind::Hidden,
    Kind::Template,
    Kind::Template,
    Kind::Virtual,
    Kind::Virtual,
];

impl Kind {
    fn in_header(self) -> bool {
        matches!(
            self,
            Kind::StaticInline
                | Kind::Inline
                | Kind::GnuInline
                | Kind::AlwaysInline
                | Kind::Template
                | Kind::Virtual
        )
    }
}

struct Function {
    kind: Kind,
    /// The unit that defines it.
    unit: usize,
    /// Its statements.
    body: String,
}

/// Generates the program of a seed.
pub fn generate(seed: u64) -> Plan {
    let mut random = Random(seed ^ 0x5eed);
    let cxx = random.one_in(4);
    let count = 2 + random.below(4) as usize;
    let mut units: Vec<Unit> = (0..count).map(|number| unit(&mut random, number, cxx)).collect();
    let kinds = if cxx { CXX_KINDS } else { C_KINDS };
    let mut functions: Vec<Function> = (0..8 + random.below(10))
        .map(|_| {
            let unit = random.below(count as u64) as usize;
            let mut kind = random.of(kinds);
            // The external definition of a header function must be linked, so it cannot be in an opened library.
            let unit = if kind.in_header() && units[unit].place == UnitBinary::Opened { 0 } else { unit };
            match units[unit].place {
                // Only `main` can call functions of an opened library.
                UnitBinary::Opened => kind = Kind::Opened,
                // Hidden functions are visible only in the binary that contains them.
                UnitBinary::Shared | UnitBinary::Archive
                    if matches!(kind, Kind::Hidden | Kind::Protected | Kind::Weak | Kind::Ifunc) =>
                {
                    kind = Kind::Plain;
                }
                _ => {}
            }
            Function { kind, unit, body: String::new() }
        })
        .collect();
    for number in (0..functions.len()).rev() {
        // Header functions are also in libraries, which cannot see hidden functions of the program.
        let own = functions[number].unit;
        let inside = functions[number].kind != Kind::Opened
            && !functions[number].kind.in_header()
            && units[own].place == UnitBinary::Program;
        let callable: Vec<usize> = (number + 1..functions.len())
            .filter(|at| match functions[*at].kind {
                Kind::Opened => false,
                Kind::Hidden => inside,
                _ => true,
            })
            .collect();
        let alone = functions[number].kind == Kind::Opened;
        functions[number].body = body(&mut random, &callable, &functions, alone);
    }
    let header = header(&mut random, &functions, cxx);
    for (number, unit) in units.iter_mut().enumerate() {
        unit.text = text(&mut random, number, unit.place, &functions, cxx);
    }
    let main = main_of(&mut random, &functions, &units, cxx);
    units[0].text.push_str(&main);
    Plan { cxx, header, units }
}

fn unit(random: &mut Random, number: usize, cxx: bool) -> Unit {
    let place = match random.below(6) {
        _ if number == 0 => UnitBinary::Program,
        0 => UnitBinary::Archive,
        1 => UnitBinary::Shared,
        2 => UnitBinary::Opened,
        _ => UnitBinary::Program,
    };
    let mut flags = vec![random.of(&["-O0", "-O1", "-O2", "-O2", "-O3", "-Os"])];
    if random.one_in(2) {
        flags.push("-g");
    }
    if matches!(place, UnitBinary::Shared | UnitBinary::Opened) || random.one_in(4) {
        flags.push("-fPIC");
    }
    for (flag, odds) in [
        ("-flto", 5),
        ("-ffunction-sections", 6),
        ("-fno-inline", 8),
        ("-fno-omit-frame-pointer", 8),
        ("-fno-plt", 8),
        ("-fwrapv", 8),
        ("-fno-semantic-interposition", 8),
        ("-fstack-protector-all", 8),
        ("-march=x86-64-v3", 8),
    ] {
        if random.one_in(odds) {
            flags.push(flag);
        }
    }
    if !cxx {
        flags.push("-fcommon");
    }
    let file = format!("u{number}.{}", if cxx { "cpp" } else { "c" });
    // Foreign units are compiled without -flto: their linker could not read bitcode.
    let foreign = number > 0 && random.one_in(6);
    if foreign {
        flags.retain(|flag| *flag != "-flto");
    }
    Unit { file, text: String::new(), flags, foreign, place }
}

/// The signature of every function.
const SIGNATURE: &str = "(unsigned a, unsigned b)";

fn header(random: &mut Random, functions: &[Function], cxx: bool) -> String {
    let local = if cxx { "thread_local" } else { "_Thread_local" };
    let mut lines = vec![
        "#pragma once".to_owned(),
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <dlfcn.h>".to_owned(),
        "typedef unsigned (*fn)(unsigned, unsigned);".to_owned(),
        "struct pair { unsigned x, y; unsigned char bytes[5]; };".to_owned(),
        format!("extern unsigned shared_words[16];\nextern {local} unsigned local_word;"),
    ];
    if cxx {
        lines.push("inline unsigned common_word = 3;\ninline unsigned common_words[8];".to_owned());
        lines.push(
            "struct base { unsigned k; explicit base(unsigned n) : k(n) {} virtual ~base() {}\n  \
             virtual unsigned get(unsigned a, unsigned b) { return a * k + b; } };"
                .to_owned(),
        );
    } else {
        // Common symbols: each unit has them, and the linker merges them.
        lines.push("unsigned common_word;\nunsigned common_words[8];".to_owned());
    }
    for (number, function) in functions.iter().enumerate() {
        match function.kind {
            Kind::Static => lines.push(format!("extern fn p{number};")),
            Kind::Hidden => {
                lines.push(format!("__attribute__((visibility(\"hidden\"))) unsigned f{number}{SIGNATURE};"));
            }
            Kind::Opened => {}
            kind if kind.in_header() => {}
            _ => lines.push(format!("unsigned f{number}{SIGNATURE};")),
        }
    }
    // In reverse order, since a function calls those with higher numbers.
    for (number, function) in functions.iter().enumerate().rev() {
        let body = &function.body;
        let before = match function.kind {
            Kind::StaticInline => "static inline",
            Kind::Inline => "inline",
            Kind::GnuInline => "extern inline __attribute__((gnu_inline))",
            Kind::AlwaysInline => "static inline __attribute__((always_inline))",
            Kind::Template => {
                let n = random.below(9);
                lines.push(format!(
                    "template <unsigned N> inline unsigned t{number}{SIGNATURE} {{ static unsigned calls; \
                     calls += N; a += calls; {body} }}\n\
                     inline unsigned f{number}{SIGNATURE} {{ return t{number}<{n}>(a, b) + t{number}<{}>(b, a); }}",
                    n + 1
                ));
                continue;
            }
            Kind::Virtual => {
                lines.push(format!(
                    "struct d{number} : base {{ using base::base; unsigned get{SIGNATURE} override {{ a ^= k; {body} }} \
                     }};\ninline unsigned f{number}{SIGNATURE} {{ base *o = (a & 1) ? new d{number}(b) : new base(b); \
                     unsigned got = o->get(a, b); delete o; return got; }}"
                ));
                continue;
            }
            _ => continue,
        };
        lines.push(format!("{before} unsigned f{number}{SIGNATURE} {{ {body} }}"));
    }
    lines.join("\n") + "\n"
}

/// The definitions of functions and variables of one unit.
fn text(random: &mut Random, unit: usize, place: UnitBinary, functions: &[Function], cxx: bool) -> String {
    let mut lines = vec!["#include \"all.h\"".to_owned()];
    if unit == 0 {
        let local = if cxx { "thread_local" } else { "_Thread_local" };
        lines.push(format!("unsigned shared_words[16] = {{ 1, 2, 3 }};\n{local} unsigned local_word = 7;"));
    }
    if random.one_in(2) && place != UnitBinary::Opened {
        // The linker determines the order of constructors of different units, so their effects commute.
        lines.push(format!(
            "__attribute__((constructor)) static void start{unit}(void) {{ common_words[{}] += {}; }}\n\
             __attribute__((destructor)) static void end{unit}(void) {{ common_word += {unit}; }}",
            random.below(8),
            random.below(99)
        ));
    }
    for (number, function) in functions.iter().enumerate().rev() {
        let body = &function.body;
        if function.unit != unit {
            // Overridden by the unit that defines it.
            if function.kind == Kind::Weak && unit == 0 {
                lines
                    .push(format!("__attribute__((weak)) unsigned f{number}{SIGNATURE} {{ return a - b; }}"));
            }
            continue;
        }
        match function.kind {
            Kind::Inline if !cxx => lines.push(format!("extern inline unsigned f{number}{SIGNATURE};")),
            Kind::GnuInline => lines.push(format!("unsigned f{number}{SIGNATURE} {{ {body} }}")),
            kind if kind.in_header() => {}
            Kind::Opened => {
                let c = if cxx { "extern \"C\" " } else { "" };
                lines.push(format!("{c}unsigned f{number}{SIGNATURE} {{ {body} }}"));
            }
            Kind::Static => {
                lines.push(format!(
                    "static unsigned s{number}{SIGNATURE} {{ {body} }}\nfn p{number} = s{number};"
                ));
            }
            Kind::Alias => lines.push(format!(
                "static unsigned s{number}{SIGNATURE} {{ {body} }}\nunsigned f{number}{SIGNATURE} \
                 __attribute__((alias(\"s{number}\")));"
            )),
            Kind::Ifunc => lines.push(format!(
                "static unsigned s{number}{SIGNATURE} {{ {body} }}\n\
                 static unsigned z{number}{SIGNATURE} {{ return a * 3 + b; }}\n\
                 static fn r{number}(void) {{ return {}{number} == s{number} ? s{number} : z{number}; }}\n\
                 unsigned f{number}{SIGNATURE} __attribute__((ifunc(\"r{number}\")));",
                random.of(&["s", "z"])
            )),
            kind => {
                let before = match kind {
                    Kind::Noinline => "__attribute__((noinline)) ",
                    Kind::Protected => "__attribute__((visibility(\"protected\"))) ",
                    Kind::Weak if unit == 0 => "__attribute__((weak)) ",
                    _ => "",
                };
                lines.push(format!("{before}unsigned f{number}{SIGNATURE} {{ {body} }}"));
            }
        }
    }
    lines.join("\n") + "\n"
}

/// A call of one of the functions.
fn call(random: &mut Random, callable: &[usize], functions: &[Function]) -> String {
    let number = callable[random.below(callable.len() as u64) as usize];
    let name = if functions[number].kind == Kind::Static { "p" } else { "f" };
    let (x, y) = (operand(random), operand(random));
    format!("{name}{number}({x}, {y})")
}

fn operand(random: &mut Random) -> String {
    match random.below(7) {
        0 => "a".to_owned(),
        1 => "b".to_owned(),
        2 => "r".to_owned(),
        3 => format!("w[{}]", random.below(8)),
        4 => "w[r & 7]".to_owned(),
        5 => format!("{}u", random.below(1000)),
        _ => format!("(a {} b)", random.of(&["+", "*", "^", "-"])),
    }
}

/// The statements of a function with two parameters. With `alone`, it uses nothing of other units.
fn body(random: &mut Random, callable: &[usize], functions: &[Function], alone: bool) -> String {
    let mut text = format!("unsigned r = {}, w[8] = {{ a, b, {} }};", random.below(100), random.below(100));
    for _ in 0..1 + random.below(4) {
        let (x, y) = (operand(random), operand(random));
        let op = random.of(&["+", "-", "*", "^", "|", "&"]);
        let (at, times) = (random.below(16), 1 + random.below(12));
        let statement = match random.below(if alone { 6 } else { 11 }) {
            0 => format!("r = {x} {op} {y};"),
            1 => format!(
                "for (unsigned i = 0; i < {times}; i++) {{ w[(i + r) & 7] {op}= {x}; r += w[i & 7] {op} i; }}"
            ),
            2 => format!("if ({x} > {y}) r ^= {x}; else w[{}] = {y};", at & 7),
            3 => format!(
                "switch (({x}) & 3) {{ case 0: r++; break; case 1: r *= 3; /* fall through */ case 2: r ^= {y}; \
                 break; default: w[1] += r; }}"
            ),
            4 => format!(
                "{{ struct pair p = {{ {x}, r, {{ 1, 2, 3 }} }}, q; q = p; q.bytes[{}] += (unsigned char)r; \
                 r += q.x {op} q.y + q.bytes[{}]; }}",
                at % 5,
                at % 5
            ),
            5 => format!(
                "{{ float g = (float)(({x}) & 1023); double d = g * 0.5 + ({times}); r += (unsigned)(d + g); }}"
            ),
            6 => format!("shared_words[{at}] {op}= {x}; r += shared_words[({y}) & 15];"),
            7 => format!("local_word += {x}; r ^= local_word;"),
            8 => format!("common_words[({x}) & 7] += r; common_word ^= {y};"),
            _ if callable.is_empty() => format!("r += {x};"),
            9 => format!("r {op}= {};", call(random, callable, functions)),
            _ => format!(
                "if (({x}) & 1) {{ w[{}] = {}; r += w[{}]; }}",
                at & 7,
                call(random, callable, functions),
                at & 7
            ),
        };
        text.push(' ');
        text.push_str(&statement);
    }
    format!("{text} return r + w[{}];", random.below(8))
}

fn main_of(random: &mut Random, functions: &[Function], units: &[Unit], cxx: bool) -> String {
    let mut lines = vec![
        "int main(int argc, char **argv) {".to_owned(),
        "  unsigned a = (unsigned)argc, b = 5, r = 1, w[8] = { 0 }; (void)argv;".to_owned(),
    ];
    for (number, unit) in units.iter().enumerate().filter(|(_, unit)| unit.place == UnitBinary::Opened) {
        lines.push(format!("  void *l{number} = dlopen(\"./lib{number}.so\", RTLD_NOW);"));
        lines.push(format!("  if (!l{number}) {{ puts(dlerror()); return 1; }} (void)\"{}\";", unit.file));
    }
    lines.push(format!("  for (unsigned i = 0; i < {}; i++) {{", 1 + random.below(6)));
    for (number, function) in functions.iter().enumerate() {
        let (x, y) = (operand(random), operand(random));
        let called = match function.kind {
            Kind::Static => format!("p{number}({x}, {y})"),
            Kind::Opened => {
                let pointer = if cxx { "(fn)" } else { "(fn)(size_t)" };
                format!("({pointer}dlsym(l{}, \"f{number}\"))({x}, {y})", function.unit)
            }
            _ => format!("f{number}({x}, {y})"),
        };
        lines.push(format!("    r += {called}; a ^= r >> 3; w[{}] = r;", number & 7));
        if random.one_in(3) {
            lines.push(format!("    printf(\"{number} %u %u\\n\", r, w[r & 7]);"));
        }
    }
    lines.push("    b += a;\n  }".to_owned());
    for (number, unit) in units.iter().enumerate() {
        if unit.place == UnitBinary::Opened && random.one_in(2) {
            lines.push(format!("  dlclose(l{number});"));
        }
    }
    lines.push(
        "  for (int i = 0; i < 16; i++) r = r * 31 + shared_words[i] + common_words[i & 7];".to_owned(),
    );
    lines.push(
        "  printf(\"%u %u %u\\n\", r, common_word, local_word);\n  return (int)(r & 63);\n}".to_owned(),
    );
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        assert_eq!(generate(7), generate(7));
        assert_ne!(generate(7), generate(8));
    }

    #[test]
    fn the_programs_have_all_that_linkers_and_loaders_know() {
        let all: Vec<Plan> = (0..200).map(generate).collect();
        let text: String = all.iter().map(|plan| plan.header.clone()).collect();
        let units: Vec<&Unit> = all.iter().flat_map(|plan| &plan.units).collect();
        let bodies: String = units.iter().map(|unit| unit.text.as_str()).collect();
        for word in
            ["\ninline unsigned", "gnu_inline", "always_inline", "template", "override", "static inline"]
        {
            assert!(text.contains(word), "{word}");
        }
        for word in
            ["weak", "alias(", "ifunc(", "protected", "constructor", "dlopen", "dlclose", "extern inline"]
        {
            assert!(bodies.contains(word), "{word}");
        }
        for flag in ["-flto", "-fPIC", "-fcommon", "-O0", "-O3"] {
            assert!(units.iter().any(|unit| unit.flags.contains(&flag)), "{flag}");
        }
        for place in [UnitBinary::Program, UnitBinary::Archive, UnitBinary::Shared, UnitBinary::Opened] {
            assert!(units.iter().any(|unit| unit.place == place), "{place:?}");
        }
        assert!(units.iter().any(|unit| unit.foreign));
    }
}
