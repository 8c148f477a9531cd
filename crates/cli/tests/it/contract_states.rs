//! What belongs to the states that contracts compare, beside what pointers' types lead to.

use crate::contracts::checked;

const PROGRAM: &str = r#"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct header { int length, room; };
struct item { int key, count; };
struct box { int n; void *data; };
static __thread int depth;
char *text_new(const char *from)
{
    int n = strlen(from);
    struct header *h = malloc(sizeof *h + n + 1);
    h->length = n;
    h->room = n;
    memcpy(h + 1, from, n + 1);
    return (char *)(h + 1);
}
void text_cut(char *text, int n)
{
    text[n] = 0;
    ((struct header *)text)[-1].length = n;
}
int text_length(const char *text) { return ((const struct header *)text)[-1].length; }
void bump(struct item *item)
{
    item->count++;
    item[1].count += 10;
}
void fill(void *to, int n)
{
    int *words = to;
    for (int i = 0; i < n; i++) words[i] = i * 2;
}
void put(struct box *box, int value) { ((int *)box->data)[box->n++] = value; }
int check(int n)
{
    if (n < 0) { errno = EINVAL; return -1; }
    return n;
}
int deeper(int n) { return depth += n; }
void forget(const char *name) { unlink(name); }
void seed(int n) { srand(n); }
void lang(const char *value) { setenv("P_LANG", value, 1); }
int main(void)
{
    char *text = text_new("hello, world");
    text_cut(text, 5);
    struct item *items = calloc(4, sizeof *items);
    bump(items + 1);
    int *words = malloc(8 * sizeof *words);
    fill(words, 8);
    struct box box = { 0, calloc(4, sizeof(int)) };
    put(&box, 7);
    FILE *f = fopen("old.txt", "w");
    fclose(f);
    forget("old.txt");
    seed(4);
    lang("de");
    deeper(2);
    printf("%s %d %d\n", text, text_length(text), check(-1));
    return 0;
}
"#;

/// That a change of a function is seen as this difference.
fn is_seen(from: &str, to: &str, function: &str, difference: &str) {
    let (code, said) = checked(PROGRAM, (from, to), &format!("--unchanged {function}"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(difference), "{difference}: {said}");
}

#[test]
fn other_ways_to_do_the_same_are_no_change() {
    for change in [
        ("h->length = n;\n    h->room = n;", "h->room = h->length = n;"),
        ("item->count++;\n    item[1].count += 10;", "item[1].count += 10;\n    item[0].count += 1;"),
        ("words[i] = i * 2", "*words++ = i + i"),
        ("errno = EINVAL; return -1;", "errno = 22; n = -1;"),
        ("return depth += n;", "depth = depth + n; return depth;"),
    ] {
        let (code, said) = checked(PROGRAM, change, "--unchanged");
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn what_lies_before_a_pointer() {
    let wrong = ("[-1].length = n;", "[-1].length = n + 1;");
    is_seen(wrong.0, wrong.1, "text_cut", "4 bytes at text - 8: 5 in good, 6 in bad");
    // It finds another one, so that its calls do not begin alike.
    let (code, said) = checked(PROGRAM, wrong, "--unchanged text_length");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("in call 1 4 bytes at text - 8 is 5 in good, 6 in bad"), "{said}");
    is_seen("h->room = n;", "h->room = n + 1;", "text_new", "4 bytes at \\result - 4: 12 in good, 13 in bad");
}

#[test]
fn what_one_version_forgets_to_write() {
    is_seen("    ((struct header *)text)[-1].length = n;\n", "", "text_cut", "5 in good, 12 in bad");
}

#[test]
fn what_lies_behind_the_target() {
    is_seen("+= 10;", "+= 11;", "bump", "4 bytes at item + 12: 10 in good, 11 in bad");
}

#[test]
fn what_is_written_behind_no_type() {
    is_seen("words[i] = i * 2", "words[i] = i * 3", "fill", "4 bytes at to + 4: 2 in good, 3 in bad");
    is_seen("++] = value", "++] = value + 1", "put", "4 bytes at box->data: 7 in good, 8 in bad");
}

#[test]
fn what_a_thread_has_for_itself() {
    is_seen("errno = EINVAL", "errno = ERANGE", "check", "errno: 22 in good, 34 in bad");
    is_seen("errno = EINVAL; ", "", "check", "errno: 22 in good, not set in bad");
    is_seen("return depth += n;", "depth += 2 * n; return n;", "deeper", "depth: 2 in good, 4 in bad");
}

#[test]
fn a_contract_may_speak_of_errno() {
    let meant =
        "//@ changed_behavior requires n < 0; ensures \\result == -1 && errno == 34;\nint check(int n)";
    let body = "\n{\n    if (n < 0) { errno = EINVAL; return -1; }";
    let from = format!("int check(int n){body}");
    let right = format!("{meant}{}", body.replace("EINVAL", "ERANGE"));
    let (code, said) = checked(PROGRAM, (&from, &right), "");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = checked(PROGRAM, (&from, &format!("{meant}{}", body.replace("EINVAL", "EPERM"))), "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("errno = 1"), "{said}");
}

#[test]
fn what_was_done_outside() {
    is_seen(
        "unlink(name);",
        "(void)name;",
        "forget",
        "calls of unlink: unlink(\"old.txt\") in good, none in bad",
    );
    is_seen("srand(n)", "srand(n + 1)", "seed", "calls of srand: srand(4) in good, srand(5) in bad");
    is_seen("value, 1)", "value, 0)", "lang", "setenv(\"P_LANG\", \"de\", 0) in bad");
}

#[test]
fn addresses_of_what_is_gone_are_no_numbers() {
    let program = "#include <stdlib.h>\n\
        struct value { int kind; union { void *block; long number; } u; };\n\
        int kind(struct value *v) { return v->kind; }\n\
        int main(void)\n{\n    struct value v = { 3 };\n    void *first = malloc(24);\n    v.u.block = malloc(40);\n    \
        free(v.u.block);\n    free(first);\n    return kind(&v) - 3;\n}\n";
    let (code, said) = checked(program, ("malloc(24)", "malloc(2400)"), "--unchanged kind");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 pair counted"), "{said}");
}
