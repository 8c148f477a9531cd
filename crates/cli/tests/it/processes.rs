//! Slices that go on in another process: through pipes, files, sockets, arguments, the environment.

use crate::sandbox::{Sandbox, marked_lines};

const SENDER: &str = r#"#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int amount = atoi(argv[1]) * 3;
    int unused = argc * 7;
    printf("%d\n", amount);
    fprintf(stderr, "%d\n", unused);
    return 0;
}
"#;

const RECEIVER: &str = r#"#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char line[20];
    int sum = 1;
    while (fgets(line, sizeof line, stdin))
        sum += atoi(line);
    printf("sum %d\n", sum);
    return 0;
}
"#;

/// Records a shell script with the programs `send` and `take`, and what else is given.
fn scripted(script: &str, programs: &[(&str, &str)]) -> Sandbox {
    let mut sandbox = Sandbox::with_program("send", SENDER);
    for (name, source) in [("take", RECEIVER)].iter().chain(programs) {
        sandbox.file(&format!("{name}.c"), source);
        sandbox.quietly(&format!("relapse cc -g -O1 -o {name} {name}.c"));
    }
    sandbox.file("script", script);
    sandbox.record("sh script", "");
    sandbox
}

/// Marked lines of one file.
fn marked_in(slice: &str, file: &str) -> Vec<u32> {
    let text = slice.split_once(&format!("\n{file}\n")).map_or("", |(_, text)| text);
    marked_lines(text.split("\n\n").next().unwrap_or_default())
}

#[test]
fn a_slice_goes_on_in_the_process_at_the_other_end_of_a_pipe() {
    let mut sandbox = scripted("./send 4 | ./take", &[]);
    sandbox.run("relapse slice run --output stdout@4");
    assert_session!(sandbox, @r#"
    $ relapse slice run --output stdout@4
    byte 4 of stdout came from 4 lines in 1 file (11 of [N] instructions).

    take.c
    >  6  int sum = 1;
    >  7  while (fgets(line, sizeof line, stdin))
    >  8  sum += atoi(line);
    >  9  printf("sum %d\n", sum);

    "12\n" in the pipe, from send, came from 2 lines in 1 file (5 of [N] instructions).

    send.c
    >  5  int amount = atoi(argv[1]) * 3;
      [N]  int unused = argc * 7;
    >  7  printf("%d\n", amount);
    "#);
}

#[test]
fn a_slice_goes_on_in_the_process_that_wrote_the_file() {
    let mut sandbox = scripted("./send 4 > between; ./send 5 > other; ./take < between", &[]);
    let text = sandbox.quietly("relapse slice run --output stdout:sum");
    assert_eq!(marked_in(&text, "take.c"), [9], "{text}");
    assert_eq!(marked_in(&text, "send.c"), [] as [u32; 0], "{text}");
    let text = sandbox.quietly("relapse slice run --output stdout:13");
    assert_eq!(marked_in(&text, "send.c"), [5, 7], "{text}");
    assert!(text.contains("\"12\\n\" in between, from send"), "{text}");
}

#[test]
fn of_several_writers_to_a_pipe_the_one_is_found_whose_bytes_they_are() {
    let mut sandbox = scripted("(./send 1; ./send 2; ./send 30) | ./take", &[]);
    let text = sandbox.quietly("relapse slice run --output stdout:100 --json");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["writers"].as_array().map(Vec::len), Some(3), "{text}");
}

#[test]
fn an_argument_comes_from_the_program_that_gave_it() {
    let start = r#"#include <stdio.h>
#include <unistd.h>

int main(void) {
    char text[20];
    int noise = 3;
    int number = 5 + 2;
    snprintf(text, sizeof text, "%d", number);
    char *words[] = { "send", text, NULL };
    noise++;
    execv("./send", words);
    return noise;
}
"#;
    let mut sandbox = scripted("./start", &[("start", start)]);
    let text = sandbox.quietly("relapse slice run --output stdout:21");
    assert_eq!(marked_in(&text, "start.c"), [7, 8, 9, 11], "{text}");
}

#[test]
fn output_of_a_program_that_is_not_recorded_comes_from_the_call_that_started_it() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    char command[100];
    int number = argc * 4;
    int noise = argc * 9;
    snprintf(command, sizeof command, "echo value %d", number);
    int status = system(command);
    printf("%d %d\n", status, noise);
    return system("true");
}
"#;
    let mut sandbox = Sandbox::with_program("starts", source);
    sandbox.record("./starts", "");
    let text = sandbox.quietly("relapse slice run --output stdout:value");
    assert_eq!(marked_in(&text, "starts.c"), [5, 7, 8], "{text}");
    assert!(text.contains("started at starts.c:8 by system with \"echo value 4\""), "{text}");
    let output = sandbox.execute("relapse slice run --output stdout:nothing", "");
    assert_eq!(output.status.code(), Some(1), "two programs were started, and neither by such a command");
}

const CONNECTED: &str = r#"#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void answer(int socket, int number) {
    char text[20] = "";
    int noise = number * 3;
    long length = read(socket, text, sizeof text - 1);
    number += noise > 0 && length > 0 ? atoi(text) : 0;
    snprintf(text, sizeof text, "%d", number);
    write(socket, text, strlen(text));
    _exit(0);
}

static void ask(int socket, int number) {
    char text[20] = "";
    int noise = number * 5;
    snprintf(text, sizeof text, "%d", number);
    send(socket, text, strlen(text), 0);
    recv(socket, text, sizeof text - 1, 0);
    printf("%s\n", text);
    close(socket);
    wait(&noise);
}

static void pair(void) {
    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (fork() == 0)
        answer(ends[1], 100);
    ask(ends[0], 1);
}

static void over(int family, struct sockaddr *address, socklen_t size, int number) {
    int server = socket(family, SOCK_STREAM, 0);
    bind(server, address, size);
    getsockname(server, address, &size);
    listen(server, 2);
    if (fork() == 0)
        answer(accept(server, NULL, NULL), number);
    int client = socket(family, SOCK_STREAM, 0);
    connect(client, address, size);
    ask(client, 2);
    close(server);
}

int main(void) {
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "socket" };
    pair();
    over(AF_INET, (struct sockaddr *)&in, sizeof in, 200);
    over(AF_UNIX, (struct sockaddr *)&un, sizeof un, 300);
    over(AF_INET6, (struct sockaddr *)&in6, sizeof in6, 400);
    return 0;
}
"#;

#[test]
fn a_slice_goes_on_at_the_other_end_of_a_connection() {
    let mut sandbox = Sandbox::with_program("connected", CONNECTED);
    let output = sandbox.record("./connected", "").stdout;
    let text = String::from_utf8_lossy(&output);
    assert!(text.starts_with("101\n202\n302\n"), "{text}");
    let line =
        |text: &str| 1 + CONNECTED.lines().position(|line| line.contains(text)).expect("a line") as u32;
    for (said, number) in [("101", "100)"), ("202", ", 200)"), ("302", ", 300)"), ("402", ", 400)")] {
        // A machine may have no IPv6.
        if !text.contains(said) {
            assert_eq!(said, "402");
            continue;
        }
        let slice = sandbox.quietly(&format!("relapse slice run --output stdout:{said} --json"));
        let json: serde_json::Value = serde_json::from_str(&slice).expect("JSON");
        let writer = &json["writers"][0];
        assert!(writer["question"].as_str().is_some_and(|q| q.contains("in the connection")), "{slice}");
        let lines: Vec<u32> = writer["lines"]
            .as_array()
            .expect("lines")
            .iter()
            .filter_map(|line| line["line"].as_u64().and_then(|n| u32::try_from(n).ok()))
            .collect();
        for wanted in
            [number, "number += noise", "snprintf(text, sizeof text, \"%d\", number);", "write(socket"]
        {
            assert!(lines.contains(&line(wanted)), "{said}: {wanted} is missing in {lines:?}\n{slice}");
        }
        assert!(!lines.contains(&line("int noise = number * 5")), "{said}: {lines:?}");
    }
}

#[test]
fn a_program_that_was_given_a_socket_finds_who_has_the_other_end() {
    let start = r#"#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int ends[2], noise = 4;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (fork() == 0) {
        dup2(ends[1], 0);
        close(ends[0]);
        close(ends[1]);
        execl("./take", "take", (char *)0);
    }
    char text[20];
    int number = 5 + 2;
    noise += sprintf(text, "%d\n", number);
    write(ends[0], text, strlen(text));
    close(ends[0]);
    close(ends[1]);
    wait(NULL);
    return noise < 0;
}
"#;
    let mut sandbox = scripted("./start", &[("start", start)]);
    let text = sandbox.quietly("relapse slice run --output stdout:8");
    let lines = marked_in(&text, "start.c");
    assert!([17, 18, 19].iter().all(|line| lines.contains(line)), "{text}");
    assert!(!lines.contains(&8) && !lines.contains(&14), "{text}");
}

const READS_ENVIRONMENT: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *text = getenv("WIDTH");
    int width = text ? atoi(text) : -1;
    printf("width %d\n", width);
    return 0;
}
"#;

#[test]
fn a_variable_of_the_environment_comes_from_who_set_it() {
    let start = |call: &str| {
        format!(
            r#"#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;

int main(int argc, char **argv) {{
    char text[20], entry[30];
    int number = argc + 6; /* SET */
    snprintf(text, sizeof text, "%d", number); /* SET */
    setenv("HEIGHT", "3", 1); /* NOT */
    {call}
    return 0;
}}
"#
        )
    };
    let calls = [
        // Passed on.
        "setenv(\"WIDTH\", text, 1); /* SET */ \n execl(\"./child\", \"child\", NULL); /* SET */",
        "setenv(\"WIDTH\", text, 1); /* SET */ \n char *words[] = { \"child\", NULL };
         execve(\"./child\", words, environ); /* SET */",
        // Before a fork.
        "setenv(\"WIDTH\", text, 1); /* SET */ \n if (fork() == 0)
         execlp(\"./child\", \"child\", NULL); /* SET */ \n wait(NULL);",
        // An environment of its own, though another is set.
        "sprintf(entry, \"WIDTH=%s\", text); /* SET */ \n setenv(\"WIDTH\", \"9\", 1); /* NOT */
         char *words[] = { \"child\", NULL }, *given[1000]; int k = 0;
         for (char **all = environ; *all; all++) if (strncmp(*all, \"WIDTH\", 5)) given[k++] = *all;
         given[k] = entry; /* SET */ \n given[k + 1] = NULL;
         execve(\"./child\", words, given); /* SET */",
        // In another process.
        "setenv(\"WIDTH\", text, 1); /* SET */ \n char *words[] = { \"child\", NULL }; pid_t child;
         posix_spawn(&child, \"./child\", NULL, NULL, words, environ); /* SET */ \n wait(NULL);",
    ];
    let mut sandbox = Sandbox::with_program("child", READS_ENVIRONMENT);
    for call in calls {
        let source = start(call).replace("#include <unistd.h>", "#include <string.h>\n#include <unistd.h>");
        sandbox.file("start.c", &source);
        sandbox.quietly("relapse cc -g -O1 -o start start.c");
        let _ = std::fs::remove_dir_all(sandbox.path().join("run"));
        let output = sandbox.record("./start", "").stdout;
        assert_eq!(String::from_utf8_lossy(&output), "width 7\n", "{call}");
        let text = sandbox.quietly("relapse slice run --output stdout:7");
        let lines = marked_in(&text, "start.c");
        for (n, line) in (1..).zip(source.lines()) {
            let is_in = lines.contains(&n);
            assert!(is_in || !line.contains("SET"), "`{line}` is missing:\n{text}");
            assert!(!is_in || !line.contains("NOT"), "`{line}` has no part:\n{text}");
        }
    }
}

#[test]
fn an_argument_comes_from_the_process_that_started_the_program() {
    let start = r#"#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void) {
    char text[20], *words[] = { "send", text, NULL };
    int noise = 3;
    int number = 5 + 2;
    pid_t child;
    snprintf(text, sizeof text, "%d", number);
    posix_spawn(&child, "./send", NULL, NULL, words, NULL);
    return wait(&noise) < 0;
}
"#;
    let mut sandbox = scripted(
        "./start",
        &[(
            "start",
            &start
                .replace("words, NULL);", "words, environ);")
                .replace("\nint main", "\nextern char **environ;\n\nint main"),
        )],
    );
    let text = sandbox.quietly("relapse slice run --output stdout:21");
    assert_eq!(marked_in(&text, "start.c"), [9, 11, 13, 14], "{text}");
}

/// A request goes to another process and its answer comes back: the slice goes on in the one that asked.
#[test]
fn an_answer_leads_back_to_the_request() {
    let source = r#"#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int to[2], from[2], number, got;
    if (pipe(to) || pipe(from))
        return 1;
    if (fork() == 0) {
        int asked;
        if (read(to[0], &asked, sizeof asked) != sizeof asked)
            _exit(1);
        asked = asked * 2;
        write(from[1], &asked, sizeof asked);
        _exit(0);
    }
    number = argc + 6;
    int unused = argc + 7;
    write(to[1], &number, sizeof number);
    if (read(from[0], &got, sizeof got) != sizeof got)
        return unused;
    printf("%d\n", got);
    return 0;
}
"#;
    let mut sandbox = Sandbox::with_program("ask", source);
    sandbox.record("./ask", "");
    let text = sandbox.quietly("relapse slice run --output stdout@0");
    let marked = marked_lines(&text);
    for line in [11, 12, 15, 17, 20] {
        assert!(marked.contains(&line), "line {line}: {text}");
    }
    assert!(!marked.contains(&16), "{text}");
}

/// Runs one line in itself and in a child, which fails there if it is told to.
const TWICE: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int __attribute__((noinline)) work(int *from, int n) {
    return *from + n;
}

int main(int argc, char **argv) {
    int own = 1, status = 0;
    (void)argv;
    printf("%d\n", work(&own, 1));
    fflush(stdout);
    if (fork() == 0) {
        printf("%d\n", work(argc > 1 ? NULL : &own, 2));
        return 0;
    }
    wait(&status);
    printf("%d\n", work(&own, 3));
    return status != 0;
}
"#;

#[test]
fn a_line_and_a_difference_are_asked_in_the_process_that_failed() {
    let sandbox = Sandbox::with_program("twice", TWICE);
    sandbox.execute("relapse record --quiet -o old -- ./twice", "");
    sandbox.execute("relapse record --quiet -o new -- ./twice x", "");
    let said = |line: &str| {
        let output = sandbox.execute(line, "");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let value = |line: &str| -> serde_json::Value {
        let (out, err) = said(line);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{line}: {e}: {out}{err}"))
    };
    let recording = recording::Recording::open(&sandbox.path().join("new")).unwrap();
    let child = recording.processes.iter().position(|process| process.info.forked_from.is_some()).unwrap();
    let name = |number: usize| recording.processes[number].name.clone();
    for question in ["--at twice.c:6", "--failure"] {
        let line = format!("relapse slice new {question} --json");
        assert_eq!(value(&line)["process"], name(child), "{question}");
        let told = format!("process {child} is asked, which crashed; --process takes another");
        assert!(said(&line).1.contains(&told), "{}", said(&line).1);
        // The parent ended with 1.
        let line = format!("{line} --process {}", 1 - child);
        assert_eq!(value(&line)["process"], name(1 - child), "{question}");
        assert!(!said(&line).1.contains("is asked"), "{}", said(&line).1);
    }
    let (out, _) = said("relapse diff old new");
    assert!(
        out.contains(&format!("process {child} (twice) is compared, as it made the difference: ")),
        "{out}"
    );
    assert!(out.contains("from"), "{out}");
    let (out, _) = said(&format!("relapse diff old new --process {}", 1 - child));
    assert!(!out.contains("is compared"), "{out}");
}
