//! The table. Each file contains one family of headers in any order. The entries are concatenated
//! and sorted by name at compile time.

use crate::effect::External;

mod character;
mod file;
mod iostream;
mod math;
mod memory;
mod network;
mod process;
mod stdio;
mod string;
mod thread;
mod time;
mod wide;

const PARTS: [&[External]; 12] = [
    character::PART,
    file::PART,
    iostream::PART,
    math::PART,
    memory::PART,
    network::PART,
    process::PART,
    stdio::PART,
    string::PART,
    thread::PART,
    time::PART,
    wide::PART,
];

const COUNT: usize = {
    let (mut n, mut i) = (0, 0);
    while i < PARTS.len() {
        n += PARTS[i].len();
        i += 1;
    }
    n
};

/// All entries, sorted by name.
pub static ALL: &[External] = &SORTED;

static SORTED: [External; COUNT] = sorted();

const fn before(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}

/// Bottom-up merge sort of the entries' indices, then one pass that copies the entries. Fast enough
/// for compile-time evaluation.
const fn sorted() -> [External; COUNT] {
    let mut all = [PARTS[0][0]; COUNT];
    let (mut n, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut i = 0;
        while i < PARTS[part].len() {
            all[n] = PARTS[part][i];
            n += 1;
            i += 1;
        }
        part += 1;
    }
    let mut order = [0usize; COUNT];
    let mut i = 0;
    while i < COUNT {
        order[i] = i;
        i += 1;
    }
    let mut width = 1;
    while width < COUNT {
        let mut merged = [0usize; COUNT];
        let mut start = 0;
        while start < COUNT {
            let middle = if start + width < COUNT { start + width } else { COUNT };
            let end = if middle + width < COUNT { middle + width } else { COUNT };
            let (mut a, mut b, mut out) = (start, middle, start);
            while out < end {
                if b >= end || (a < middle && !before(all[order[b]].name, all[order[a]].name)) {
                    merged[out] = order[a];
                    a += 1;
                } else {
                    merged[out] = order[b];
                    b += 1;
                }
                out += 1;
            }
            start = end;
        }
        order = merged;
        width *= 2;
    }
    let mut result = all;
    let mut i = 0;
    while i < COUNT {
        result[i] = all[order[i]];
        i += 1;
    }
    result
}
