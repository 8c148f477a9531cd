//! Variables, limits, addresses, the clock: properties of the machine and of the start.

use crate::sandbox::Sandbox;
use environment::find::Verdict;
use std::net::{TcpListener, TcpStream};

#[test]
fn an_occupied_port() {
    let shop = Sandbox::new();
    shop.cc(
        "server",
        r#"
        #include <arpa/inet.h>
        #include <stdlib.h>
        #include <sys/socket.h>
        int main(int argc, char **argv) {
            int s = socket(AF_INET, SOCK_STREAM, 0);
            struct sockaddr_in a = {AF_INET, htons(atoi(argv[1])), {htonl(INADDR_LOOPBACK)}};
            if (bind(s, (struct sockaddr *)&a, sizeof a)) return 1;
            return listen(s, 1) != 0;
        }"#,
        &[],
    );
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let words = ["./server", &port.to_string()];
    let there = shop.record(&words);
    let _occupied = TcpListener::bind(("127.0.0.1", port)).unwrap();
    assert_eq!(
        shop.sentence(there, &words),
        format!(
            "bind(127.0.0.1:{port}) gave EADDRINUSE here; there it succeeded; with that result the command passes"
        )
    );
}

#[test]
fn a_peer_that_does_not_answer() {
    let shop = Sandbox::new();
    shop.cc(
        "client",
        r#"
        #include <arpa/inet.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            char answer[16] = {0};
            int s = socket(AF_INET, SOCK_STREAM, 0);
            struct sockaddr_in a = {AF_INET, htons(atoi(argv[1])), {htonl(INADDR_LOOPBACK)}};
            if (connect(s, (struct sockaddr *)&a, sizeof a)) return 1;
            write(s, "hello?", 6);
            for (int n = 0, got; n < 5; n += got)
                if ((got = read(s, answer + n, 5 - n)) <= 0) return 2;
            return strcmp(answer, "hello") != 0;
        }"#,
        &[],
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peer = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let mut stream: TcpStream = listener.accept().unwrap().0;
        stream.read_exact(&mut [0; 6]).unwrap();
        stream.write_all(b"hello").unwrap();
    });
    let words = ["./client", &port.to_string()];
    let there = shop.record(&words);
    peer.join().unwrap();
    assert_eq!(
        shop.sentence(there, &words),
        format!(
            "connect(127.0.0.1:{port}) gave ECONNREFUSED here; there it succeeded; with that result the command passes"
        )
    );
}

#[test]
fn a_variable() {
    let mut shop = Sandbox::new();
    shop.set("APP_MODE", Some("fast"));
    let words = ["sh", "-c", "test \"$APP_MODE\" = fast"];
    let there = shop.record(&words);
    shop.set("APP_MODE", None);
    shop.set("UNRELATED", Some("1"));
    assert_eq!(
        shop.sentence(there, &words),
        "the variable APP_MODE is not set here; there it was \"fast\"; with that value the command passes"
    );
}

#[test]
fn a_changed_locale() {
    let mut shop = Sandbox::new();
    shop.file("words", "b\nA\na\nB\n");
    shop.cc(
        "app",
        r#"
        #include <langinfo.h>
        #include <locale.h>
        #include <string.h>
        int main(void) {
            setlocale(LC_ALL, "");
            return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
        }"#,
        &[],
    );
    shop.set("LC_ALL", Some("C.UTF-8"));
    let there = shop.record(&["./app"]);
    shop.set("LC_ALL", Some("C"));
    assert_eq!(
        shop.sentence(there, &["./app"]),
        "the variable LC_ALL is \"C\" here; there it was \"C.UTF-8\"; with that value the command passes"
    );
}

#[test]
fn another_time_zone_by_file() {
    let mut shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <time.h>
        int main(void) {
            time_t t = 0;
            return localtime(&t)->tm_hour != 0;
        }"#,
        &[],
    );
    let zone = shop.path().join("localtime");
    // The simplest zone files: one type of local time, no transitions.
    let file = |offset: i32| {
        let mut bytes = b"TZif\0".to_vec();
        bytes.extend([0; 15]);
        for count in [0u32, 0, 0, 0, 1, 4] {
            bytes.extend(count.to_be_bytes());
        }
        bytes.extend(offset.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(b"LMT\0");
        bytes
    };
    std::fs::write(&zone, file(0)).unwrap();
    shop.set("TZ", Some(&format!(":{}", zone.display())));
    let there = shop.record(&["./app"]);
    std::fs::write(&zone, file(3600)).unwrap();
    let culprits = shop.culprits(there, &["./app"]);
    assert_eq!((culprits.len(), culprits[0].kind), (1, "file"));
    assert!(culprits[0].name.ends_with("localtime"), "{culprits:?}");
}

#[test]
fn a_smaller_stack() {
    let mut shop = Sandbox::new();
    shop.cc(
        "deep",
        r#"
        #include <string.h>
        int deep(int n) { volatile char page[4096]; page[n & 7] = n; return n ? deep(n - 1) + page[0] : 0; }
        int main(void) { return deep(500) & 0; }"#,
        &["-O0"],
    );
    let there = shop.record(&["./deep"]);
    shop.limits = vec![(nix::libc::RLIMIT_STACK, 256 << 10, nix::libc::RLIM_INFINITY)];
    let sentence = shop.sentence(there, &["./deep"]);
    assert!(
        sentence.starts_with("the limit on stack size (ulimit -s) is 262144 here; there it was"),
        "{sentence}"
    );
}

#[test]
fn a_smaller_file_size() {
    let mut shop = Sandbox::new();
    let words = ["sh", "-c", "head -c 100000 /dev/zero > big && rm big"];
    let there = shop.record(&words);
    shop.limits = vec![(nix::libc::RLIMIT_FSIZE, 4096, nix::libc::RLIM_INFINITY)];
    let sentence = shop.sentence(there, &words);
    assert!(sentence.starts_with("the limit on file size (ulimit -f) is 4096 here"), "{sentence}");
}

#[test]
fn a_moment_in_time() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <time.h>
        int main(int argc, char **argv) { return time(0) >= atoll(argv[1]); }"#,
        &[],
    );
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let words = ["./app", &(now + 3).to_string()];
    let there = shop.record(&words);
    std::thread::sleep(std::time::Duration::from_secs(4));
    let culprits = shop.culprits(there, &words);
    assert_eq!((culprits.len(), culprits[0].kind), (1, "time"));
}

#[test]
fn another_argument() {
    let shop = Sandbox::new();
    let there = shop.record(&["sh", "-c", "exit $1", "sh", "0"]);
    assert_eq!(
        shop.sentence(there, &["sh", "-c", "exit $1", "sh", "4"]),
        "argument 4 is \"4\" here; there it was \"0\"; with that value the command passes"
    );
}

#[test]
fn another_number_of_arguments() {
    let shop = Sandbox::new();
    let there = shop.record(&["sh", "-c", "exit $#", "sh"]);
    assert_eq!(
        shop.sentence(there, &["sh", "-c", "exit $#", "sh", "a", "b"]),
        "the arguments are \"-c\" \"exit $#\" \"sh\" \"a\" \"b\" here; there they were \"-c\" \"exit $#\" \"sh\"; \
         with that value the command passes"
    );
}

#[test]
fn python_of_which_one_read_is_guilty() {
    let shop = Sandbox::new();
    let script = "import json, argparse, logging, unittest, asyncio, http.client, xml.dom.minidom\nassert json.load(open('data.json'))['ok']\n";
    shop.file("test.py", script);
    shop.file("data.json", "{\n \"name\": 1,\n \"ok\": true\n}\n");
    let words = ["/usr/bin/python3", "test.py"];
    let there = shop.record(&words);
    let calls = there.calls.len();
    shop.file("data.json", "{\n \"name\": 2,\n \"ok\": false\n}\n");
    let answer = shop.find(there, &words);
    let Verdict::Found(culprits) = &answer.verdict else { panic!("{answer:#?}") };
    assert_eq!(culprits.len(), 1, "{culprits:#?}");
    assert!(calls > 1000, "{calls} calls");
    assert_eq!(
        shop.plain(&culprits[0].sentence),
        "read(\"./data.json\") gave other text here: line 3 is \" \\\"ok\\\": false\"; there line 3 is \" \\\"ok\\\": true\"; \
         with that text the command passes"
    );
    // Narrowing to the line takes runs of its own.
    assert!(answer.runs <= (calls as f64).log2() as usize + 3 + 3, "{} runs", answer.runs);
}

#[test]
fn threads_and_processes_are_followed() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *look(void *bad) {
            FILE *f = fopen("in-a-thread", "r");
            if (!f) *(int *)bad = 1;
            return 0;
        }
        int main(void) {
            int bad = 0, status;
            if (fork() == 0) {
                pthread_t t[4];
                for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, look, &bad);
                for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
                if (bad) return 3;
                execl("/bin/cat", "cat", "in-a-program", (char *)0);
            }
            wait(&status);
            return status != 0;
        }"#,
        &["-pthread"],
    );
    shop.file("in-a-thread", "1");
    shop.file("in-a-program", "1");
    let there = shop.record(&["./app"]);
    std::fs::remove_file(shop.path().join("in-a-thread")).unwrap();
    std::fs::remove_file(shop.path().join("in-a-program")).unwrap();
    let names: Vec<String> =
        shop.culprits(there, &["./app"]).into_iter().map(|c| shop.plain(&c.name)).collect();
    assert_eq!(names, ["./in-a-thread", "./in-a-program"]);
}

#[test]
fn an_element_of_a_path() {
    let mut shop = Sandbox::new();
    let bin = shop.path().join("tools/bin").display().to_string();
    shop.cc("tools/bin/tool", "int main(void) { return 0; }", &[]);
    shop.set("PATH", Some(&format!("/opt/a:/usr/bin:{bin}:/opt/b:/bin")));
    let there = shop.record(&["sh", "-c", "tool"]);
    shop.set("PATH", Some("/usr/bin:/bin:/opt/c"));
    assert_eq!(
        shop.sentence(there, &["sh", "-c", "tool"]),
        "the variable PATH lacks \"./tools/bin\" here; there it had it; with that value the command passes"
    );
}

#[test]
fn standard_input() {
    let shop = Sandbox::new();
    let there = shop.record_with(&["grep", "-q", "good"], "good\n");
    let answer = shop.find(there, &["grep", "-q", "good"]);
    let Verdict::Found(culprits) = &answer.verdict else { panic!("{answer:#?}") };
    assert_eq!(
        culprits[0].sentence,
        "read(standard input) gave \"\" here; there it gave \"good\\n\"; with that result the command passes"
    );
}

#[test]
fn a_verdict_that_does_not_hold_is_flaky() {
    let mut shop = Sandbox::new();
    // Its state from former runs is not part of a recording. Only the second run fails.
    shop.cc(
        "app",
        r#"
        #include <sys/ipc.h>
        #include <sys/shm.h>
        int main(void) {
            int id = shmget(ftok("app.c", 7), sizeof(int), IPC_CREAT | 0600);
            int *runs = shmat(id, 0, 0), run = (*runs)++;
            if (run >= 3) shmctl(id, IPC_RMID, 0);
            return run == 1;
        }"#,
        &[],
    );
    let there = shop.record(&["./app"]);
    shop.set("UNRELATED", Some("1"));
    let answer = shop.find(there, &["./app"]);
    assert_eq!(answer.verdict, Verdict::Flaky, "{answer:#?}");
}

#[test]
fn nothing_to_find() {
    let shop = Sandbox::new();
    let there = shop.record(&["true"]);
    let answer = shop.find(there, &["true"]);
    assert_eq!((answer.verdict, answer.runs), (Verdict::Passes, 1));
}

#[test]
fn what_no_recording_can_help() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"#include <signal.h>
        int main(int argc, char **argv) { return argc > 1 ? raise(SIGKILL) : 0; }"#,
        &[],
    );
    let mut there = shop.record(&["./app"]);
    there.start.arguments.push(b"x".to_vec());
    let answer = shop.find(there, &["./app", "x"]);
    assert_eq!(answer.verdict, Verdict::NotReplayed);
    assert_eq!(answer.here.status, 128 + 9);
}

#[test]
fn a_command_that_hangs_fails_and_leaves_nothing() {
    let shop = Sandbox::new();
    let path = shop.file("go", "");
    let words = ["sh", "-c", "test -e go || sleep 1000 & wait"];
    let there = shop.record(&words);
    std::fs::remove_file(path).unwrap();
    let options = environment::find::Options { judge: None, limit: std::time::Duration::from_secs(2) };
    let answer = shop.find_with(there, &words, &options);
    assert!(answer.here.timed_out);
    let Verdict::Found(culprits) = &answer.verdict else { panic!("{answer:#?}") };
    assert!(culprits[0].sentence.contains("go"), "{culprits:?}");
}

#[test]
fn output_counts_if_the_exit_code_is_the_same() {
    let shop = Sandbox::new();
    shop.file("words", "b\na\n");
    let there = shop.record(&["sort", "words"]);
    shop.file("words", "b\nc\n");
    let culprits = shop.culprits(there, &["sort", "words"]);
    assert_eq!(shop.plain(&culprits[0].name), "./words");
}

#[test]
fn a_peer_that_answers_datagrams_in_another_way() {
    let shop = Sandbox::new();
    let ask = |how: &str| {
        format!(
            r#"
            #include <arpa/inet.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/socket.h>
            #include <sys/time.h>
            int main(int argc, char **argv) {{
                int s = socket(AF_INET, SOCK_DGRAM, 0);
                struct sockaddr_in a = {{AF_INET, htons(atoi(argv[1])), {{htonl(INADDR_LOOPBACK)}}}};
                struct timeval wait = {{1, 0}};
                setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
                char answer[16] = "";
                {how}
                if (recvfrom(s, answer, sizeof answer - 1, 0, 0, 0) < 0) return 2;
                return strcmp(answer, "yes") != 0;
            }}"#
        )
    };
    shop.cc("unconnected", &ask("sendto(s, \"?\", 1, 0, (struct sockaddr *)&a, sizeof a);"), &[]);
    shop.cc("connected", &ask("connect(s, (struct sockaddr *)&a, sizeof a); send(s, \"?\", 1, 0);"), &[]);
    for program in ["./unconnected", "./connected"] {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port().to_string();
        // Once as recorded, and then as it is here, any number of times.
        std::thread::spawn(move || {
            let mut buffer = [0; 16];
            for answer in std::iter::once("yes").chain(std::iter::repeat("no")) {
                let Ok((_, from)) = socket.recv_from(&mut buffer) else { return };
                let _ = socket.send_to(answer.as_bytes(), from);
            }
        });
        let there = shop.record(&[program, &port]);
        let sentence = shop.sentence(there, &[program, &port]);
        assert!(sentence.contains(&format!("(udp:127.0.0.1:{port})")), "{sentence}");
        assert!(sentence.contains("with that"), "{sentence}");
    }
}

/// Where a hard limit may not be raised, even by root in a container, the answer notes it.
#[test]
fn a_limit_that_may_not_be_raised() {
    let mut shop = Sandbox::new();
    let words = ["perl", "-e", "for (1 .. 60) { open $f[$_], '<', '/dev/null' or exit 1 }"];
    let there = shop.record(&words);
    let number = nix::libc::RLIMIT_NOFILE;
    shop.limits = vec![(number, 40, 40)];
    let own = there.start.limits.iter().find(|limit| limit.0 == number).unwrap().2;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    let may = u64::from_str_radix(set.trim(), 16).unwrap() >> 24 & 1 == 1;
    // This process can give at most its own limits; the command gets 40.
    let answer = shop.find(there, &words);
    match answer.verdict {
        Verdict::Found(culprits) => {
            assert!(may && own > 40, "{culprits:?}");
            assert!(
                culprits[0].sentence.starts_with("the limit on number of open files (ulimit -n) is 40 here")
            );
        }
        other => {
            assert!(!may, "{other:?}");
            let note = "the limit on number of open files (ulimit -n), which may not be raised above 40 here";
            assert!(answer.notes.iter().any(|told| told == note), "{:?}", answer.notes);
        }
    }
}
