//! Shared libraries: instrumented or not, linked or loaded later.

use crate::sandbox::{Sandbox, marked_lines};

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
    let mut sandbox = Sandbox::new();
    sandbox.file("lib.c", LIBRARY);
    sandbox.file("main.c", MAIN);
    sandbox.quietly(&format!("{library_compiler} -g -O1 -shared -fPIC -o libtwice.so lib.c"));
    sandbox.quietly("relapse cc -g -O1 -o main main.c -L. -ltwice -Wl,-rpath,$ORIGIN");
    let output = sandbox.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "190 20\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}

#[test]
fn an_instrumented_library() {
    check("relapse cc");
}

#[test]
fn a_foreign_library_that_calls_back() {
    check("clang-22");
}

/// The hook for loads that were not predicted keeps nearly all registers; the dynamic linker, which
/// a lazily bound call enters first, does not.
#[test]
fn a_hook_that_keeps_registers_is_bound_at_start() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "lib.c",
        "static const char *names[] = {\"a\", \"b\"};\nconst char *name(int n) { return names[n]; }",
    );
    sandbox.quietly("relapse cc -g -O1 -shared -fPIC -o libname.so lib.c");
    let relocations = sandbox.quietly("llvm-readelf-22 --relocations --wide libname.so");
    let of_hook: Vec<&str> = relocations.lines().filter(|line| line.contains("__relapse_miss ")).collect();
    assert!(of_hook.iter().any(|line| line.contains("GLOB_DAT")), "{relocations}");
    assert!(!of_hook.iter().any(|line| line.contains("JUMP_SLOT")), "{relocations}");
}

fn check_loaded(library_compiler: &str) {
    let mut sandbox = Sandbox::new();
    sandbox.file("lib.c", LIBRARY);
    sandbox.file(
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
    sandbox.quietly(&format!("{library_compiler} -g -O1 -shared -fPIC -o libtwice.so lib.c"));
    sandbox.quietly("relapse cc -g -O1 -o main main.c -ldl");
    let output = sandbox.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "50\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
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
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "main.c",
        r#"
        #include <stdio.h>
        __attribute__((weak)) int which(int x) { return x + 1; }
        __attribute__((weak)) int only(int x) { int s = 0; for (int i = 0; i < x; i++) s += i; return s; }
        int (*pointer)(int) = only;
        int main(void) { printf("%d %d %d\n", which(10), only(5), pointer(4)); return 0; }"#,
    );
    sandbox.file("other.c", "int which(int x) { int k = 3; while (x > 0) { x -= 2; k += x; } return k; }");
    sandbox.quietly("relapse cc -g -O1 -o main main.c other.c");
    let output = sandbox.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "23 10 6\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}

/// The library that a program finds when it runs need not be the one it was linked with.
#[test]
fn a_library_is_exchanged_for_a_plain_one_and_back() {
    for linked_with in ["relapse cc", "clang-22"] {
        let mut sandbox = Sandbox::new();
        sandbox.file("lib.c", LIBRARY);
        sandbox.file("main.c", MAIN);
        sandbox.quietly(&format!("{linked_with} -g -O1 -shared -fPIC -o libtwice.so lib.c"));
        sandbox.quietly("relapse cc -g -O1 -o main main.c -L. -ltwice -Wl,-rpath,$ORIGIN");
        sandbox.quietly("clang-22 -g -O1 -o plain main.c -L. -ltwice -Wl,-rpath,$ORIGIN");
        for found in ["clang-22", "relapse cc"] {
            sandbox.quietly(&format!("{found} -g -O1 -shared -fPIC -o libtwice.so lib.c"));
            for program in ["main", "plain"] {
                assert_eq!(sandbox.quietly(&format!("./{program}")), "190 20\n", "{linked_with}, {found}");
            }
            let output = sandbox.execute("relapse record --quiet --force -o run -- ./main", "");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "190 20\n", "{linked_with}, {found}");
            assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
        }
    }
}

/// The host knows nothing of recording; what the plug-in left with the C library must not be
/// called when the plug-in is gone.
#[test]
fn a_plain_host_closes_an_instrumented_plug_in() {
    let mut sandbox = Sandbox::new();
    sandbox.file("lib.c", LIBRARY);
    sandbox.file(
        "host.c",
        r#"
        #include <dlfcn.h>
        #include <pthread.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static int add_one(int x) { return x + 1; }
        static void *visit(void *sum) {
            for (int round = 0; round < 2; round++) {
                void *library = dlopen("./libtwice.so", RTLD_NOW);
                if (!library) { puts(dlerror()); return 0; }
                int (*apply)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "apply");
                *(int *)sum += apply(add_one, 5);
                dlclose(library);
            }
            return 0;
        }
        int main(void) {
            int sum = 0;
            visit(&sum);
            pthread_t thread;
            pthread_create(&thread, 0, visit, &sum);
            pthread_join(thread, 0);
            pid_t child = fork();
            if (child == 0) _exit(0);
            int status;
            waitpid(child, &status, 0);
            printf("%d %d\n", sum, status);
            return 0;
        }"#,
    );
    sandbox.quietly("relapse cc -g -O1 -shared -fPIC -o libtwice.so lib.c");
    sandbox.quietly("clang-22 -g -O1 -o host host.c -ldl -pthread");
    assert_eq!(sandbox.quietly("./host"), "44 0\n");
    let output = sandbox.record("./host", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "44 0\n");
    assert!(output.status.success(), "{}", output.status);
    assert!(sandbox.quietly("relapse replay run").contains("exact: "));
}

/// A library that a plain program did not ask for.
#[test]
fn an_instrumented_library_is_preloaded() {
    let mut sandbox = Sandbox::new();
    sandbox.file("lib.c", "int twice(int x) { int sum = 0; while (x--) sum += 3; return sum; }\n");
    sandbox.file("real.c", "int twice(int x) { return 2 * x; }\n");
    sandbox.file(
        "main.c",
        "#include <stdio.h>\nint twice(int);\nint main(void) { printf(\"%d\\n\", twice(7)); return 0; }\n",
    );
    sandbox.quietly("relapse cc -g -O1 -shared -fPIC -o libother.so lib.c");
    sandbox.quietly("clang-22 -g -shared -fPIC -o libreal.so real.c");
    sandbox.quietly("clang-22 -g -o main main.c -L. -lreal -Wl,-rpath,$ORIGIN");
    assert_eq!(sandbox.quietly("./main"), "14\n");
    let output = sandbox.record("env LD_PRELOAD=./libother.so ./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "21\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}

/// Test frameworks jump over the test that has failed, and call the next one.
#[test]
fn code_outside_jumps_over_recorded_frames() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "lib.c",
        r#"
        #include <setjmp.h>
        static jmp_buf here;
        void check(int holds) { if (!holds) longjmp(here, 1); }
        int run(void (*const *tests)(int), int count) {
            int failed = 0;
            for (volatile int i = 0; i < count; i++) {
                if (setjmp(here) == 0) tests[i](i);
                else failed++;
            }
            return failed;
        }"#,
    );
    sandbox.file(
        "main.c",
        r#"
        #include <stdio.h>
        void check(int);
        int run(void (*const *)(int), int);
        static int sum;
        static int deep(int n) { int kept[4] = {n}; return n ? deep(n - 1) + kept[0] : (check(sum % 3), 0); }
        static void first(int n) { sum += n + 1; deep(n); sum += 10; }
        static void second(int n) { sum += n; check(sum > 100); sum += 100; }
        int main(void) {
            void (*tests[8])(int);
            int failed = 0;
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 8; i++) tests[i] = i % 3 ? first : second;
                failed += run(tests, 8);
                check(1);
            }
            printf("%d %d\n", failed, sum);
            return 0;
        }"#,
    );
    sandbox.quietly("clang-22 -g -O1 -shared -fPIC -o libcheck.so lib.c");
    sandbox.quietly("clang-22 -g -O1 -o plain main.c -L. -lcheck -Wl,-rpath,$ORIGIN");
    sandbox.quietly("relapse cc -g -O1 -o main main.c -L. -lcheck -Wl,-rpath,$ORIGIN");
    let expected = sandbox.quietly("./plain");
    let output = sandbox.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}

/// What a framework reports depends on the check that jumped, and on what that compared; not on
/// checks that held.
#[test]
fn a_failed_check_is_what_the_framework_reports() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "lib.c",
        r#"
        #include <setjmp.h>
        static jmp_buf here;
        void check(int holds) { if (!holds) longjmp(here, 1); }
        int run(void (*test)(void)) {
            if (setjmp(here) == 0) { test(); return 0; }
            return 1;
        }"#,
    );
    sandbox.file(
        "main.c",
        r#"void check(int);
int run(void (*)(void));
static int held, wrong;
static void test(void) {
    check(held == 1);
    check(wrong == 1);
}
int main(void) {
    held = 1;
    wrong = 2;
    return run(test);
}
"#,
    );
    sandbox.quietly("clang-22 -g -shared -fPIC -o libcheck.so lib.c");
    sandbox.quietly("relapse cc -g -o main main.c -L. -lcheck -Wl,-rpath,$ORIGIN");
    assert_eq!(sandbox.record("./main", "").status.code(), Some(1));
    let slice = sandbox.quietly("relapse slice run --failure");
    assert_eq!(marked_lines(&slice), [6, 10, 11], "{slice}");
}

/// Strings of C++ are compiled into the program, whether it is optimised or not: what their members
/// do to them is known.
#[test]
fn strings_of_cxx_are_known() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "main.cpp",
        r#"#include <cstdio>
#include <string>
#include <string_view>
#include <vector>
struct entry { std::string name; std::vector<int> values; };
static int count(const std::string &wanted, const entry &in, std::string_view part) {
    return wanted == in.name ? in.values.size() : part.size();
}
int main(int argc, char **argv) {
    std::string text = "abc";
    text += "defghijklmnopqrstuvwxyz";
    std::string part = text.substr(2, 5);
    std::vector<std::string> both{text, part};
    entry one{"cdefg", {3, 1, 4}};
    printf("%d\n", count(part, one, both[0]));
    return 0;
}
"#,
    );
    for level in ["-O0", "-O2"] {
        sandbox.quietly(&format!("relapse c++ -g {level} -o main main.cpp"));
        sandbox.quietly("rm -rf run");
        assert_eq!(String::from_utf8_lossy(&sandbox.record("./main", "").stdout), "3\n");
        assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
        let mut value = |what: &str| {
            let text = sandbox.quietly(&format!("relapse values run main.cpp:{what} --json"));
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            json["executions"][0]["values"][0].as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(value("15 text"), "\"abcdefghijklmnopqrstuvwxyz\"", "{level}");
        assert_eq!(value("15 part"), "\"cdefg\"", "{level}");
        assert_eq!(value("15 both"), "{\"abcdefghijklmnopqrstuvwxyz\", \"cdefg\"}", "{level}");
        assert_eq!(value("15 one"), "{name = \"cdefg\", values = {3, 1, 4}}", "{level}");
        assert_eq!(value("7 wanted"), "\"cdefg\"", "{level}");
        assert_eq!(value("7 part"), "\"abcdefghijklmnopqrstuvwxyz\"", "{level}");
    }
}

/// Of inline functions that library and program both have, the loader takes the program's, although the
/// library is initialised first.
#[test]
fn the_program_has_the_copy_of_an_inline_function_that_counts() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "both.h",
        "template <unsigned N> inline unsigned scaled(unsigned x) {\n\
         \x20 static unsigned calls; calls += N;\n\
         #ifdef PROGRAM\n\
         \x20 for (unsigned i = 0; i < 5; i++) x = x * 3 + i;\n\
         #endif\n\
         \x20 return x + calls;\n}\n",
    );
    sandbox.file("lib.cpp", "#include \"both.h\"\nunsigned lib(unsigned x) { return scaled<2>(x) + 1; }\n");
    sandbox.file(
        "main.cpp",
        "#define PROGRAM\n#include \"both.h\"\n#include <cstdio>\nunsigned lib(unsigned);\n\
         int main() { std::printf(\"%u\\n\", scaled<2>(1) + lib(2)); }\n",
    );
    sandbox.quietly("relapse c++ -g -O0 -shared -fPIC -o libboth.so lib.cpp");
    sandbox.quietly("relapse c++ -g -O0 -o main main.cpp -L. -lboth -Wl,-rpath,$ORIGIN");
    let output = sandbox.record("./main", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "852\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}

/// The loader does not ask a resolver of the executable while it loads a library that needs the
/// address. One resolver is seen through by the optimiser, the other is not.
#[test]
fn a_library_calls_ifuncs_of_the_executable() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "lib.c",
        "int simple(int); int chosen(int);\n\
         int lib(int x) { int sum = 0; while (x--) sum += simple(x) + chosen(x); return sum; }\n",
    );
    sandbox.file(
        "main.c",
        r#"
        #include <stdio.h>
        int lib(int);
        extern char **environ;
        static int twice(int x) { return 2 * x; }
        static int thrice(int x) { return 3 * x; }
        static int (*first(void))(int) { return twice; }
        static int (*second(void))(int) { return environ == (char **)8 ? twice : thrice; }
        int simple(int) __attribute__((ifunc("first")));
        int chosen(int) __attribute__((ifunc("second")));
        int main(void) { printf("%d %d\n", lib(5), simple(1) + chosen(2)); return 0; }"#,
    );
    sandbox.quietly("relapse cc -g -O1 -shared -fPIC -o libcalls.so lib.c");
    for words in ["-fPIE -pie", "-fPIC -pie", "-fno-pie -no-pie", "-O0"] {
        sandbox.quietly(&format!("relapse cc -g -O1 {words} -o main main.c -L. -lcalls -Wl,-rpath,$ORIGIN"));
        assert_eq!(sandbox.quietly("./main"), "50 8\n", "{words}");
        sandbox.quietly("rm -rf run");
        assert_eq!(String::from_utf8_lossy(&sandbox.record("./main", "").stdout), "50 8\n", "{words}");
        assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"), "{words}");
    }
    // The same in a library of its own, which hides one of them.
    sandbox.file(
        "own.c",
        r#"
        static int twice(int x) { return 2 * x; }
        static int (*first(void))(int) { return twice; }
        int simple(int) __attribute__((ifunc("first")));
        __attribute__((visibility("hidden"))) int chosen(int) __attribute__((ifunc("first")));
        int own(int x) { return simple(x) + chosen(1); }"#,
    );
    sandbox.file(
        "user.c",
        "#include <stdio.h>\nint own(int); int simple(int);\n\
         int main(void) { printf(\"%d %d\\n\", own(3), simple(7)); return 0; }\n",
    );
    sandbox.quietly("relapse cc -g -O1 -shared -fPIC -o libown.so own.c");
    sandbox.quietly("relapse cc -g -O1 -o user user.c -L. -lown -Wl,-rpath,$ORIGIN");
    sandbox.quietly("rm -rf run");
    assert_eq!(String::from_utf8_lossy(&sandbox.record("./user", "").stdout), "8 14\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}

/// A call of an inline function that is not put in its place takes the other definition out of an archive,
/// and that comes with a constructor.
#[test]
fn an_inline_function_that_is_not_inlined_is_the_one_in_the_archive() {
    let mut sandbox = Sandbox::new();
    sandbox.file("both.h", "extern inline __attribute__((gnu_inline)) int twice(int x) { return 2 * x; }\n");
    sandbox.file(
        "member.c",
        "extern int begun;\n__attribute__((constructor)) static void begin(void) { begun = 1; }\n\
         int twice(int x) { return x + x; }\n",
    );
    sandbox.file(
        "main.c",
        "#include <stdio.h>\n#include \"both.h\"\nint begun;\n\
         int main(int n, char **v) { (void)v; printf(\"%d %d\\n\", twice(n), begun); return 0; }\n",
    );
    for compiler in ["clang-22", "relapse cc"] {
        sandbox.quietly(&format!("{compiler} -O2 -c member.c"));
        sandbox.quietly("rm -f libmember.a");
        sandbox.quietly("llvm-ar-22 rcs libmember.a member.o");
        sandbox.quietly(&format!("{compiler} -O2 -fno-inline -o main main.c libmember.a"));
        assert_eq!(sandbox.quietly("./main"), "2 1\n", "{compiler}");
    }
    assert_eq!(String::from_utf8_lossy(&sandbox.record("./main", "").stdout), "2 1\n");
    assert!(sandbox.quietly("relapse replay run").contains("exact: 1 process"));
}
