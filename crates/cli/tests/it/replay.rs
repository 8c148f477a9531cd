//! `relapse replay`: figures, JSON, and what is wrong with a recording.

use crate::sandbox::Sandbox;
use replay::machine::{Machine, Stop};
use replay::observer::Null;
use replay::process::{LoadedProcess, Options};
use std::path::PathBuf;

const LOOP: &str = r#"
#include <stdio.h>
int main(void) {
    char line[64];
    unsigned h = 0;
    while (fgets(line, sizeof line, stdin))
        for (char *p = line; *p; p++) h = h * 31 + (unsigned char)*p;
    printf("%u\n", h);
    return 0;
}
"#;

fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::with_program("loop", LOOP);
    let input: String = (0..2000).map(|i| format!("line {i} {}\n", i * i)).collect();
    let output = sandbox.record("./loop", &input);
    assert!(output.status.success(), "{output:?}");
    sandbox
}

fn file(sandbox: &Sandbox, name: &str) -> PathBuf {
    let process = std::fs::read_dir(sandbox.path().join("run"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.is_dir() && !p.ends_with("models"))
        .expect("a process directory");
    process.join(name)
}

#[test]
fn json_has_the_figures() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse replay run --json");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["schema"], "relapse.replay/1");
    assert_eq!(answer["exact"], true);
    assert_eq!(answer["complete"], true);
    let instructions = answer["instructions"].as_u64().unwrap();
    // About 35,000 characters, a handful of instructions each.
    assert!((100_000..2_000_000).contains(&instructions), "{instructions}");
    let bytes = answer["bytes"].as_u64().unwrap();
    assert!(bytes > 0);
    let rate = answer["bits_per_instruction"].as_f64().unwrap();
    assert!((rate - bytes as f64 * 8.0 / instructions as f64).abs() < 1e-9);
    assert!(answer["loads"].as_u64().unwrap() > answer["mispredicted"].as_u64().unwrap());
    assert!(answer["replay_seconds"].as_f64().unwrap() > 0.0);
    let process = &answer["processes"][0];
    assert_eq!(process["instructions"], answer["instructions"]);
    assert_eq!(process["streams"][0]["stream"], "t0");
    assert_eq!(process["streams"][0]["end"], serde_json::json!({ "how": "exit", "status": 0 }));
}

#[test]
fn a_cut_stream_replays_up_to_the_cut() {
    let mut sandbox = recorded();
    let whole: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse replay run --json")).unwrap();
    let stream = file(&sandbox, "t0");
    let bytes = std::fs::read(&stream).unwrap();
    // Any cut is found out, wherever it is.
    for cut in [bytes.len() - 1, bytes.len() / 2, 300, 100, 10, 0] {
        std::fs::write(&stream, &bytes[..cut.min(bytes.len())]).unwrap();
        let output = sandbox.execute("relapse replay run --json", "");
        assert_eq!(output.status.code(), Some(3), "{cut}: {}", String::from_utf8_lossy(&output.stdout));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["exact"], false, "{cut}");
        let instructions = answer["instructions"].as_u64().unwrap();
        assert!(instructions <= whole["instructions"].as_u64().unwrap());
    }
}

#[test]
fn a_changed_byte_is_found() {
    let mut sandbox = recorded();
    let stream = file(&sandbox, "t0");
    let bytes = std::fs::read(&stream).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        std::fs::write(&stream, &changed).unwrap();
        let output = sandbox.execute("relapse replay run", "");
        let code = output.status.code();
        assert!(
            matches!(code, Some(1 | 3)),
            "byte {at}: {code:?}\n{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    std::fs::write(&stream, &bytes).unwrap();
    sandbox.quietly("relapse replay run");
}

#[test]
fn another_build_is_refused_with_both_build_ids() {
    let mut sandbox = recorded();
    std::fs::remove_dir_all(sandbox.path().join("run/models")).unwrap();
    sandbox.file("loop.c", &LOOP.replace("31", "33"));
    sandbox.quietly("relapse cc -g -O1 -o loop loop.c");
    sandbox.run("relapse replay run");
    assert_session!(sandbox, @r#"
    $ relapse replay run
    [stderr] relapse: failed to find module [ID] in [DESK]/loop: the recording was made with another build (recorded build id [ID], the file has [ID])
    [stderr]  Record again, or keep the recorded file and name it: relapse replay --binary FILE.
    [exit 3]
    "#);
}

#[test]
fn missing_files_are_named() {
    let mut sandbox = recorded();
    std::fs::remove_dir_all(sandbox.path().join("run/models")).unwrap();
    std::fs::remove_file(sandbox.path().join("loop")).unwrap();
    sandbox.run("relapse replay run");
    assert_session!(sandbox, @r#"
    $ relapse replay run
    [stderr] relapse: failed to load the program model: read [DESK]/loop: No such file or directory (os error 2)
    [stderr]  A recording without the model of its program, such as one of an older relapse, needs the binaries it was made with, unchanged.
    [exit 3]
    "#);
}

#[test]
fn a_stream_of_another_run_is_refused() {
    let mut sandbox = recorded();
    let ours = file(&sandbox, "t0");
    sandbox.quietly("relapse record --quiet -o other -- ./loop");
    let other = std::fs::read_dir(sandbox.path().join("other")).unwrap().map(|e| e.unwrap().path());
    let other = other.into_iter().map(|p| p.join("t0")).find(|p| p.is_file()).unwrap();
    std::fs::copy(other, ours).unwrap();
    let output = sandbox.execute("relapse replay run", "");
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("it is a stream of another process"), "{text}");
}

#[test]
fn a_binary_is_known_by_its_build_not_by_its_name() {
    let mut sandbox = recorded();
    std::fs::rename(sandbox.path().join("loop"), sandbox.path().join("kept.bin")).unwrap();
    std::fs::remove_dir_all(sandbox.path().join("run/models")).unwrap();
    assert_eq!(sandbox.execute("relapse replay run", "").status.code(), Some(3));
    sandbox.quietly("relapse replay run --binary kept.bin");
}

#[test]
fn input_and_output_of_a_damaged_stream_are_not_passed_off_as_whole() {
    let mut sandbox = recorded();
    sandbox.quietly("relapse dump io run");
    let stream = file(&sandbox, "t0");
    let bytes = std::fs::read(&stream).unwrap();
    std::fs::write(&stream, &bytes[..bytes.len() / 2]).unwrap();
    let output = sandbox.execute("relapse dump io run", "");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn sources_that_were_edited_since_are_named() {
    let sandbox = recorded();
    let values = || {
        let output = sandbox.execute("relapse values run loop.c:7 h", "");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(values(), "");
    sandbox.file("loop.c", &LOOP.replace("31", "33"));
    assert!(values().contains("loop.c was changed since the recorded program was built"), "{}", values());
    std::fs::remove_file(sandbox.path().join("loop.c")).unwrap();
    assert!(
        values().contains("loop.c is not there any more; lines are shown without their text"),
        "{}",
        values()
    );
}

/// The recording keeps the models and constants of its program, once for all processes.
#[test]
fn a_recording_outlives_its_program() {
    let mut sandbox = recorded();
    let models = || std::fs::read_dir(sandbox.path().join("run/models")).unwrap().count();
    assert_eq!(models(), 1);
    let before = sandbox.quietly("relapse values run loop.c:8 h");
    sandbox.file("loop.c", &LOOP.replace("31", "33"));
    sandbox.quietly("relapse cc -g -O1 -o loop loop.c");
    assert_eq!(sandbox.quietly("relapse values run loop.c:8 h"), before);
    std::fs::remove_file(sandbox.path().join("loop")).unwrap();
    assert_eq!(sandbox.quietly("relapse values run loop.c:8 h"), before);
}

/// Tests build programs, run them and remove them.
#[test]
fn a_program_that_is_gone_before_the_recording_ends_is_kept() {
    let mut sandbox = Sandbox::with_program("loop", LOOP);
    std::fs::create_dir(sandbox.path().join("below")).unwrap();
    let library = "int twice(int n) { return n + n; }\n";
    sandbox.file("plugin.c", library);
    sandbox.quietly("relapse cc -g -shared -fPIC -o below/plugin.so plugin.c");
    let host = "#include <dlfcn.h>\n#include <stdio.h>\n#include <unistd.h>\n\nint main(void) {\n    \
                chdir(\"below\");\n    void *plugin = dlopen(\"./plugin.so\", RTLD_NOW);\n    \
                int (*twice)(int) = (int (*)(int))dlsym(plugin, \"twice\");\n    \
                printf(\"%d\\n\", twice(21));\n    return 0;\n}\n";
    sandbox.file("host.c", host);
    sandbox.quietly("relapse cc -g -o host host.c");
    sandbox.file("both.sh", "./host; rm host below/plugin.so; echo b | ./loop\n");
    let output = sandbox.record("sh both.sh", "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "");
    let models = std::fs::read_dir(sandbox.path().join("run/models")).unwrap();
    let names: Vec<String> = models.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| !name.ends_with(".elf")), "{names:?}");
    sandbox.quietly("relapse replay run");
}

/// The others are kept and replayed all the same.
#[test]
fn a_program_of_which_nothing_is_left_takes_no_other_with_it() {
    let mut sandbox = Sandbox::with_program("loop", LOOP);
    std::fs::copy(sandbox.path().join("loop"), sandbox.path().join("gone")).unwrap();
    sandbox.file("both.sh", "echo b | ./loop; echo a | ./gone; rm gone \"$RELAPSE_RECORD_DIR\"/models/*\n");
    let output = sandbox.record("sh both.sh", "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("gone: ") && said.contains("can be replayed only with the binary"), "{said}");
    assert_eq!(std::fs::read_dir(sandbox.path().join("run/models")).unwrap().count(), 1, "{said}");
    let output = sandbox.execute("relapse replay run --json", "");
    assert_eq!(output.status.code(), Some(3));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["exact"], false);
    let processes = answer["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2);
    for process in processes {
        let is_gone = process["executable"].as_str().unwrap().ends_with("gone");
        assert_eq!(process["exact"], !is_gone, "{process}");
        assert_eq!(process["error"].as_str().is_some_and(|e| e.contains("gone: No such file")), is_gone);
    }
}

const FORKS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int n = atoi(argv[1]), sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 1000; j++) sum += i * j;
        fflush(stdout);
        if (fork() == 0) {
            if (i % 3 == 0 && fork() == 0) sum *= 7;
            printf("%d\n", sum + i);
            return i;
        }
    }
    while (wait(NULL) > 0);
    return 0;
}
"#;

/// Processes of one program share its model and its code, and are replayed beside each other: with
/// the same figures as each alone. Damage to one is told of that one.
#[test]
fn many_processes_of_one_program_replay_as_each_alone() {
    let mut sandbox = Sandbox::with_program("forks", FORKS);
    sandbox.file("many.sh", "for i in 1 2 3 4 5 6 7 8 9; do ./forks $i; done");
    sandbox.record("sh many.sh", "");
    let verified = |sandbox: &Sandbox, jobs: &str, exit: i32| {
        let output = sandbox.execute(&format!("relapse replay run --json -j {jobs}"), "");
        assert_eq!(output.status.code(), Some(exit), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["processes"].as_array().unwrap().clone()
    };
    let processes = verified(&sandbox, "3", 0);
    // Each has children, every third of which has one.
    assert_eq!(processes.len(), 9 + 45 + 18);
    let recording = recording::Recording::open(&sandbox.path().join("run")).unwrap();
    for (process, recorded) in processes.iter().zip(&recording.processes) {
        let alone = LoadedProcess::load(&recording, recorded, &Options::default()).unwrap();
        let mut machine = Machine::new(&alone.image, &alone.streams[0].stream);
        assert!(matches!(machine.run(&mut Null, u64::MAX), Ok(Stop::Ended(_))));
        assert_eq!(process["process"], recorded.name.as_str());
        if recorded.info.forked_from.is_none() {
            assert_eq!(process["instructions"], machine.counters().instructions, "{process}");
            assert_eq!(process["loads"], machine.counters().loads, "{process}");
        }
    }
    let without_times = |mut processes: Vec<serde_json::Value>| {
        processes.iter_mut().for_each(|p| p["replay_seconds"] = 0.into());
        processes
    };
    assert_eq!(without_times(verified(&sandbox, "1", 0)), without_times(processes));
    let childless = |p: &&recording::Process| {
        let is_parent = |q: &recording::Process| q.info.forked_from.is_some_and(|f| f.pid == p.info.pid);
        !recording.processes.iter().any(is_parent)
    };
    let last = recording.processes.iter().rfind(childless).unwrap();
    let stream = &last.streams[0].path;
    let bytes = std::fs::read(stream).unwrap();
    std::fs::write(stream, &bytes[..bytes.len() - 3]).unwrap();
    for process in verified(&sandbox, "2", 3) {
        let damage = &process["streams"][0]["damage"];
        assert_eq!(damage.is_string(), process["process"] == last.name.as_str(), "{process}");
    }
}

/// A copy that is damaged is not used while the binary is there, and named when it is not.
#[test]
fn a_damaged_model_is_named() {
    let mut sandbox = recorded();
    let directory = sandbox.path().join("run/models");
    let file = std::fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&file, &bytes).unwrap();
    sandbox.quietly("relapse replay run");
    std::fs::remove_file(sandbox.path().join("loop")).unwrap();
    let output = sandbox.execute("relapse replay run", "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the recording's own copy is of no use"), "{said}");
}

/// A large block of the heap is made small in place and then freed, while its former end is in use.
#[test]
fn the_end_that_a_block_lost_is_not_freed_with_it() {
    let mut sandbox = Sandbox::with_program(
        "p",
        r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    // glibc takes later blocks of this size from the heap, after one was unmapped.
    free(malloc(4 << 20));
    char *large = malloc(1 << 20);
    memset(large, 'x', 1 << 20);
    char *small = realloc(large, 1000);
    int in_place = small == large;
    char *other = malloc(200000);
    memset(other, 'z', 200000);
    free(small);
    unsigned sum = 0;
    for (int i = 0; i < 200000; i++)
        sum += other[i];
    printf("%d %u\n", in_place, sum);
}
"#,
    );
    let output = sandbox.record("./p", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 24400000\n");
    let answer: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse replay run --json")).unwrap();
    assert!(answer["loads"].as_u64().unwrap() >= 200_000);
    assert!(answer["mispredicted"].as_u64().unwrap() < 100, "{}", answer["mispredicted"]);
}
