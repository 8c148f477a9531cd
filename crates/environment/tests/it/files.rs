//! Files, directories and libraries that differ from the recorded ones.

use crate::sandbox::Sandbox;

const READS_CONFIG: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void) {
    char line[256];
    FILE *f = fopen("etc/app.conf", "r");
    if (!f) return 2;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "mode = slow", 11) == 0) return 1;
    return 0;
}
"#;

fn config(mode: &str) -> String {
    let mut text: String = (0..40).map(|n| format!("option{n} = {n}\n")).collect();
    text += &format!("mode = {mode}\n");
    text + &(40..60).map(|n| format!("option{n} = {n}\n")).collect::<String>()
}

#[test]
fn a_missing_file() {
    let shop = Sandbox::new();
    shop.cc("app", READS_CONFIG, &[]);
    let path = shop.file("etc/app.conf", &config("fast"));
    let there = shop.record(&["./app"]);
    std::fs::remove_file(path).unwrap();
    let size = config("fast").len();
    assert_eq!(
        shop.sentence(there, &["./app"]),
        format!(
            "open(\"./etc/app.conf\") gave ENOENT here; there it was a file of {size} bytes; \
             with that result the command passes"
        )
    );
}

#[test]
fn a_line_of_a_config_file() {
    let shop = Sandbox::new();
    shop.cc("app", READS_CONFIG, &[]);
    shop.file("etc/app.conf", &config("fast"));
    let there = shop.record(&["./app"]);
    // Other lines differ too, but do not matter.
    shop.file(
        "etc/app.conf",
        &config("slow").replace("option3 =", "option3  =").replace("option50 = 50\n", ""),
    );
    let culprits = shop.culprits(there, &["./app"]);
    assert_eq!(
        shop.plain(&culprits[0].sentence),
        "read(\"./etc/app.conf\") gave other text here: line 41 is \"mode = slow\"; \
         there line 41 is \"mode = fast\"; with that text the command passes"
    );
    assert_eq!((culprits.len(), culprits[0].lines.len()), (1, 1));
}

#[test]
fn a_line_is_shown_as_it_is() {
    let shop = Sandbox::new();
    shop.file("mode", "fast\n");
    let command = ["sh", "-c", "read mode < mode; test $mode = fast"];
    let there = shop.record(&command);
    shop.file("mode", "nothing\n");
    assert_eq!(
        shop.sentence(there, &command),
        "read(\"./mode\") gave other text here: line 1 is \"nothing\"; \
         there line 1 is \"fast\"; with that text the command passes"
    );
}

#[test]
fn a_file_that_is_too_much() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"#include <unistd.h>
        int main(void) { return access("lock", F_OK) == 0; }"#,
        &[],
    );
    let there = shop.record(&["./app"]);
    shop.file("lock", "");
    assert_eq!(
        shop.sentence(there, &["./app"]),
        "access(\"./lock\") succeeded here; there it gave ENOENT; with that result the command passes"
    );
}

#[test]
fn a_missing_directory_and_the_files_in_it() {
    let shop = Sandbox::new();
    shop.cc(
        "daemon",
        r#"
        #include <stdio.h>
        #include <sys/stat.h>
        int main(void) {
            FILE *pid = fopen("var/run/app/pid", "w");
            if (!pid) return 1;
            fprintf(pid, "%d\n", 1);
            fclose(pid);
            FILE *log = fopen("var/run/app/log", "a");
            if (!log) return 2;
            struct stat s;
            return stat("var/run/app/pid", &s) != 0;
        }"#,
        &[],
    );
    std::fs::create_dir_all(shop.path().join("var/run/app")).unwrap();
    let there = shop.record(&["./daemon"]);
    std::fs::remove_dir_all(shop.path().join("var/run")).unwrap();
    assert_eq!(
        shop.sentence(there, &["./daemon"]),
        "the directory ./var/run does not exist here (open(\"./var/run/app/pid\") gave ENOENT); \
         there it did; with that result the command passes"
    );
    assert!(!shop.path().join("var/run").exists());
}

#[test]
fn a_missing_shared_library() {
    let shop = Sandbox::new();
    shop.cc("libanswer.so", "int answer(void) { return 42; }", &["-shared", "-fPIC"]);
    shop.cc(
        "app",
        r#"int answer(void); int main(void) { return answer() != 42; }"#,
        &["-L.", "-l:libanswer.so", "-Wl,-rpath,$ORIGIN/lib"],
    );
    std::fs::create_dir(shop.path().join("lib")).unwrap();
    std::fs::rename(shop.path().join("libanswer.so"), shop.path().join("lib/libanswer.so")).unwrap();
    let there = shop.record(&["./app"]);
    std::fs::remove_file(shop.path().join("lib/libanswer.so")).unwrap();
    let sentence = shop.sentence(there, &["./app"]);
    assert!(
        sentence.starts_with("open(\"./lib/libanswer.so\") gave ENOENT here; there it was a file of"),
        "{sentence}"
    );
}

#[test]
fn a_program_that_a_script_needs() {
    let shop = Sandbox::new();
    shop.cc("bin/tool", "int main(void) { return 0; }", &[]);
    let there = shop.record(&["sh", "-c", "./bin/tool && echo ok"]);
    std::fs::remove_file(shop.path().join("bin/tool")).unwrap();
    let sentence = shop.sentence(there, &["sh", "-c", "./bin/tool && echo ok"]);
    assert!(sentence.contains("./bin/tool") && sentence.contains("ENOENT"), "{sentence}");
}

#[test]
fn a_listing_with_another_name() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <dirent.h>
        int main(void) {
            int n = 0;
            DIR *d = opendir("plugins");
            while (readdir(d)) n++;
            return n > 4;
        }"#,
        &[],
    );
    shop.file("plugins/a", "");
    shop.file("plugins/b", "");
    let there = shop.record(&["./app"]);
    shop.file("plugins/c", "");
    let sentence = shop.sentence(there, &["./app"]);
    assert!(sentence.starts_with("readdir(\"./plugins\") listed c here"), "{sentence}");
}

#[test]
fn two_culprits_at_once() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
            FILE *f = fopen("a.conf", "r");
            if (!f || fgetc(f) != '1') return 1;
            if (!getenv("NEEDED")) return 2;
            FILE *g = fopen("b.conf", "r");
            return !g || fgetc(g) != '1';
        }"#,
        &[],
    );
    let mut shop = shop;
    shop.file("a.conf", "1");
    shop.file("b.conf", "1");
    shop.set("NEEDED", Some("yes"));
    let there = shop.record(&["./app"]);
    shop.set("NEEDED", None);
    shop.file("a.conf", "0");
    std::fs::remove_file(shop.path().join("b.conf")).unwrap();
    let mut names: Vec<String> =
        shop.culprits(there, &["./app"]).into_iter().map(|culprit| shop.plain(&culprit.name)).collect();
    names.sort();
    assert_eq!(names, ["./a.conf", "./b.conf", "NEEDED"]);
}

#[test]
fn a_missing_name_and_the_listing_it_is_missing_in_are_one() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <dirent.h>
        #include <stdio.h>
        int main(void) {
            int n = 0;
            DIR *d = opendir("plugins");
            while (readdir(d)) n++;
            if (n != 4) return 1;
            return fopen("plugins/b", "r") == 0;
        }"#,
        &[],
    );
    shop.file("plugins/a", "");
    let path = shop.file("plugins/b", "1");
    let there = shop.record(&["./app"]);
    std::fs::remove_file(path).unwrap();
    let sentence = shop.sentence(there, &["./app"]);
    assert!(!sentence.contains('\n') && sentence.contains("./plugins/b"), "{sentence}");
}

#[test]
fn bytes_that_are_no_text() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <fcntl.h>
        #include <unistd.h>
        int main(void) {
            char b[8];
            int f = open("data", O_RDONLY);
            return read(f, b, 8) != 8 || b[5] != 7;
        }"#,
        &[],
    );
    shop.file("data", "abcd\0\x07gh");
    let there = shop.record(&["./app"]);
    shop.file("data", "abcd\0\x08gh");
    assert_eq!(
        shop.sentence(there, &["./app"]),
        "read(\"./data\") gave 08 67 68 at byte 5 here; there it gave 07 67 68 at byte 5; with that result the command passes"
    );
}

#[test]
fn a_directory_that_a_run_makes_itself_is_not_missing() {
    let shop = Sandbox::new();
    let words = ["sh", "-c", "cat in && mkdir out && cat in > out/copy && rm -r out"];
    let path = shop.file("in", "1");
    let there = shop.record(&words);
    std::fs::remove_file(path).unwrap();
    let sentence = shop.sentence(there, &words);
    assert!(
        sentence.starts_with("open(\"./in\") gave ENOENT here; there it was a file of 1 byte"),
        "{sentence}"
    );
    assert!(!sentence.contains('\n'), "{sentence}");
}

#[test]
fn a_file_that_the_run_itself_changes_is_as_it_was_before() {
    let shop = Sandbox::new();
    shop.cc(
        "app",
        r#"
        #include <stdio.h>
        static int get(void) {
            int n = 0;
            FILE *f = fopen("count", "r");
            fscanf(f, "%d", &n);
            fclose(f);
            return n;
        }
        int main(void) {
            if (get() != 1) return 1;
            FILE *f = fopen("count", "r+");
            fputs("22", f);
            fclose(f);
            return get() != 22;
        }"#,
        &[],
    );
    shop.file("count", "1");
    let there = shop.record(&["./app"]);
    shop.file("count", "9");
    assert_eq!(
        shop.sentence(there, &["./app"]),
        "read(\"./count\") gave other text here: line 1 is \"9\"; there line 1 is \"1\"; with that text the command passes"
    );
    assert_eq!(std::fs::read_to_string(shop.path().join("count")).unwrap(), "9");
}
