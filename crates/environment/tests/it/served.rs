//! Calls that the tracer makes in the thread's place must have the results of the thread's own calls.

use crate::sandbox::Sandbox;

/// Writes the results of many calls to a file.
const ASKS: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
static FILE *out;
static void say(const char *what, long result)
{
    fprintf(out, "%s %ld %d\n", what, result, result < 0 ? errno : 0);
    fflush(out);
}
static void about(const char *what, int result, const struct stat *st)
{
    say(what, result);
    if (result == 0) fprintf(out, "  %o %ld %lu\n", st->st_mode, (long)st->st_size, (unsigned long)st->st_ino);
}
static volatile int signals;
static void limited(int signal) { signals += signal; }
int main(void)
{
    out = fopen("said", "w");
    char buffer[4096] = "";
    struct stat st;
    about("stat", stat("data", &st), &st);
    about("stat ./", stat("./sub/../data", &st), &st);
    about("missing", stat("nothing", &st), &st);
    about("below a file", stat("data/x", &st), &st);
    about("empty", stat("", &st), &st);
    about("lstat", lstat("link", &st), &st);
    about("exe", stat("/proc/self/exe", &st), &st);
    say("readlink exe", readlink("/proc/self/exe", buffer, sizeof buffer) > 0);
    say("fd", readlink("/proc/self/fd/9", buffer, sizeof buffer));
    say("readlink", readlink("link", buffer, sizeof buffer));
    fprintf(out, "  %.4s\n", buffer);
    say("short readlink", readlink("link", buffer, 2));
    say("access", access("data", R_OK | W_OK));
    say("bad buffer", stat("data", (struct stat *)8));
    say("open missing", open("nothing", O_RDONLY));
    say("open no link", open("link", O_RDONLY | O_NOFOLLOW));
    int fd = open("data", O_RDWR);
    say("read", read(fd, buffer, 5));
    say("read at no place", read(fd, (void *)8, 5));
    say("place", lseek(fd, 0, SEEK_CUR));
    int same = dup(fd);
    say("read the same", read(same, buffer, 3));
    if (fork() == 0) { read(fd, buffer, 4); _exit(0); }
    wait(NULL);
    say("after the child", lseek(fd, 0, SEEK_CUR));
    say("pread", pread(fd, buffer, 10, 90));
    say("before the start", lseek(fd, -1, SEEK_SET));
    say("no terminal", ioctl(fd, TCGETS, buffer));
    say("write", write(fd, "XYZ", 3));
    say("place", lseek(fd, 0, SEEK_CUR));
    say("end", read(fd, buffer, sizeof buffer));
    say("end again", read(fd, buffer, sizeof buffer));
    about("fstat", fstat(fd, &st), &st);
    about("fstatat", fstatat(fd, "", &st, AT_EMPTY_PATH), &st);
    close(fd);
    say("closed", read(fd, buffer, 1));
    about("closed", fstat(fd, &st), &st);
    fd = open("data", O_WRONLY | O_APPEND);
    say("only for writing", read(fd, buffer, 1));
    say("append", write(fd, "end", 3));
    say("place", lseek(fd, 0, SEEK_CUR));
    close(fd);
    int dir = open("sub", O_RDONLY | O_DIRECTORY);
    say("read a directory", read(dir, buffer, 10));
    about("from a directory", fstatat(dir, "inner", &st, 0), &st);
    about("and up", fstatat(dir, "../data", &st, 0), &st);
    rename("sub", "moved");
    about("from where it is now", fstatat(dir, "inner", &st, 0), &st);
    DIR *list = fdopendir(dir);
    int names = 0;
    while (readdir(list)) names++;
    say("names", names);
    rewinddir(list);
    say("again", readdir(list) != NULL);
    say("chdir", chdir("moved"));
    about("from there", stat("inner", &st), &st);
    int ends[2];
    say("pipe", pipe(ends));
    write(ends[1], "abc", 3);
    say("from a pipe", read(ends[0], buffer, 10));
    int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY);
    say("null", write(null, buffer, 4096));
    say("nothing", read(null, buffer, 10));
    memset(buffer, 1, 10);
    say("zero", read(zero, buffer, 10));
    say("is zero", buffer[9]);
    struct rlimit limit = { 10, 10 };
    signal(SIGXFSZ, limited);
    fd = open("large", O_CREAT | O_WRONLY, 0600);
    fflush(out);
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    limit.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    long first = write(fd, "0123456789", 10), second = write(fd, "x", 1);
    setrlimit(RLIMIT_FSIZE, &old);
    say("first", first);
    say("second", second);
    say("signals", signals);
    return 0;
}
"#;

fn said(shop: &Sandbox, run: impl Fn(&Sandbox)) -> String {
    let folder = shop.path().to_owned();
    for name in ["moved", "sub"] {
        let _ = std::fs::remove_dir_all(folder.join(name));
    }
    for name in ["link", "large", "said"] {
        let _ = std::fs::remove_file(folder.join(name));
    }
    shop.file("data", &"0123456789".repeat(10));
    shop.file("sub/inner", "inner");
    std::os::unix::fs::symlink("data", folder.join("link")).unwrap();
    run(shop);
    let said = std::fs::read_to_string(folder.join("said")).unwrap();
    // Inode numbers differ each time files are created.
    let line = |line: &str| match line.starts_with("  1") {
        true => line.rsplit_once(' ').map_or(line, |(rest, _)| rest).to_owned(),
        false => line.to_owned(),
    };
    said.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn calls_give_what_they_give_without_a_tracer() {
    let shop = Sandbox::new();
    shop.cc("asks", ASKS, &[]);
    let plain = said(&shop, |shop| {
        let status = std::process::Command::new("./asks").current_dir(shop.path()).status().unwrap();
        assert!(status.success());
    });
    let recorded = said(&shop, |shop| {
        shop.record(&["./asks"]);
    });
    assert!(plain.lines().count() > 60, "{plain}");
    assert_eq!(plain, recorded);
}
