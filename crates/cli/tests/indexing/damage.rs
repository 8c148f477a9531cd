//! Indices that are not what they were: said so if the checksum tells; else no panic, no
//! endless way, no memory without bounds.

use crate::desk::{Desk, recorded};
use crate::{SUM, generate};
use index::Index;
use slice::{Criterion, Occurrence, Slicer, SlicerOptions, Wanted};
use std::path::Path;

#[test]
fn a_damaged_index_is_said_to_be_one() {
    let mut desk = Desk::with_program("p", SUM);
    desk.record("./p", "");
    desk.quietly("relapse index run");
    let file = std::fs::read_dir(desk.path().join("run"))
        .expect("the recording")
        .map(|entry| entry.expect("an entry").path().join("index"))
        .find(|path| path.exists())
        .expect("an index");
    let whole = std::fs::read(&file).expect("the index");
    for at in [0, 8, 12, 30, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&file, &bytes).expect("write");
        let output = desk.execute("relapse slice run --at p.c:8", "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if at == 12 {
            // An index of something else is no index of this.
            assert!(output.status.success(), "{said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(3), "byte {at}: {said}");
        assert!(said.contains("failed to read") && said.contains("relapse index run"), "{said}");
        assert_eq!(said.contains("it has version"), at == 8, "{said}");
        assert!(desk.execute("relapse slice run --at p.c:8 --no-index", "").status.success());
    }
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("write");
    assert_eq!(desk.execute("relapse slice run --at p.c:8", "").status.code(), Some(3));
    desk.quietly("relapse index run");
    assert!(desk.execute("relapse slice run --at p.c:8", "").status.success());
}

const PROGRAM: &str = "#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf place;
static int order(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}
static int pick(int n) {
    if (n > 3)
        longjmp(place, n);
    return n * 2;
}
int main(void) {
    int v[4] = { 3, 1, 2, 0 };
    int (*call)(int) = v[0] > 2 ? pick : NULL;
    if (setjmp(place) == 0)
        for (int i = 0; i < 9; i++)
            v[i & 3] += call(i);
    qsort(v, 4, sizeof *v, order);
    printf(\"%d\\n\", v[1]);
    return v[2] & 1;
}
";

/// With the checksum made right again: a file may say anything.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[28..]);
    bytes[20..28].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The most memory this process has had so far.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process");
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn no_index_makes_a_question_panic_or_go_on_for_ever() {
    let (_desk, process) = recorded(PROGRAM, "");
    let made = Slicer::new(&process, SlicerOptions::default()).index(&mut |_, _| {}).expect("an index");
    let steps = made.streams[0].0.steps;
    let at = Occurrence { stream: 0, step: steps - 2 };
    let question = [Criterion { at, wanted: vec![Wanted::All] }];
    let mut random = generate::Random::new(7);
    let before = peak();
    let (mut parsed, mut answers) = (0, 0);
    for round in 0..600 {
        let mut bytes = made.bytes.clone();
        if round % 6 == 0 {
            bytes.truncate(28 + random.below(bytes.len() as u64 - 28) as usize);
        } else {
            for _ in 0..=random.below(3) {
                let at = 28 + random.below(bytes.len() as u64 - 28) as usize;
                bytes[at] = match round % 6 {
                    1 => 0xff,
                    2 => 0,
                    _ => bytes[at] ^ 1 << random.below(8),
                };
            }
        }
        let Ok(index) = Index::parse(signed(bytes), Path::new("index")) else { continue };
        // A run may be as long as it says: the way would only be long.
        if index.summary(0).is_none_or(|s| s.steps > 4 * steps) {
            continue;
        }
        parsed += 1;
        let slicer = Slicer::new(&process, SlicerOptions::default()).with_index(index);
        answers += u32::from(slicer.slice(&question, &mut |_| {}).is_ok());
        let _ = slicer.ask_failure();
        let _ = slicer.ask_line("p.c", 10);
        let _ = slicer.ask_variable("p.c", 17, "v");
        let _ = slicer.lines_that_ran("p.c");
        for byte in [0, 3, u64::MAX] {
            let _ = slicer.ask_output("stdout", byte);
        }
    }
    assert!(parsed > 100 && answers > 0, "some damage does not matter: {answers} of {parsed}");
    let more = peak() - before;
    assert!(more < 512 << 20, "{more} bytes more than before");
}

/// A file that is cut off is refused as a whole, wherever it is cut.
#[test]
fn no_part_of_an_index_is_one() {
    let (_desk, process) = recorded(SUM, "");
    let made = Slicer::new(&process, SlicerOptions::default()).index(&mut |_, _| {}).expect("an index");
    let whole = made.bytes;
    assert!(Index::parse(signed(whole.clone()), Path::new("index")).is_ok());
    for len in 0..whole.len() {
        assert!(Index::parse(whole[..len].to_vec(), Path::new("index")).is_err(), "{len} bytes");
        if len >= 28 {
            assert!(Index::parse(signed(whole[..len].to_vec()), Path::new("index")).is_err(), "{len} bytes");
        }
    }
    assert!(Index::parse(signed([&whole[..], &[0]].concat()), Path::new("index")).is_err(), "a byte more");
}
