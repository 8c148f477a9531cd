//! Slices through state that the C library keeps: who set it is in the slice.

mod desk;

use desk::{Desk, marked_lines};

/// Each function sets something (the line marked `SET`), lets other things happen (`NOT`),
/// and prints what the library makes of it, on a line of its own.
const PROGRAM: &str = r#"#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void environment(int n) {
    char text[8];
    sprintf(text, "%d", n + 4); /* SET */
    setenv("RELAPSE_A", text, 1); /* SET */
    setenv("RELAPSE_B", "b", 1); /* NOT */
    printf("%s\n", getenv("RELAPSE_A"));
}

static void tokens(int n) {
    char text[] = "a,b,c";
    text[2] = 'p' + n; /* SET */
    strtok(text, ","); /* SET */
    printf("%s\n", strtok(NULL, ","));
}

static void reentrant_tokens(int n) {
    char text[] = "a,b,c", other[] = "x,y", *here, *there;
    text[2] = 'q' + n; /* SET */
    strtok_r(text, ",", &here); /* SET */
    strtok_r(other, ",", &there); /* NOT */
    printf("%s\n", strtok_r(NULL, ",", &here));
}

static void separated(int n) {
    char text[] = "a,b,c", *rest = text;
    text[2] = 'r' + n; /* SET */
    strsep(&rest, ","); /* SET */
    printf("%s\n", strsep(&rest, ","));
}

static void random_number(int n) {
    srand(n + 5); /* SET */
    srand48(n); /* NOT */
    printf("%d\n", rand() % 1000);
}

static void expression(int n) {
    char pattern[] = "x.z";
    regex_t compiled;
    pattern[1] = 'x' + n; /* SET */
    regcomp(&compiled, pattern, REG_NOSUB); /* SET */
    printf("%d\n", regexec(&compiled, "xyz", 0, NULL, 0));
}

static void written_and_read(int n) {
    char line[16] = "";
    FILE *file = fopen("written.txt", "w+");
    fprintf(file, "number\n"); /* NOT */
    fprintf(file, "%d\n", n + 20); /* SET */
    fseek(file, 7, SEEK_SET); /* SET */
    fgets(line, sizeof line, file);
    fclose(file);
    printf("%s", line);
}

static void through_a_pipe(int n) {
    int ends[2];
    char text[2] = "?";
    char byte = 'A' + n; /* SET */
    ssize_t done = pipe(ends);
    done = write(ends[1], "x", 1); /* NOT */
    done = write(ends[1], &byte, 1); /* SET */
    done = read(ends[0], text, 1);
    done = read(ends[0], text, 1);
    printf("%s\n", text);
}

static void pushed_back(int n) {
    FILE *file = fopen("written.txt", "r");
    ungetc('c' + n, file); /* SET */
    int byte = fgetc(file);
    fclose(file);
    printf("%c\n", byte);
}

static void error_number(int n) {
    errno = 0;
    chdir("/no/such/place"); /* SET */
    int seen = errno;
    printf("%d\n", seen);
}

static void options(int n) {
    char value[] = "-x0";
    char *arguments[] = { "name", value, NULL };
    value[2] = '6' + n; /* SET */
    optind = 1;
    getopt(2, arguments, "x:"); /* SET */
    printf("%s\n", optarg);
}

static void number_format(int n) {
    setlocale(LC_NUMERIC, n ? "C" : ""); /* SET */
    printf("%.1f\n", strtod("1.5", NULL));
}

static void into_memory(int n) {
    char *text = NULL;
    size_t size = 0;
    FILE *other = open_memstream(&text, &size); /* NOT */
    fprintf(other, "other\n"); /* NOT */
    fclose(other);
    free(text);
    FILE *stream = open_memstream(&text, &size); /* SET */
    fprintf(stream, "%d\n", n + 30); /* SET */
    fputs("more\n", stderr); /* NOT */
    fclose(stream);
    printf("%.2s\n", text);
    free(text);
}

static void into_memory_byte_by_byte(int n) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size); /* SET */
    fputc('d' + n, stream); /* SET */
    fflush(stream);
    char byte = text[0];
    fclose(stream);
    printf("%c\n", byte);
    free(text);
}

static void size_of_what_was_written(int n) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size); /* SET */
    fprintf(stream, "%*d", n + 40, 1); /* SET */
    fclose(stream);
    printf("%zu\n", size);
    free(text);
}

static void into_a_buffer(int n) {
    char buffer[16] = "before";
    FILE *stream = fmemopen(buffer, sizeof buffer, "w"); /* SET */
    fprintf(stream, "%d", n + 50); /* SET */
    fclose(stream);
    printf("%s\n", buffer);
}

static void out_of_a_buffer(int n) {
    char buffer[16] = "70";
    int number = 0;
    buffer[1] = '1' + n; /* SET */
    FILE *stream = fmemopen(buffer, 2, "r"); /* SET */
    fscanf(stream, "%d", &number);
    fclose(stream);
    printf("%d\n", number);
}

int main(int argc, char **argv) {
    int n = argc; /* SET */
    environment(n);
    tokens(n);
    reentrant_tokens(n);
    separated(n);
    random_number(n);
    expression(n);
    written_and_read(n);
    through_a_pipe(n);
    pushed_back(n);
    error_number(n);
    options(n);
    number_format(n);
    into_memory(n);
    into_memory_byte_by_byte(n);
    size_of_what_was_written(n);
    into_a_buffer(n);
    out_of_a_buffer(n);
    return 0;
}
"#;

#[test]
fn who_set_what_the_library_keeps_is_in_the_slice() {
    let mut desk = Desk::with_program("hidden", PROGRAM);
    let output = desk.record("./hidden", "").stdout;
    let text = String::from_utf8_lossy(&output);
    let lines: Vec<&str> = PROGRAM.lines().collect();
    let functions: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].starts_with("static void ")).collect();
    assert_eq!(text.lines().count(), functions.len(), "{text}");
    let mut offset = 0;
    for (line, start) in text.lines().zip(functions) {
        let name = lines[start];
        let slice = desk.quietly(&format!("relapse slice run --output stdout@{offset}"));
        let marked = marked_lines(&slice);
        let end = (start..lines.len()).find(|n| lines[*n] == "}").expect("a function ends");
        for (n, text) in lines.iter().enumerate().take(end).skip(start) {
            let is_in = marked.contains(&(n as u32 + 1));
            assert!(is_in || !text.contains("SET"), "{name}: `{text}` is missing:\n{slice}");
            assert!(!is_in || !text.contains("NOT"), "{name}: `{text}` has no part:\n{slice}");
        }
        offset += line.len() + 1;
    }
}
