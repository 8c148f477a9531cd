//! Evaluates expressions over a handmade moment: a list of two nodes, some locals, an array.

use expression::{Evaluated, Home, Kind, Read, Scope, Type, Variable, evaluate, parse};
use program::model::{Member, Module, Type as Model, TypeKind};

const INT: u32 = 0;
const CHAR: u32 = 1;
const CHAR_POINTER: u32 = 2;
const NODE: u32 = 3;
const NODE_POINTER: u32 = 4;
const UNSIGNED: u32 = 5;
const NAME: u32 = 6;
const INNER: u32 = 7;
const DOUBLE: u32 = 8;
const TABLE: u32 = 9;
const ROW: u32 = 10;
const COLOUR: u32 = 11;
const OPAQUE: u32 = 13;
const OPAQUE_POINTER: u32 = 14;
const LONG_DOUBLE: u32 = 15;

const FIRST: u64 = 0x1000;
const SECOND: u64 = 0x2000;
const TEXT: u64 = 0x3000;
const GRID: u64 = 0x4000;

fn module() -> Module {
    let t = |name: &str, size, kind| Model { name: name.to_owned(), size, kind };
    let m =
        |name: &str, bit_offset, bits, ty| Member { name: name.to_owned(), bit_offset, bits, ty: Some(ty) };
    let members = vec![
        m("value", 0, 32, INT),
        m("low", 32, 3, UNSIGNED),
        m("high", 35, 5, INT),
        m("next", 64, 64, NODE_POINTER),
        m("", 128, 32, INNER),
        m("name", 160, 64, NAME),
    ];
    let inner = vec![m("whole", 0, 32, INT), m("first", 0, 8, CHAR)];
    Module {
        types: vec![
            t("int", 4, TypeKind::Signed),
            t("char", 1, TypeKind::Char { signed: true }),
            t("", 8, TypeKind::Pointer { to: Some(CHAR) }),
            t("node", 32, TypeKind::Record { union: false, members }),
            t("", 8, TypeKind::Pointer { to: Some(NODE) }),
            t("unsigned int", 4, TypeKind::Unsigned),
            t("", 8, TypeKind::Array { of: Some(CHAR), count: 8 }),
            t("", 4, TypeKind::Record { union: true, members: inner }),
            t("double", 8, TypeKind::Float),
            t("", 24, TypeKind::Array { of: Some(ROW), count: 2 }),
            t("", 12, TypeKind::Array { of: Some(INT), count: 3 }),
            t("colour", 4, TypeKind::Enum { values: vec![("RED".into(), 0), ("BLUE".into(), 2)] }),
            t("node_t", 32, TypeKind::Alias { of: Some(NODE) }),
            t("opaque", 0, TypeKind::Record { union: false, members: Vec::new() }),
            t("", 8, TypeKind::Pointer { to: Some(OPAQUE) }),
            t("long double", 16, TypeKind::Float),
        ],
        ..Module::default()
    }
}

/// The module that defines `struct opaque`.
fn other() -> Module {
    let members = vec![Member { name: "inside".to_owned(), bit_offset: 0, bits: 32, ty: Some(0) }];
    let int = Model { name: "int".to_owned(), size: 4, kind: TypeKind::Signed };
    let record = TypeKind::Record { union: false, members };
    Module {
        types: vec![int, Model { name: "opaque".to_owned(), size: 4, kind: record }],
        ..Module::default()
    }
}

struct World<'m> {
    module: &'m Module,
    other: &'m Module,
}

fn memory() -> Vec<(u64, Vec<u8>)> {
    let mut first = vec![0; 32];
    first[..4].copy_from_slice(&7i32.to_le_bytes());
    first[4] = 0b1111_0101; // low = 5, high = -2
    first[8..16].copy_from_slice(&SECOND.to_le_bytes());
    first[16..20].copy_from_slice(&0x4142_4344i32.to_le_bytes());
    first[20..25].copy_from_slice(b"rosa\0");
    let mut second = vec![0; 32];
    second[..4].copy_from_slice(&(-9i32).to_le_bytes());
    let grid: Vec<u8> = (1..=6i32).flat_map(i32::to_le_bytes).collect();
    vec![(FIRST, first), (SECOND, second), (TEXT, b"hello\0".to_vec()), (GRID, grid)]
}

impl<'m> Scope<'m> for World<'m> {
    fn module(&self) -> &'m Module {
        self.module
    }

    fn modules(&self) -> Vec<&'m Module> {
        vec![self.module, self.other]
    }

    fn variable(&self, name: &str) -> Option<Variable<'m>> {
        let registers =
            |bytes: &[u8]| Home::Registers { bytes: bytes.to_vec(), known: vec![true; bytes.len()] };
        let (number, ty, home) = match name {
            "list" => (0, NODE_POINTER, registers(&FIRST.to_le_bytes())),
            "node" => (1, NODE, Home::Memory(FIRST)),
            "i" => (2, INT, registers(&1i32.to_le_bytes())),
            "u" => (3, UNSIGNED, registers(&u32::MAX.to_le_bytes())),
            "text" => (4, CHAR_POINTER, registers(&TEXT.to_le_bytes())),
            "grid" => (5, TABLE, Home::Memory(GRID)),
            "half" => (6, DOUBLE, registers(&0.5f64.to_le_bytes())),
            "colour" => (7, COLOUR, registers(&2i32.to_le_bytes())),
            "gone" => (8, INT, Home::Nowhere),
            "hidden" => (9, OPAQUE_POINTER, registers(&FIRST.to_le_bytes())),
            "wide" => (10, LONG_DOUBLE, registers(&[0; 16])),
            "c" => (11, CHAR, registers(&[0xff])),
            _ => return None,
        };
        Some(Variable { ty: Type::Declared(self.module, ty), home, number })
    }

    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        memory().into_iter().any(|(start, bytes)| {
            let from = address.wrapping_sub(start) as usize;
            let found = bytes.get(from..).and_then(|rest| rest.get(..out.len()));
            found.is_some_and(|found| {
                out.copy_from_slice(found);
                true
            })
        })
    }
}

/// Evaluates, and passes the value to `with`.
fn evaluated<T>(text: &str, with: impl FnOnce(expression::Result<Evaluated<'_>>) -> T) -> T {
    let (module, other) = (module(), other());
    let world = World { module: &module, other: &other };
    with(parse(text).and_then(|e| evaluate(&e, &world)))
}

/// The value of an integer, with the name of its type.
fn int(text: &str) -> (i64, String) {
    evaluated(text, |value| {
        let value = value.unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut bytes = [if value.bytes.last().is_some_and(|b| *b > 127) { 0xff } else { 0 }; 8];
        bytes[..value.bytes.len()].copy_from_slice(&value.bytes);
        (i64::from_le_bytes(bytes), value.ty.name())
    })
}

fn wrong(text: &str) -> (Kind, usize) {
    evaluated(text, |value| {
        let error = value.err().unwrap_or_else(|| panic!("{text} has a value"));
        (error.kind, error.span.start)
    })
}

#[test]
fn members_elements_and_what_is_pointed_to() {
    for (text, value) in [
        ("list->value", 7),
        ("(*list).value", 7),
        ("list->next->value", -9),
        ("node.low", 5),
        ("node.high", -2),
        ("list->whole == 0x41424344", 1),
        ("list->first", 0x44),
        ("list->name[2]", i64::from(b's')),
        ("*text", i64::from(b'h')),
        ("text[4]", i64::from(b'o')),
        ("1[text]", i64::from(b'e')),
        ("grid[i][2]", 6),
        ("*(grid[1] + i)", 5),
        ("(&node)->value", 7),
        ("&list->next == &node.next", 1),
        ("&list[1] - list", 1),
        ("hidden->inside", 7),
        ("sizeof(node_t) + sizeof node.name + sizeof(struct node)", 72),
    ] {
        assert_eq!(int(text).0, value, "{text}");
    }
}

#[test]
fn operators_convert_as_c_does() {
    for (text, value, ty) in [
        ("1 + 2 * 3", 7, "int"),
        ("(1 + 2) * 3 % 4", 1, "int"),
        ("-7 / 2", -3, "int"),
        ("i -1 + i-1 - -1", 1, "int"),
        ("u + 1", 0, "unsigned int"),
        ("u > -1", 0, "int"),
        ("u > -1l", 1, "int"),
        ("c == -1", 1, "int"),
        ("c >> 1", -1, "int"),
        ("u >> 28", 15, "unsigned int"),
        ("~0u == u", 1, "int"),
        ("1 << 31", i64::from(i32::MIN), "int"),
        ("half * 4 == 2.0", 1, "int"),
        ("(int)(half * 7)", 3, "int"),
        ("(unsigned char)c", 255 - 256, "unsigned char"),
        ("(long)i << 40", 1 << 40, "long"),
        ("colour == BLUE && !RED", 1, "int"),
        ("list == NULL ? 1 : list->value", 7, "int"),
        ("!list || list->next->next", 0, "int"),
        ("(node_t *)list == list", 1, "int"),
        ("(unsigned)-1 == u", 1, "int"),
        ("true + 'a'", 98, "int"),
    ] {
        assert_eq!(int(text), (value, ty.to_owned()), "{text}");
    }
}

#[test]
fn a_string_is_compared_by_its_text() {
    for (text, value) in [
        (r#"text == "hello""#, 1),
        (r#""hello" != text"#, 0),
        (r#"text == "hell""#, 0),
        (r#"text == "hello!""#, 0),
        (r#"list->name == "rosa""#, 1),
        (r#"(char *)list == "\a""#, 1),
    ] {
        assert_eq!(int(text).0, value, "{text}");
    }
    assert!(matches!(wrong(r#"i == "1""#).0, Kind::NotAPointer { .. }));
    assert!(matches!(wrong(r#"list == "x""#).0, Kind::Operands { .. }));
}

/// A name in parentheses before an operator is a cast only if it denotes a type.
#[test]
fn names_in_parentheses() {
    assert_eq!(int("(i)*i").0, 1);
    assert_eq!(int("(i)-(i)").0, 0);
    // `colour` is a variable here, so the apparent cast is a call.
    assert_eq!(wrong("(colour)(i + 1)").0, Kind::Unsupported("a call"));
    let (module, other) = (module(), other());
    let world = World { module: &module, other: &other };
    let cast = parse("(node_t)*list").and_then(|e| evaluate(&e, &world));
    // It is a cast, which is invalid for structs.
    assert!(matches!(cast.err().map(|e| e.kind), Some(Kind::Operands { .. })));
}

#[test]
fn what_was_read_is_told() {
    let reads = |text| evaluated(text, |value| value.map(|v| v.reads)).expect("a value");
    let list = Read::Variable { number: 0, offset: 0, len: 8 };
    let memory = |address, len| Read::Memory { address, len };
    assert_eq!(reads("list->next->value"), [list, memory(FIRST + 8, 8), memory(SECOND, 4)]);
    assert_eq!(reads("node.low"), [Read::Bits { address: FIRST + 4, mask: 7 }]);
    assert_eq!(reads("node.high"), [Read::Bits { address: FIRST + 4, mask: 0xf8 }]);
    // Short-circuit evaluation, and each read once.
    assert_eq!(reads("list || list->value"), [list]);
    assert_eq!(reads("i + i"), [Read::Variable { number: 2, offset: 0, len: 4 }]);
    assert_eq!(reads("&node"), []);
    assert_eq!(reads("sizeof list->value"), []);
    assert_eq!(reads("grid[1][i]"), [Read::Variable { number: 2, offset: 0, len: 4 }, memory(GRID + 16, 4)]);
}

#[test]
fn errors_name_the_place() {
    let members = ["value", "low", "high", "next", "name", "whole", "first"].map(str::to_owned).to_vec();
    let missing = |what: &str| Kind::Missing(what.to_owned());
    for (text, kind, column) in [
        ("list->flags", Kind::NoMember { ty: "struct node".into(), name: "flags".into(), members }, 6),
        ("1 + nothing", Kind::NoName("nothing".into()), 4),
        ("i->x", Kind::NotAPointer { ty: "int".into() }, 0),
        ("list.value", Kind::Arrow { ty: "struct node *".into() }, 0),
        ("i.x", Kind::NotARecord { ty: "int".into() }, 0),
        ("*i", Kind::NotAPointer { ty: "int".into() }, 1),
        ("node + 1", Kind::Operands { operator: "an operator", ty: "struct node".into() }, 0),
        ("wide + 1", Kind::Operands { operator: "an operator", ty: "long double".into() }, 0),
        ("half % 2", Kind::Operands { operator: "%", ty: "double".into() }, 0),
        ("&i", Kind::NoAddress, 1),
        ("(struct none *)list", Kind::NoType("struct none".into()), 1),
        ("list->", missing("the name of a member"), 6),
        ("grid[1", missing("\"]\""), 6),
        ("i +", missing("an operand"), 3),
        ("i ) + ( i", Kind::Unexpected(")".into()), 2),
        ("i = 1", Kind::Unsupported("an assignment (is == meant?)"), 0),
        ("i++", Kind::Unsupported("++ or --"), 0),
        ("f(i)", Kind::Unsupported("a call"), 0),
        ("", Kind::Empty, 0),
        ("gone + 1", Kind::NoValue("gone".into()), 0),
        ("list->next->next->value", Kind::Null("list->next->next".into()), 0),
        ("i / (i - 1)", Kind::DivisionByZero, 0),
    ] {
        assert_eq!(wrong(text), (kind, column), "{text}");
    }
    assert!(matches!(wrong("i i").0, Kind::Unexpected(_)));
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("{}i{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(wrong(&text).0, Kind::TooDeep);
}

proptest::proptest! {
    /// No text makes the parser or the evaluation panic.
    #[test]
    fn any_text_is_an_expression_or_an_error(text in "[a-z0-9 ()*&.>\\-+\\[\\]\"'\\\\?:!<=]{0,24}") {
        evaluated(&text, |value| value.map(|v| v.bytes.len())).ok();
    }

    /// The same, with texts that are more often valid expressions.
    #[test]
    fn any_words_are_an_expression_or_an_error(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "list", "->", "next", "value", "i", "u", "c", "half", "grid", "[", "]", "(", ")", "*", "&", "+", "-",
            "/", "%", "<<", ">>", "==", "&&", "?", ":", "7", "0x80000000", "-1", "1e300", "(int)", "(node_t *)",
            "sizeof", "node", ".", "high", "text", "\"hello\"", "~", "!", "18446744073709551615u", "(char)",
        ]), 1..12)) {
        evaluated(&words.join(" "), |value| value.map(|v| v.bytes.len())).ok();
    }
}
