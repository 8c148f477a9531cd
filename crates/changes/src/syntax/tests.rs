//! The syntactic facts about small texts.

use super::*;

fn parse(path: &str, text: &str) -> Syntax {
    let lines = u32::try_from(text.lines().count()).unwrap();
    Syntax::parse(path, text.as_bytes(), &RequestedLines::only(0..lines)).unwrap()
}

/// Names on a line (from 0) with one of these effects.
fn names(text: &str, line: u32, effects: u8) -> Vec<&str> {
    let syntax = parse("a.c", text);
    let found = syntax.names(&(line..line + 1)).iter().filter(|name| name.effects & effects != 0);
    found.map(|name| &text[name.at.clone()]).collect()
}

fn reach(text: &str, line: u32, name: &str) -> NameScope {
    let syntax = parse("a.c", text);
    let mut found = syntax.names(&(line..line + 1)).iter();
    found.find(|found| &text[found.at.clone()] == name).unwrap().reach
}

#[test]
fn declarations_assignments_and_uses() {
    let all = |line: &str, effects| {
        let text = format!("int f(void)\n{{\n{line}\n}}\n");
        names(&text, 2, effects).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(all("int a, *b = c, d[N];", name_effect::DECLARE), ["a", "b", "d"]);
    assert_eq!(all("int a, *b = c, d[N];", name_effect::USE), ["c", "N"]);
    assert_eq!(all("a = b + c;", name_effect::ASSIGN), ["a"]);
    assert_eq!(all("a += b; c++; *d = 1; e[i] = 2;", name_effect::ASSIGN), ["a", "c", "d", "e"]);
    assert_eq!(all("g(&a, b, &c->m);", name_effect::ASSIGN), ["a", "m"]);
    assert_eq!(all("p->q.r = s->t;", name_effect::ASSIGN), ["r"]);
    assert_eq!(all("p->q.r = s->t;", name_effect::ASSIGN_PART), ["p", "q"]);
    assert_eq!(all("p->q.r = s->t;", name_effect::USE), ["t"]);
    assert_eq!(all("x = \"a b\"; /* c */ return (T)y;", name_effect::USE), ["T", "y"]);
    assert_eq!(all("goto out; out: ;", name_effect::DECLARE), ["out"]);
}

#[test]
fn file_level_declarations() {
    assert_eq!(names("typedef struct s { int m; } t;", 0, name_effect::DECLARE), ["s", "m", "t"]);
    assert_eq!(names("struct s *f(struct s *p);", 0, name_effect::DECLARE), ["f", "p"]);
    assert_eq!(names("enum e { A, B = C };", 0, name_effect::DECLARE), ["e", "A", "B"]);
    assert_eq!(names("int (*table[3])(int);", 0, name_effect::DECLARE), ["table"]);
    assert_eq!(names("#define M(x) ((x) + N) /* n */\n", 0, name_effect::DECLARE), ["M", "x"]);
    assert_eq!(names("#define M(x) ((x) + N) /* n */\n", 0, name_effect::USE), ["x", "N"]);
    assert_eq!(names("#if defined(A) && B > 2\nint x;\n#endif\n", 0, name_effect::USE), ["A", "B"]);
    assert_eq!(names("#undef A\n", 0, name_effect::ASSIGN), ["A"]);
}

#[test]
fn names_reach_as_far_as_they_are_known() {
    let text = "static int s;\nint g;\n#define M 1\nint f(int p)\n{\n  int v = p + s + g + M;\n  { int w; h(w, v); }\n}\n";
    assert_eq!(reach(text, 0, "s"), NameScope::File);
    assert_eq!(reach(text, 1, "g"), NameScope::Global);
    assert_eq!(reach(text, 3, "f"), NameScope::Global);
    assert_eq!(reach(text, 3, "p"), NameScope::Local(3));
    assert_eq!(reach(text, 5, "p"), NameScope::Local(3));
    assert_eq!(reach(text, 5, "s"), NameScope::File);
    assert_eq!(reach(text, 5, "M"), NameScope::File);
    assert_eq!(reach(text, 6, "w"), NameScope::Local(6));
    assert_eq!(reach(text, 6, "v"), NameScope::Local(4));
    assert_eq!(reach(text, 6, "h"), NameScope::Global);
}

#[test]
fn functions_have_their_names_and_lines() {
    let text = "static int *a(int x)\n{\n  return 0;\n}\nint (b)(void) { return 1; }\nint c(x)\n  int x;\n{\n}\nint d;\n";
    let syntax = parse("a.c", text);
    let of = |line: u32| syntax.function(&(line..line + 1)).map(|function| function.name.as_str());
    assert_eq!(
        (of(0), of(3), of(4), of(5), of(8), of(9)),
        (Some("a"), Some("a"), Some("b"), Some("c"), Some("c"), None)
    );
    let syntax = parse(
        "a.cc",
        "namespace n {\nint A::f() const\n{\n}\nA::~A() {}\nbool operator==(A, A) { return true; }\n}\n",
    );
    let of = |line: u32| syntax.function(&(line..line + 1)).map(|function| function.name.as_str());
    assert_eq!((of(0), of(1), of(4), of(5)), (None, Some("A::f"), Some("A::~A"), Some("operator==")));
}

#[test]
fn an_error_stays_in_its_function() {
    let odd = "int f(void)\n{\n  static const T t\n    __attribute__((aligned(8)))\n    = { {0}, WITH x (char*)0, };\n  FOREACH (a b) { c }\n}\n";
    let more = "  h(1);\n".repeat(40);
    let text = format!("{odd}int g(void)\n{{\n  return 1;\n{more}}}\n");
    let syntax = parse("a.c", &text);
    assert_eq!(syntax.function(&(9..10)).map(|function| function.name.as_str()), Some("g"));
}

#[test]
fn what_is_no_c_is_not_parsed() {
    let requested = || RequestedLines::only(0..9);
    assert!(Syntax::parse("a.py", b"int x;\n", &requested()).is_none());
    assert!(Syntax::parse("Makefile", b"int x;\n", &requested()).is_none());
    assert!(Syntax::parse("a.c", b"} ) = = {\n] ] if else (\n) ) 1 2 {\n= = =\n", &requested()).is_none());
    assert!(Syntax::parse("a.c", b"", &requested()).is_some());
}
