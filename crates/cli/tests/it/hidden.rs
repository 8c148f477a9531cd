//! Slices through state that the C library keeps: who set it is in the slice.

use crate::sandbox::{Sandbox, marked_lines};

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
    let mut sandbox = Sandbox::with_program("hidden", PROGRAM);
    let output = sandbox.record("./hidden", "").stdout;
    let text = String::from_utf8_lossy(&output);
    let lines: Vec<&str> = PROGRAM.lines().collect();
    let functions: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].starts_with("static void ")).collect();
    assert_eq!(text.lines().count(), functions.len(), "{text}");
    let mut offset = 0;
    for (line, start) in text.lines().zip(functions) {
        let name = lines[start];
        let slice = sandbox.quietly(&format!("relapse slice run --output stdout@{offset}"));
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

/// The library of C++ writes for the program: what `std::cout` puts out comes from what was inserted.
#[test]
fn streams_of_cxx() {
    const SOURCE: &str = r#"#include <iomanip>
#include <iostream>
#include <string>

static void number(int n) {
    int shown = n + 4; /* SET */
    int other = n + 5; /* NOT */
    std::cout << "n " << shown << '\n'; /* SET */
    std::cout << other << std::endl; /* NOT */
}

static void text(int n) {
    std::string name = "abc"; /* SET */
    std::string unused = "xyz"; /* NOT */
    name += 'p' + n; /* SET */
    std::cout << name << unused << '\n'; /* SET */
}

static void format(int n) {
    int shown = n + 20; /* SET */
    std::cerr << n << '\n'; /* NOT */
    std::cout << std::hex; /* SET */
    std::cout << "h " << std::setw(4) << shown << std::dec << '\n'; /* SET */
}

static void width(int n) {
    int wide = n + 5; /* SET */
    int unused = n + 6; /* NOT */
    std::cout << std::setw(wide) << "w" << unused << '\n'; /* SET */
}

int main(int argc, char **argv) {
    number(argc);
    text(argc);
    format(argc);
    width(argc);
    return 0;
}
"#;
    // Byte of the output, and the function whose lines are looked at.
    let asked = [
        (2, "static void number", 5),
        (9, "static void text", 4),
        (19, "static void format", 6),
        (21, "static void width", 4),
    ];
    for level in ["-O0", "-O2"] {
        let mut sandbox = Sandbox::new();
        sandbox.file("p.cpp", SOURCE);
        sandbox.quietly(&format!("relapse c++ -g {level} -o p p.cpp"));
        let ran = sandbox.record("./p", "");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "n 5\n6\nabcqxyz\nh   15\n     w7\n");
        for (byte, function, lines) in asked {
            let marked = marked_lines_of(
                &sandbox.quietly(&format!("relapse slice run --output stdout@{byte}")),
                "p.cpp",
            );
            let start = SOURCE.lines().position(|line| line.starts_with(function)).expect("the function");
            for (i, line) in SOURCE.lines().enumerate().skip(start).take(lines + 1) {
                let is_marked = marked.contains(&(i as u32 + 1));
                assert!(is_marked || !line.contains("/* SET */"), "{level}, byte {byte}, missing: {line}");
                assert!(!is_marked || !line.contains("/* NOT */"), "{level}, byte {byte}, too much: {line}");
            }
        }
        let errors = sandbox.quietly("relapse slice run --output stderr@0");
        assert!(errors.contains("std::cerr"), "{errors}");
    }
}

/// Each kind of value that a stream of C++ takes.
#[test]
fn insertions_of_cxx() {
    let kinds = [
        "bool v = n == 1",
        "short v = n + 1",
        "unsigned short v = n + 2",
        "int v = n + 3",
        "unsigned v = n + 4",
        "long v = n + 5",
        "unsigned long v = n + 6",
        "long long v = n + 7",
        "unsigned long long v = n + 8",
        "float v = n / 2.0f",
        "double v = n / 4.0",
        "long double v = n / 8.0L",
        "char v = 'a' + n",
        "signed char v = 'b' + n",
        "unsigned char v = 'c' + n",
        "const void *v = (void *)(long)(n + 9)",
        "const char *v = n > 5 ? \"more\" : \"less\"",
        "std::string v = n > 5 ? \"many\" : \"few\"",
        "std::string_view v = n > 5 ? \"wide\" : \"narrow\"",
    ];
    let mut source = "#include <iostream>\n#include <string>\n#include <string_view>\n".to_owned();
    let mut main = String::new();
    let mut ask = Vec::new();
    let mut each = |body: &str| {
        let number = ask.len();
        source.push_str(&format!("static void f{number}(int n) {{\n{body}\n}}\n"));
        main.push_str(&format!("std::cout << \"\\n@{number} \"; f{number}(argc + 1);\n"));
        let first = source.lines().count() - body.lines().count();
        ask.push(first as u32);
    };
    for kind in kinds {
        each(&format!("{kind};\nstd::cout << v;"));
    }
    each("char v = 'd' + n;\nstd::cout.put(v);");
    each("char v[4] = {'e', 'f', (char)('g' + n), 'h'};\nstd::cout.write(v, 4);");
    each("int v = n + 10;\nstd::cout << std::boolalpha << v << std::flush << std::ends;");
    source.push_str(&format!("int main(int argc, char **argv) {{\n{main}std::cout << \"\\n@\";\n}}\n"));
    for level in ["-O0", "-O2"] {
        let mut sandbox = Sandbox::new();
        sandbox.file("p.cpp", &source);
        sandbox.quietly(&format!("relapse c++ -std=c++17 -g {level} -o p p.cpp"));
        let ran = sandbox.record("./p", "");
        for (number, line) in ask.iter().enumerate() {
            let begin = format!("\n@{number} ");
            let at = find(&ran.stdout, begin.as_bytes()).expect("what was printed") + begin.len();
            let slice = sandbox.quietly(&format!("relapse slice run --output stdout@{at}"));
            let marked = marked_lines_of(&slice, "p.cpp");
            assert!(marked.contains(line), "{level} {number}, line {line}: {slice}");
            let others = ask.iter().filter(|other| *other != line && marked.contains(other));
            assert_eq!(others.count(), 0, "{level} {number}, line {line}: {slice}");
        }
    }
}
/// What streams of C++ take in comes from where they were given it: an array, a string, a file, standard input.
#[test]
fn extractions_of_cxx() {
    const SOURCE: &str = r#"#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

static void from_text(int n) {
    std::string text = "x"; /* SET */
    std::string unused = "9"; /* NOT */
    text[0] = '3' + n; /* SET */
    std::istringstream in(text); /* SET */
    std::istringstream other(unused); /* NOT */
    int value = 0;
    in >> value; /* SET */
    std::cout << value << '\n'; /* SET */
}

static void through_both(int n) {
    std::stringstream both; /* SET */
    both << n + 20 << ' '; /* SET */
    std::string word;
    both >> word; /* SET */
    both << "later"; /* NOT */
    std::cout << word << '\n'; /* SET */
}

static void gathered(int n) {
    std::ostringstream out, other;
    other << n + 7; /* NOT */
    out << "n" << n + 30; /* SET */
    std::string text = out.str(); /* SET */
    out.str("");
    out << n + 8; /* NOT */
    std::cout << text << '\n'; /* SET */
}

static void standard_input(int) {
    int first = 0, second = 0;
    std::cin >> first; /* NOT */
    std::cin >> second; /* SET */
    std::cout << second << '\n'; /* SET */
}

static void lines(int) {
    std::string first, second;
    std::getline(std::cin, first); /* NOT */
    std::getline(std::cin, second); /* SET */
    std::cout << second << '\n'; /* SET */
}

static void characters(int) {
    char array[8] = "", one;
    std::cin.get(one); /* NOT */
    std::cin.read(array, 3); /* SET */
    std::cin.ignore(); /* NOT */
    std::cout << array << '\n'; /* SET */
}

static void until_the_end(int) {
    int sum = 0, value = 0; /* SET */
    while (std::cin >> value) /* SET */
        sum += value; /* SET */
    std::cout << sum << std::cin.eof() << '\n'; /* SET */
}

static void file(int n) {
    std::string name = n ? "numbers" : "none"; /* SET */
    std::ifstream in(name); /* SET */
    int value = 0;
    if (in >> value) /* SET */
        std::cout << value << '\n'; /* SET */
}

static void written(int n) {
    std::ofstream out("written.txt"); /* SET */
    int unused = n + 9; /* NOT */
    out << "w " << n + 40 << '\n'; /* SET */
    std::ofstream("other.txt") << unused; /* NOT */
}

int main(int argc, char **argv) {
    written(argc);
    from_text(argc);
    through_both(argc);
    gathered(argc);
    standard_input(argc);
    lines(argc);
    characters(argc);
    until_the_end(argc);
    file(argc);
    return 0;
}
"#;
    let lines: Vec<&str> = SOURCE.lines().collect();
    let functions: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].starts_with("static void ")).collect();
    for level in ["-O0", "-O2"] {
        let mut sandbox = Sandbox::new();
        sandbox.file("p.cpp", SOURCE);
        sandbox.file("numbers", "17 18\n");
        sandbox.quietly(&format!("relapse c++ -g {level} -o p p.cpp"));
        let ran = sandbox.record("./p", "11 12 a\nb c\nxyz0\n4\n5\n");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(text, "4\n21\nn31\n12\nb c\nyz0\n91\n17\n");
        let mut offset = 0;
        let mut asked: Vec<String> = Vec::new();
        for line in text.lines() {
            asked.push(format!("stdout@{offset}"));
            offset += line.len() + 1;
        }
        asked.push("written.txt@2".to_owned());
        for (what, start) in asked.iter().zip(&functions) {
            let slice = sandbox.quietly(&format!("relapse slice run --output {what}"));
            let marked = marked_lines_of(&slice, "p.cpp");
            let end = (*start..lines.len()).find(|n| lines[*n] == "}").expect("a function ends");
            for (n, text) in lines.iter().enumerate().take(end).skip(*start) {
                let is_in = marked.contains(&(n as u32 + 1));
                assert!(is_in || !text.contains("SET"), "{level}, {what}: `{text}` is missing:\n{slice}");
                assert!(!is_in || !text.contains("NOT"), "{level}, {what}: `{text}` has no part:\n{slice}");
            }
        }
        // What was taken, byte by byte, and what a variable holds behind the line that took it.
        let listed = sandbox.quietly("relapse dump io run");
        let taken: Vec<&str> = listed.lines().filter(|line| line.contains("in  stdin")).collect();
        assert!(taken.iter().any(|line| line.contains("at 2: \" 12\"")), "{level}: {listed}");
        assert!(taken.iter().any(|line| line.contains("at 8: \"b c\\n\"")), "{level}: {listed}");
        let line = 1 + lines.iter().position(|line| line.contains("std::cin >> second")).expect("the line");
        let values = sandbox.quietly(&format!("relapse values run p.cpp:{line} second"));
        assert!(values.contains("0 → 12"), "{level}: {values}");
        let line = 1 + lines.iter().position(|line| line.contains("std::cin, second")).expect("the line");
        let values = sandbox.quietly(&format!("relapse values run p.cpp:{line} second"));
        assert!(values.contains("\"\" → \"b c\""), "{level}: {values}");
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// So does code that no recording compiler has seen, in a library or in the program itself.
#[test]
fn output_of_other_code() {
    const OTHER: &str = r#"#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>
void say(int n) {
    char text[16];
    int len = snprintf(text, sizeof text, "<%d>", n);
    fwrite(text, 1, len, stdout);
    putc('\n', stdout);
    fputs("end\n", stdout);
    fflush(stdout);
}
void vectors(int n) {
    struct iovec both[] = {{"ab", 2}, {n > 2 ? "yes\n" : "no!\n", 4}};
    writev(1, both, 2);
    write(1, "w\n", 2);
}
"#;
    const PROGRAM: &str = "void say(int);\nvoid vectors(int);\nint main(int argc, char **argv) {\n\
        int n = argc + 40;\nint m = argc + 2;\nsay(n);\nvectors(m);\nreturn 0;\n}\n";
    for shared in [false, true] {
        let mut sandbox = Sandbox::new();
        sandbox.file("other.c", OTHER);
        sandbox.file("p.c", PROGRAM);
        let library = if shared { "-shared -fPIC -o libother.so" } else { "-c -o other.o" };
        sandbox.quietly(&format!("clang-22 -O1 {library} other.c"));
        let link = if shared { "-L. -lother -Wl,-rpath,$ORIGIN" } else { "other.o" };
        sandbox.quietly(&format!("relapse cc -g -O1 -o p p.c {link}"));
        let ran = sandbox.record("./p", "");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "<41>\nend\nabyes\nw\n");
        for (byte, line, other) in [(1, 4, 5), (6, 4, 5), (11, 5, 4), (15, 5, 4)] {
            let slice = sandbox.quietly(&format!("relapse slice run --output stdout@{byte}"));
            let marked = marked_lines(&slice);
            assert!(marked.contains(&line) && !marked.contains(&other), "{shared} {byte}: {slice}");
        }
    }
}

/// The program's own output is listed once, also where the compiler makes another call of it.
#[test]
fn output_of_the_program_is_listed_once() {
    const SOURCE: &str = "#include <stdio.h>\n#include <unistd.h>\nint main(int argc, char **argv) {\n\
        putchar('a');\nfflush(stdout);\nputs(\"b\");\nfputs(\"c\", stdout);\nputc('d', stdout);\n\
        fputc('e', stdout);\nfwrite(\"fg\", 1, 2, stdout);\nprintf(\"%s\\n\", \"h\");\nfflush(stdout);\n\
        write(1, \"i\", 1);\nreturn 0;\n}\n";
    for options in ["-O0", "-O1", "-O2", "-O2 -fno-builtin"] {
        let mut sandbox = Sandbox::new();
        sandbox.file("p.c", SOURCE);
        sandbox.quietly(&format!("relapse cc -g {options} -o p p.c"));
        let ran = sandbox.record("./p", "");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "ab\ncdefgh\ni");
        let listed = sandbox.quietly("relapse dump io run");
        let out = listed.lines().filter(|line| line.trim_start().starts_with("out stdout"));
        let out: String = out.filter_map(|line| line.split('"').nth(1)).collect();
        assert_eq!(out, "ab\\ncdefgh\\ni", "{options}: {listed}");
    }
}

/// The marked lines of one file of a slice.
fn marked_lines_of(slice: &str, file: &str) -> Vec<u32> {
    let from = slice.lines().skip_while(|line| *line != file).skip(1);
    let own: Vec<&str> = from.take_while(|line| !line.is_empty()).collect();
    marked_lines(&own.join("\n"))
}
