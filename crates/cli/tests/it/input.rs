//! What a program read is in its recording, by whatever function it was read, from a file or a pipe,
//! with and without a last line end.

use crate::sandbox::{Sandbox, feed};
use serde_json::Value;
use std::fs::File;
use std::process::{Command, Stdio};

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int scanned(void) {
    int sum = 0, n;
    while (scanf("%d", &n) == 1)
        sum += n;
    return sum;
}

static int scanned_words(FILE *from) {
    char word[8];
    int sum = 0;
    while (fscanf(from, "%7s", word) == 1)
        sum += word[0] - '0';
    return sum;
}

static int bytes(int (*next)(FILE *)) {
    int sum = 0;
    for (int c; (c = next(stdin)) != EOF;)
        sum += c;
    return sum;
}

static int lines(void) {
    char line[4];
    int sum = 0;
    while (fgets(line, sizeof line, stdin))
        sum += line[0];
    return sum;
}

static int whole_lines(void) {
    char *line = NULL;
    size_t room = 0;
    int sum = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;)
        sum += line[n - 1];
    free(line);
    return sum;
}

static int block(void) {
    unsigned char text[64];
    size_t n = fread(text, 1, sizeof text, stdin);
    return n ? text[n - 1] : 0;
}

static int pieces(void) {
    unsigned char text[3];
    int sum = 0;
    for (ssize_t n; (n = read(0, text, sizeof text)) > 0;)
        sum += text[n - 1];
    return sum;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int sum = 0;
    if (!strcmp(how, "scanf")) sum = scanned();
    if (!strcmp(how, "bare")) {
        setbuf(stdin, NULL);
        sum = scanned();
    }
    if (!strcmp(how, "words")) sum = scanned_words(stdin);
    if (!strcmp(how, "fscanf")) sum = scanned_words(fopen("in.txt", "r"));
    if (!strcmp(how, "getc")) sum = bytes(getc);
    if (!strcmp(how, "fgetc")) sum = bytes(fgetc);
    if (!strcmp(how, "fgets")) sum = lines();
    if (!strcmp(how, "getline")) sum = whole_lines();
    if (!strcmp(how, "fread")) sum = block();
    if (!strcmp(how, "read")) sum = pieces();
    puts(sum > 60 ? "much" : "little");
    return 0;
}
"#;

/// Records the program with an input and follows it: bytes that were read, and the whole answer.
fn read(sandbox: &Sandbox, how: &str, input: &str, file: bool) -> (u64, Value) {
    sandbox.file("in.txt", input);
    let _ = std::fs::remove_dir_all(sandbox.path().join("run"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_relapse"));
    command.args(["record", "--quiet", "-o", "run", "--", "./p", how]).current_dir(sandbox.path());
    let output = if file {
        let stdin = File::open(sandbox.path().join("in.txt")).expect("the input");
        command.stdin(Stdio::from(stdin)).output().expect("a run")
    } else {
        feed(command, input.as_bytes())
    };
    assert!(output.status.success(), "{how}: {output:?}");
    let name = if how == "fscanf" { "in.txt" } else { "stdin" };
    let output = sandbox.execute(&format!("relapse path run --json --only {name}"), "");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{how}: {e}: {text}{said}"));
    (answer["inputs"][0]["bytes"].as_u64().unwrap_or(0), answer)
}

#[test]
fn every_byte_up_to_the_end_is_recorded() {
    let sandbox = Sandbox::with_program("p", PROGRAM);
    for how in ["scanf", "words", "fscanf", "getc", "fgetc", "fgets", "getline", "fread", "read"] {
        for file in [true, false] {
            for input in ["12 34", "12 34\n"] {
                let (bytes, answer) = read(&sandbox, how, input, file);
                assert_eq!(bytes, input.len() as u64, "{how} of {input:?}, file: {file}");
                // What was read decides what is printed.
                let conditions = answer["conditions"].as_array().expect("conditions");
                let decided = conditions.iter().any(|c| c["function"] == "main");
                assert!(decided, "{how} of {input:?}, file: {file}: {answer}");
            }
        }
        let (bytes, _) = read(&sandbox, how, "", true);
        assert_eq!(bytes, 0, "{how} of nothing");
    }
}

/// Nobody can say how much was taken from a pipe without a buffer; of a file it is known.
#[test]
fn what_cannot_be_known_is_noted_as_lost() {
    let sandbox = Sandbox::with_program("p", PROGRAM);
    let (bytes, answer) = read(&sandbox, "bare", "12 34", true);
    assert_eq!((bytes, &answer["losses"]), (5, &Value::Array(Vec::new())));
    let (bytes, answer) = read(&sandbox, "bare", "12 34", false);
    assert_eq!(bytes, 0, "{answer}");
    let losses = answer["losses"].to_string();
    assert!(losses.contains("the bytes that were consumed are not in the recording"), "{losses}");
}

/// The library's buffer holds 4096 bytes; numbers lie across its end.
#[test]
fn bytes_on_both_sides_of_a_full_buffer_are_recorded() {
    let sandbox = Sandbox::with_program("p", PROGRAM);
    let numbers: String = (0..2000).map(|n| format!("{} ", n * 7919 % 100_000)).collect();
    for file in [true, false] {
        for end in ["", "31\n"] {
            let input = format!("{numbers}{end}");
            let (bytes, answer) = read(&sandbox, "scanf", &input, file);
            assert_eq!(bytes, input.len() as u64, "file: {file}");
            assert_eq!(answer["losses"], Value::Array(Vec::new()), "file: {file}");
        }
    }
}

#[test]
fn an_input_for_the_same_way_is_found_without_a_last_line_end() {
    let sandbox = Sandbox::with_program("p", PROGRAM);
    for how in ["scanf", "words", "getline"] {
        read(&sandbox, how, "12 34", true);
        let output = sandbox.execute("relapse path run --only stdin --solve --json", "");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["solved"]["same_way"], true, "{how}: {answer}");
        assert!(answer["solved"]["changed"].as_u64() > Some(0), "{how}: {answer}");
    }
}
