//! Shared libraries: instrumented or not, linked or loaded later.

mod desk;

use desk::Desk;

const LIBRARY: &str = r#"
static int calls;
int twice(int x) { calls++; return 2 * x; }
int apply(int (*f)(int), int x) { return f(twice(x)); }
int count(void) { return calls; }
"#;

const MAIN: &str = r#"
#include <stdio.h>
int twice(int);
int apply(int (*)(int), int);
int count(void);
static int add_one(int x) { return x + 1; }
int main(void) {
    int t = 0;
    for (int i = 0; i < 10; i++) t += apply(add_one, twice(i));
    printf("%d %d\n", t, count());
    return 0;
}
"#;

fn check(library_compiler: &str) {
    let mut desk = Desk::new();
    desk.file("lib.c", LIBRARY);
    desk.file("main.c", MAIN);
    desk.quietly(&format!("{library_compiler} -g -O1 -shared -fPIC -o libtwice.so lib.c"));
    desk.quietly("relapse cc -g -O1 -o main main.c -L. -ltwice -Wl,-rpath,$ORIGIN");
    let output = desk.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "190 20\n");
    assert!(desk.quietly("relapse replay run").contains("exact: 1 process"));
}

#[test]
fn an_instrumented_library() {
    check("relapse cc");
}

#[test]
fn a_foreign_library_that_calls_back() {
    check("clang-22");
}

fn check_loaded(library_compiler: &str) {
    let mut desk = Desk::new();
    desk.file("lib.c", LIBRARY);
    desk.file(
        "main.c",
        r#"
        #include <dlfcn.h>
        #include <stdio.h>
        static int add_one(int x) { return x + 1; }
        int main(void) {
            int t = 0;
            for (int round = 0; round < 2; round++) {
                void *library = dlopen("./libtwice.so", RTLD_NOW);
                if (!library) { puts(dlerror()); return 1; }
                int (*apply)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "apply");
                for (int i = 0; i < 5; i++) t += apply(add_one, i);
                dlclose(library);
            }
            printf("%d\n", t);
            return 0;
        }"#,
    );
    desk.quietly(&format!("{library_compiler} -g -O1 -shared -fPIC -o libtwice.so lib.c"));
    desk.quietly("relapse cc -g -O1 -o main main.c -ldl");
    let output = desk.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "50\n");
    assert!(desk.quietly("relapse replay run").contains("exact: 1 process"));
}

#[test]
fn an_instrumented_library_loaded_twice() {
    check_loaded("relapse cc");
}

#[test]
fn a_foreign_library_loaded_twice() {
    check_loaded("clang-22");
}

#[test]
fn a_weak_function_that_another_unit_overrides() {
    let mut desk = Desk::new();
    desk.file(
        "main.c",
        r#"
        #include <stdio.h>
        __attribute__((weak)) int which(int x) { return x + 1; }
        __attribute__((weak)) int only(int x) { int s = 0; for (int i = 0; i < x; i++) s += i; return s; }
        int (*pointer)(int) = only;
        int main(void) { printf("%d %d %d\n", which(10), only(5), pointer(4)); return 0; }"#,
    );
    desk.file("other.c", "int which(int x) { int k = 3; while (x > 0) { x -= 2; k += x; } return k; }");
    desk.quietly("relapse cc -g -O1 -o main main.c other.c");
    let output = desk.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "23 10 6\n");
    assert!(desk.quietly("relapse replay run").contains("exact: 1 process"));
}
