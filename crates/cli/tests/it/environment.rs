//! `relapse environment`: sessions with commands that pass there and fail here.

use crate::sandbox::{Sandbox, feed};
use std::process::Command;

const CONFIG: &str = "name = app\nmode = fast\n";

/// A recording in `there` of a script that needs a line of a file.
fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.file("app.conf", CONFIG);
    sandbox.file("app", "grep -q 'mode = fast' app.conf\n");
    sandbox.quietly("relapse environment record --quiet -o there -- sh app");
    sandbox
}

#[test]
fn the_guilty_line_is_found() {
    let sandbox = recorded();
    sandbox.file("app.conf", "name = other\nmode = slow\n");
    let output = sandbox.execute("relapse environment find there -- sh app", "");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let path = sandbox.path().join("app.conf").display().to_string();
    assert_eq!(
        lines[..3],
        [
            format!(
                "found: read(\"{path}\") gave other text here: line 2 is \"mode = slow\"; there line 2 is \
                 \"mode = fast\"; with that text the command passes"
            )
            .as_str(),
            "  here   mode = slow",
            "  there  mode = fast",
        ]
    );
    assert!(lines[3].ends_with("judged by exit code"), "{text}");
    assert_eq!(output.status.code(), Some(0));
    sandbox.file("app.conf", CONFIG);
    assert_eq!(sandbox.execute("relapse environment find there -- sh app", "").status.code(), Some(6));
}

#[test]
fn the_answer_in_json_has_its_schema() {
    let sandbox = recorded();
    std::fs::remove_file(sandbox.path().join("app.conf")).unwrap();
    let output = sandbox.execute("relapse environment find there --json -- sh app", "");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = include_str!("../../../../docs/schemas/environment-find-1.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    assert_eq!(answer["schema"], schema["properties"]["schema"]["const"]);
    for name in schema["required"].as_array().unwrap() {
        assert!(answer.get(name.as_str().unwrap()).is_some(), "{name} is missing");
    }
    let properties = schema["properties"].as_object().unwrap();
    assert!(answer.as_object().unwrap().keys().all(|name| properties.contains_key(name)));
    assert_eq!(answer["verdict"], "found");
    assert_eq!(answer["culprits"][0]["kind"], "file");
    for name in schema["$defs"]["culprit"]["required"].as_array().unwrap() {
        assert!(answer["culprits"][0].get(name.as_str().unwrap()).is_some(), "{name} is missing");
    }
}

#[test]
fn the_command_keeps_its_exit_code_and_output() {
    let sandbox = Sandbox::new();
    sandbox.file("say", "cat; exit 3\n");
    let output = sandbox.execute("relapse environment record -o there -- sh say", "hello\n");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), b"hello\n".as_slice()));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("relapse: recorded "));
}

#[test]
fn secrets_are_shown_and_taken_out() {
    let mut sandbox = Sandbox::new();
    sandbox.file("deploy.key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_relapse"));
    command.args(["environment", "record", "--quiet", "-o", "there", "cat", "deploy.key"]);
    command.env("APP_TOKEN", "abc123secret").current_dir(sandbox.path());
    assert!(feed(command, b"").status.success());
    let shown = sandbox.quietly("relapse environment show there");
    assert!(shown.contains("  variable APP_TOKEN: its name says so"), "{shown}");
    assert!(shown.contains("  file ./deploy.key: such files keep secrets"), "{shown}");
    let unknown = sandbox.execute("relapse environment show there --redact NOBODY", "");
    assert_eq!(unknown.status.code(), Some(2));
    let shown =
        sandbox.quietly("relapse environment show there --redact APP_TOKEN --redact ./deploy.key --json");
    let answer: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(answer["schema"], "relapse.environment-show/1");
    let left: Vec<&serde_json::Value> = answer["secrets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|secret| secret["name"] == "APP_TOKEN" || secret["name"] == "./deploy.key")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!shown.contains("abc123secret"));
}

#[test]
fn mistakes_are_explained() {
    let mut sandbox = Sandbox::new();
    sandbox.run("relapse environment find nowhere true");
    std::fs::create_dir(sandbox.path().join("broken")).unwrap();
    sandbox.file("broken/environment.rec", "not what it should be, and rather short");
    sandbox.run("relapse environment show broken");
    sandbox.run("relapse environment record -o there no-such-command-anywhere");
    assert_session!(sandbox, @r"
    $ relapse environment find nowhere true
    [stderr] relapse: failed to read nowhere/environment.rec: No such file or directory (os error 2)
    [stderr]  `relapse environment record -o DIR CMD` makes recordings.
    [exit 2]
    $ relapse environment show broken
    [stderr] relapse: failed to read broken/environment.rec: not a record of an environment
    [exit 3]
    $ relapse environment record -o there no-such-command-anywhere
    [stderr] relapse: failed to run no-such-command-anywhere: there is no such command
    [exit 10]
    ");
}

/// Runs a command for which one system call gives `EPERM`, as some containers do.
const FORBID: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(argv[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
    execv(argv[2], argv + 2);
    return 98;
}
"#;

#[test]
fn a_kernel_that_forbids_it_is_named() {
    let mut sandbox = Sandbox::new();
    sandbox.file("forbid.c", FORBID);
    sandbox.quietly("cc -o forbid forbid.c");
    let relapse = env!("CARGO_BIN_EXE_relapse");
    // 101 is ptrace on x86-64.
    let output = sandbox.execute(&format!("./forbid 101 {relapse} environment record -o there true"), "");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(
        text.starts_with("relapse: failed to trace system calls: ptrace is not permitted here"),
        "{text}"
    );
    assert!(text.contains("--cap-add=SYS_PTRACE"), "{text}");
}
