//! The real programs, with one declarative description each.

use std::fs;
use std::path::Path;

use super::inputs;
use crate::shell::{self, Result};

/// The size of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A tenth of a second: for tests.
    Small,
    /// A second or two: for benchmarks.
    Bench,
}

/// A real program with its build and its workload.
pub struct Subject {
    pub name: &'static str,
    /// The crate that contains the sources, and its exact version.
    pub package: &'static str,
    pub version: &'static str,
    /// Sources in the crate; `folder/*.c` matches all of a directory.
    pub sources: &'static [&'static str],
    /// Files excluded from `*.c`.
    pub except: &'static [&'static str],
    /// Include directories in the crate.
    pub includes: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub libraries: &'static [&'static str],
    /// Our own sources, in `xtask/subjects/NAME`.
    pub own: &'static [&'static str],
    /// Writes sources that the crate's own build would generate.
    pub generate: Option<fn(package: &Path, to: &Path) -> Result<()>>,
    /// Writes the inputs to a directory and returns the program's arguments.
    pub workload: fn(size: Size, dir: &Path) -> Result<Vec<String>>,
}

pub const SUBJECTS: &[Subject] = &[
    Subject {
        name: "lua",
        package: "lua-src",
        version: "551.1.0",
        sources: &["lua-5.4.9/*.c"],
        except: &[],
        includes: &["lua-5.4.9"],
        flags: &["-DLUA_USE_POSIX"],
        libraries: &["-lm"],
        own: &["main.c"],
        generate: None,
        workload: |size, dir| {
            copy_own("lua", "work.lua", dir)?;
            Ok(words(&["work.lua", pick(size, "6", "600")]))
        },
    },
    Subject {
        name: "sqlite",
        package: "libsqlite3-sys",
        version: "0.39.1",
        sources: &["sqlite3/sqlite3.c"],
        except: &[],
        includes: &["sqlite3"],
        flags: &["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        libraries: &["-lm"],
        own: &["main.c"],
        generate: None,
        workload: |size, _| Ok(words(&[pick(size, "2000", "25000"), "test.db"])),
    },
    Subject {
        name: "zlib",
        package: "libz-sys",
        version: "1.1.31",
        sources: &["src/zlib/*.c"],
        except: &[],
        includes: &["src/zlib"],
        flags: &["-DHAVE_UNISTD_H=1", "-DHAVE_STDARG_H=1", "-D_LARGEFILE64_SOURCE=1"],
        libraries: &[],
        own: &["main.c"],
        generate: None,
        workload: |size, dir| {
            shell::write(&dir.join("input.txt"), inputs::prose(pick(size, 150_000, 4_000_000)))?;
            Ok(words(&["input.txt"]))
        },
    },
    Subject {
        name: "zstd",
        package: "zstd-sys",
        version: "2.1.2",
        sources: &["zstd/lib/common/*.c", "zstd/lib/compress/*.c", "zstd/lib/decompress/*.c"],
        except: &[],
        includes: &["zstd/lib"],
        flags: &["-DZSTD_DISABLE_ASM=1", "-DXXH_NAMESPACE=ZSTD_"],
        libraries: &[],
        own: &["main.c"],
        generate: None,
        workload: |size, dir| {
            shell::write(&dir.join("input.txt"), inputs::prose(pick(size, 120_000, 3_000_000)))?;
            Ok(words(&["input.txt", "1", "3", "9", "15"]))
        },
    },
    Subject {
        name: "bzip2",
        package: "bzip2-sys",
        version: "0.1.13",
        sources: &[
            "bzip2-1.0.8/blocksort.c",
            "bzip2-1.0.8/huffman.c",
            "bzip2-1.0.8/crctable.c",
            "bzip2-1.0.8/randtable.c",
            "bzip2-1.0.8/compress.c",
            "bzip2-1.0.8/decompress.c",
            "bzip2-1.0.8/bzlib.c",
            "bzip2-1.0.8/bzip2.c",
        ],
        except: &[],
        includes: &["bzip2-1.0.8"],
        flags: &["-D_FILE_OFFSET_BITS=64", "-w"],
        libraries: &[],
        own: &[],
        generate: None,
        workload: |size, dir| {
            shell::write(&dir.join("input.txt"), inputs::prose(pick(size, 300_000, 6_000_000)))?;
            Ok(words(&["-9", "-k", "-c", "input.txt"]))
        },
    },
    Subject {
        name: "jq",
        package: "jq-src",
        version: "0.4.1",
        sources: &[
            "modules/jq/src/*.c",
            "modules/jq/modules/oniguruma/src/reg*.c",
            "modules/jq/modules/oniguruma/src/st.c",
            "modules/jq/modules/oniguruma/src/unicode*.c",
            "modules/jq/modules/oniguruma/src/ascii.c",
            "modules/jq/modules/oniguruma/src/utf*.c",
            "modules/jq/modules/oniguruma/src/iso8859_1.c",
            "modules/jq/modules/oniguruma/src/onig_init.c",
        ],
        // Included by other files, or tests.
        except: &[
            "inject_errors.c",
            "regposix.c",
            "regposerr.c",
            "reggnu.c",
            "unicode_fold_data.c",
            "unicode_property_data.c",
            "unicode_property_data_posix.c",
            "unicode_egcb_data.c",
        ],
        includes: &["modules/jq", "modules/jq/src", "modules/jq/modules/oniguruma/src"],
        flags: &[
            "-w",
            "-D_GNU_SOURCE",
            "-DHAVE_LIBONIG=1",
            "-DIEEE_8087=1",
            "-DHAVE_MEMMEM=1",
            "-DHAVE_MKSTEMP=1",
            "-DHAVE_STRPTIME=1",
            "-DHAVE_STRFTIME=1",
            "-DHAVE_TIMEGM=1",
            "-DHAVE_GMTIME_R=1",
            "-DHAVE_GMTIME=1",
            "-DHAVE_LOCALTIME_R=1",
            "-DHAVE_LOCALTIME=1",
            "-DHAVE_MKTIME=1",
            "-DHAVE_GETTIMEOFDAY=1",
            "-DHAVE_TM_TM_GMT_OFF=1",
            "-DHAVE_ISATTY=1",
            "-DHAVE_PTHREAD_KEY_CREATE=1",
            "-DHAVE_FLOOR=1",
            "-DHAVE_SQRT=1",
            "-DHAVE_POW=1",
            "-DHAVE_LOG=1",
            "-DHAVE_EXP=1",
            "-DHAVE_LOG10=1",
            "-DHAVE_EXP10=1",
            "-DHAVE_LOG2=1",
            "-DHAVE_EXP2=1",
            "-DHAVE_ROUND=1",
            "-DHAVE_CEIL=1",
            "-DHAVE_FABS=1",
        ],
        libraries: &["-lm", "-lpthread"],
        own: &[],
        generate: Some(generate_jq),
        workload: |size, dir| {
            copy_own("jq", "work.jq", dir)?;
            shell::write(&dir.join("input.json"), inputs::people(pick(size, 200, 8_000)))?;
            Ok(words(&["-c", "-f", "work.jq", "input.json"]))
        },
    },
    Subject {
        name: "quickjs",
        package: "rquickjs-sys",
        version: "0.14.0",
        sources: &["quickjs/libregexp.c", "quickjs/libunicode.c", "quickjs/quickjs.c", "quickjs/dtoa.c"],
        except: &[],
        includes: &["quickjs"],
        flags: &["-D_GNU_SOURCE", "-w"],
        libraries: &["-lm", "-lpthread"],
        own: &["main.c"],
        generate: None,
        workload: |size, dir| {
            copy_own("quickjs", "work.js", dir)?;
            Ok(words(&["work.js", pick(size, "6", "250")]))
        },
    },
    Subject {
        name: "pcre2",
        package: "pcre2-sys",
        version: "0.2.10",
        sources: &["upstream/src/*.c"],
        except: &["pcre2_jit_match.c", "pcre2_jit_misc.c", "pcre2_ucptables.c"],
        includes: &["upstream/src", "upstream/include"],
        flags: &[
            "-DPCRE2_CODE_UNIT_WIDTH=8",
            "-DHAVE_CONFIG_H=1",
            "-DHAVE_STDLIB_H=1",
            "-DHAVE_MEMMOVE=1",
            "-DPCRE2_STATIC=1",
            "-DSTDC_HEADERS=1",
            "-DSUPPORT_PCRE2_8=1",
            "-DSUPPORT_UNICODE=1",
            "-w",
        ],
        libraries: &[],
        own: &["main.c"],
        generate: None,
        workload: |size, dir| {
            shell::write(&dir.join("input.txt"), inputs::prose(pick(size, 4_000, 80_000)))?;
            Ok(words(&["input.txt"]))
        },
    },
];

fn pick<T>(size: Size, small: T, bench: T) -> T {
    match size {
        Size::Small => small,
        Size::Bench => bench,
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The directory of our own sources for a subject.
pub fn own_dir(name: &str) -> std::path::PathBuf {
    shell::root().join("xtask/subjects").join(name)
}

fn copy_own(subject: &str, file: &str, dir: &Path) -> Result<()> {
    let from = own_dir(subject).join(file);
    fs::copy(&from, dir.join(file)).map_err(|error| format!("failed to copy {}: {error}", from.display()))?;
    Ok(())
}

/// Reproduces what jq's makefile does with `sed` and a script: its library of jq functions as C strings, and
/// its version.
fn generate_jq(package: &Path, to: &Path) -> Result<()> {
    let from = package.join("modules/jq/src/builtin.jq");
    let text =
        fs::read_to_string(&from).map_err(|error| format!("failed to read {}: {error}", from.display()))?;
    let quoted: String = text
        .lines()
        .map(|line| format!("\"{}\\n\"\n", line.replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    shell::write(&to.join("src/builtin.inc"), quoted)?;
    shell::write(&to.join("src/version.h"), "#define JQ_VERSION \"bundled\"\n")?;
    shell::write(
        &to.join("config.h"),
        "#define HAVE_ALLOCA 1\n#define HAVE_ALLOCA_H 1\n#define HAVE_PROTOTYPES 1\n\
         #define HAVE_STDARG_PROTOTYPES 1\n#define HAVE_STDINT_H 1\n#define HAVE_STDLIB_H 1\n\
         #define HAVE_STRINGS_H 1\n#define HAVE_STRING_H 1\n#define HAVE_SYS_TIMES_H 1\n\
         #define HAVE_SYS_TIME_H 1\n#define HAVE_SYS_TYPES_H 1\n#define HAVE_UNISTD_H 1\n\
         #define SIZEOF_INT 4\n#define SIZEOF_LONG 8\n#define SIZEOF_SHORT 2\n#define STDC_HEADERS 1\n",
    )
}
