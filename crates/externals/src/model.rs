//! Functions that are computed instead of logged.
//!
//! The recorder evaluates a model on the shadow, the replayer on its memory. Both contain the same
//! bytes, so both get the same effect and the same result. If the real function returned another
//! result (the magnitude of `memcmp` differs between implementations, another locale is set, or
//! another thread wrote concurrently), the recorder logs the real result. A model must therefore be
//! deterministic. An inaccurate model only makes the log larger.

/// The memory interface of a model. Addresses wrap; no operation fails.
pub trait Memory {
    /// Copies bytes out of memory.
    fn read(&mut self, at: u64, into: &mut [u8]);
    /// Copies bytes to memory.
    fn write(&mut self, at: u64, bytes: &[u8]);

    /// Distance to the first `byte` among the next `limit` bytes.
    fn find(&mut self, at: u64, byte: u8, limit: u64) -> Option<u64> {
        (0..limit).find(|&i| self.byte(at.wrapping_add(i)) == byte)
    }

    /// Copies a range. The ranges may overlap.
    fn copy(&mut self, to: u64, from: u64, len: u64) {
        let mut buffer = [0; 256];
        let step = buffer.len() as u64;
        let backward = to.wrapping_sub(from) < len;
        let mut done = 0;
        while done < len {
            let n = step.min(len - done);
            let at = if backward { len - done - n } else { done };
            let piece = &mut buffer[..n as usize];
            self.read(from.wrapping_add(at), piece);
            self.write(to.wrapping_add(at), piece);
            done += n;
        }
    }

    /// Stores a byte `len` times.
    fn fill(&mut self, to: u64, byte: u8, len: u64) {
        let buffer = [byte; 256];
        let mut done = 0;
        while done < len {
            let n = (buffer.len() as u64).min(len - done);
            self.write(to.wrapping_add(done), &buffer[..n as usize]);
            done += n;
        }
    }

    /// One byte of memory.
    fn byte(&mut self, at: u64) -> u8 {
        let mut b = [0];
        self.read(at, &mut b);
        b[0]
    }

    /// Limit on the bytes a model may process before it returns [`TooLong`]. It bounds the run time
    /// for invalid lengths (in a damaged recording). No real call reaches it.
    fn limit(&self) -> u64 {
        1 << 36
    }
}

/// The error for a length that no real call can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl core::fmt::Display for TooLong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("evaluate a library function: a length is out of range")
    }
}

impl core::error::Error for TooLong {}

/// The functions that have a model. Each stands for the C function of its name and for its aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// No effect, no result.
    Nothing,
    /// The result is logged as usual. The allocated bytes are zero.
    Calloc,
    /// Also `memmove`: the ranges may overlap.
    Memcpy,
    /// `memcpy` that returns the end of the destination.
    Mempcpy,
    /// Copies up to and with a byte; the result is the address after it, or null.
    Memccpy,
    /// Fills with a byte.
    Memset,
    /// Fills with zeros.
    Bzero,
    /// `memmove` with source and destination exchanged.
    Bcopy,
    /// Also `bcmp`; the result is the difference of the first bytes that differ.
    Memcmp,
    /// The first byte of a value in a range, or null.
    Memchr,
    /// The first byte of a value, which must exist.
    Rawmemchr,
    /// The last byte of a value in a range, or null.
    Memrchr,
    /// The first occurrence of a range in another, or null.
    Memmem,
    /// The length without NUL.
    Strlen,
    /// The length without NUL, at most slot 1.
    Strnlen,
    /// Also `strcoll`; the result is the difference of the first bytes that differ.
    Strcmp,
    /// As [`Model::Strcmp`], for at most slot 2 bytes.
    Strncmp,
    /// As [`Model::Strcmp`], without regard to the case of ASCII letters.
    Strcasecmp,
    /// As [`Model::Strcasecmp`], for at most slot 2 bytes.
    Strncasecmp,
    /// Also `index`: the first byte of a value in a string, or null.
    Strchr,
    /// Also `rindex`: the last byte of a value in a string, or null.
    Strrchr,
    /// As [`Model::Strchr`], but the string's end instead of null.
    Strchrnul,
    /// Copies a string; the result is the destination.
    Strcpy,
    /// Copies a string; the result is the end of the copy.
    Stpcpy,
    /// Copies at most slot 2 bytes and fills up with zeros; the result is the destination.
    Strncpy,
    /// As [`Model::Strncpy`]; the result is the end of the copied string.
    Stpncpy,
    /// Appends a string; the result is the destination.
    Strcat,
    /// Appends at most slot 2 bytes and a NUL; the result is the destination.
    Strncat,
    /// The first occurrence of a string in another, or null.
    Strstr,
    /// The length of the longest prefix with only bytes of a set.
    Strspn,
    /// The length of the longest prefix without bytes of a set.
    Strcspn,
    /// The first byte of a set in a string, or null.
    Strpbrk,
    /// The absolute value of an `int`.
    Abs,
    /// Also `llabs` and `imaxabs`: the absolute value of a `long`.
    Labs,
    /// The number of the lowest set bit of an `int`, from 1; 0 if there is none.
    Ffs,
    /// Also `ffsll`: the same for a `long`.
    Ffsl,
    /// The upper case of an ASCII letter; every other value stays.
    Toupper,
    /// The lower case of an ASCII letter; every other value stays.
    Tolower,
    /// Whether a value fits into 7 bits, as 0 or 1.
    Isascii,
    /// The low 7 bits.
    Toascii,
    /// `htons` and `ntohs`: the bytes of a 16-bit number exchanged.
    Swap16,
    /// `htonl` and `ntohl`: the bytes of a 32-bit number reversed.
    Swap32,
}

impl Model {
    /// Whether the result always comes from the recording because the effect depends on it.
    #[must_use]
    pub fn needs_result(self) -> bool {
        matches!(self, Model::Calloc)
    }
}

/// Applies a function's effect and computes its result (zero for `void`; an `int` is zero-extended
/// from 32 bits). `result` is the logged result, for models that require it.
///
/// # Errors
/// [`TooLong`]; memory may then be partially modified.
pub fn evaluate<M: Memory>(model: Model, args: &[u64], result: u64, m: &mut M) -> Result<u64, TooLong> {
    let arg = |i: usize| args.get(i).copied().unwrap_or(0);
    let (a, b, n) = (arg(0), arg(1), arg(2));
    Ok(match model {
        Model::Nothing => 0,
        Model::Calloc => {
            if let (true, Some(len)) = (result != 0, a.checked_mul(b)) {
                bounded(m, len)?;
                m.fill(result, 0, len);
            }
            result
        }
        Model::Memcpy | Model::Mempcpy => {
            bounded(m, n)?;
            m.copy(a, b, n);
            if model == Model::Memcpy { a } else { a.wrapping_add(n) }
        }
        Model::Bcopy => {
            bounded(m, n)?;
            m.copy(b, a, n);
            0
        }
        Model::Memccpy => {
            let (byte, n) = (n as u8, arg(3));
            let found = find(m, b, byte, n)?;
            let len = found.map_or(n, |at| at + 1);
            bounded(m, len)?;
            m.copy(a, b, len);
            if found.is_some() { a.wrapping_add(len) } else { 0 }
        }
        Model::Memset => {
            bounded(m, n)?;
            m.fill(a, b as u8, n);
            a
        }
        Model::Bzero => {
            bounded(m, b)?;
            m.fill(a, 0, b);
            0
        }
        Model::Memcmp => {
            bounded(m, n)?;
            compare(m, a, b, n, false, false)
        }
        Model::Memchr => find(m, a, b as u8, n)?.map_or(0, |i| a.wrapping_add(i)),
        Model::Rawmemchr => a.wrapping_add(end(m, a, b as u8)?),
        Model::Memrchr => {
            bounded(m, n)?;
            (0..n).rev().map(|i| a.wrapping_add(i)).find(|&p| m.byte(p) == b as u8).unwrap_or(0)
        }
        Model::Memmem => {
            let needle = arg(3);
            bounded(m, b)?;
            bounded(m, needle)?;
            search(m, a, b, n, needle)
        }
        Model::Strlen => end(m, a, 0)?,
        Model::Strnlen => find(m, a, 0, b)?.unwrap_or(b),
        Model::Strcmp => compare(m, a, b, u64::MAX, true, false),
        Model::Strncmp => compare(m, a, b, n, true, false),
        Model::Strcasecmp => compare(m, a, b, u64::MAX, true, true),
        Model::Strncasecmp => compare(m, a, b, n, true, true),
        Model::Strchr | Model::Strchrnul => {
            let len = end(m, a, 0)?;
            match m.find(a, b as u8, len + 1) {
                Some(i) => a.wrapping_add(i),
                None if model == Model::Strchrnul => a.wrapping_add(len),
                None => 0,
            }
        }
        Model::Strrchr => {
            let len = end(m, a, 0)?;
            (0..=len).rev().map(|i| a.wrapping_add(i)).find(|&p| m.byte(p) == b as u8).unwrap_or(0)
        }
        Model::Strcpy | Model::Stpcpy => {
            let len = end(m, b, 0)?;
            m.copy(a, b, len + 1);
            if model == Model::Strcpy { a } else { a.wrapping_add(len) }
        }
        Model::Strncpy | Model::Stpncpy => {
            bounded(m, n)?;
            let len = m.find(b, 0, n).unwrap_or(n);
            m.copy(a, b, len);
            m.fill(a.wrapping_add(len), 0, n - len);
            if model == Model::Strncpy { a } else { a.wrapping_add(len) }
        }
        Model::Strcat | Model::Strncat => {
            let start = a.wrapping_add(end(m, a, 0)?);
            let len = if model == Model::Strcat { end(m, b, 0)? } else { m.find(b, 0, n).unwrap_or(n) };
            bounded(m, len)?;
            m.copy(start, b, len);
            m.write(start.wrapping_add(len), &[0]);
            a
        }
        Model::Strstr => {
            let (hay, needle) = (end(m, a, 0)?, end(m, b, 0)?);
            search(m, a, hay, b, needle)
        }
        Model::Strspn | Model::Strcspn | Model::Strpbrk => {
            let set = byte_set(m, b)?;
            let wanted = model == Model::Strspn;
            let mut i = 0;
            loop {
                let byte = m.byte(a.wrapping_add(i));
                let inside = set[byte as usize / 64] >> (byte % 64) & 1 != 0;
                if byte == 0 || inside != wanted {
                    break match model {
                        Model::Strpbrk if byte == 0 => 0,
                        Model::Strpbrk => a.wrapping_add(i),
                        _ => i,
                    };
                }
                i += 1;
            }
        }
        Model::Abs => u64::from((a as u32).cast_signed().wrapping_abs().cast_unsigned()),
        Model::Labs => a.cast_signed().wrapping_abs().cast_unsigned(),
        Model::Ffs => u64::from(if a as u32 == 0 { 0 } else { (a as u32).trailing_zeros() + 1 }),
        Model::Ffsl => u64::from(if a == 0 { 0 } else { a.trailing_zeros() + 1 }),
        Model::Toupper => fold(a, b'a'..=b'z'),
        Model::Tolower => fold(a, b'A'..=b'Z'),
        Model::Isascii => u64::from(a as u32 & !0x7f == 0),
        Model::Toascii => a & 0x7f,
        Model::Swap16 => u64::from((a as u16).swap_bytes()),
        Model::Swap32 => u64::from((a as u32).swap_bytes()),
    })
}

fn bounded<M: Memory>(m: &M, len: u64) -> Result<(), TooLong> {
    if len <= m.limit() { Ok(()) } else { Err(TooLong) }
}

/// Distance to a byte among the next `n`. A program may give a huge `n` if it knows that the byte is there.
fn find<M: Memory>(m: &mut M, at: u64, byte: u8, n: u64) -> Result<Option<u64>, TooLong> {
    let found = m.find(at, byte, n.min(m.limit()));
    if found.is_none() {
        bounded(m, n)?;
    }
    Ok(found)
}

/// Distance to a terminator byte, which must exist.
fn end<M: Memory>(m: &mut M, at: u64, byte: u8) -> Result<u64, TooLong> {
    let limit = m.limit();
    m.find(at, byte, limit).ok_or(TooLong)
}

/// Difference of the first differing bytes, as the C library returns it.
fn compare<M: Memory>(m: &mut M, a: u64, b: u64, n: u64, strings: bool, ignore_case: bool) -> u64 {
    for i in 0..n {
        let (mut x, mut y) = (m.byte(a.wrapping_add(i)), m.byte(b.wrapping_add(i)));
        if ignore_case {
            (x, y) = (x.to_ascii_lowercase(), y.to_ascii_lowercase());
        }
        if x != y {
            return u64::from((i32::from(x) - i32::from(y)).cast_unsigned());
        }
        if strings && x == 0 {
            break;
        }
    }
    0
}

fn search<M: Memory>(m: &mut M, hay: u64, hay_len: u64, needle: u64, needle_len: u64) -> u64 {
    if needle_len == 0 {
        return hay;
    }
    let first = m.byte(needle);
    let mut at = 0;
    while needle_len <= hay_len - at {
        let Some(skip) = m.find(hay.wrapping_add(at), first, hay_len - at - needle_len + 1) else { break };
        at += skip;
        if compare(m, hay.wrapping_add(at), needle, needle_len, false, false) == 0 {
            return hay.wrapping_add(at);
        }
        at += 1;
    }
    0
}

fn byte_set<M: Memory>(m: &mut M, at: u64) -> Result<[u64; 4], TooLong> {
    let mut set = [0; 4];
    for i in 0..end(m, at, 0)? {
        let byte = m.byte(at.wrapping_add(i));
        set[byte as usize / 64] |= 1 << (byte % 64);
    }
    Ok(set)
}

/// Inverts the case of letters in the range, as in the C locale.
fn fold(a: u64, letters: core::ops::RangeInclusive<u8>) -> u64 {
    match u8::try_from(a) {
        Ok(byte) if letters.contains(&byte) => a ^ 0x20,
        _ => u64::from(a as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    struct Bytes(Vec<u8>);

    impl Memory for Bytes {
        fn read(&mut self, at: u64, into: &mut [u8]) {
            for (i, b) in into.iter_mut().enumerate() {
                *b = self.0.get(at as usize + i).copied().unwrap_or(0);
            }
        }
        fn write(&mut self, at: u64, bytes: &[u8]) {
            self.0[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        }
    }

    fn run(text: &[u8], model: Model, args: &[u64]) -> (u64, Vec<u8>) {
        let mut m = Bytes(text.to_vec());
        let r = evaluate(model, args, 0, &mut m).unwrap();
        (r, m.0)
    }

    #[test]
    fn searching() {
        let text = b"hello world\0lo w\0xyz\0";
        assert_eq!(run(text, Model::Strlen, &[0]).0, 11);
        assert_eq!(run(text, Model::Strnlen, &[0, 4]).0, 4);
        assert_eq!(run(text, Model::Strchr, &[0, u64::from(b'o')]).0, 4);
        assert_eq!(run(text, Model::Strchr, &[0, 0]).0, 11);
        assert_eq!(run(text, Model::Strrchr, &[1, u64::from(b'o')]).0, 7);
        assert_eq!(run(text, Model::Strchrnul, &[1, u64::from(b'q')]).0, 11);
        assert_eq!(run(text, Model::Strstr, &[1, 12]).0, 3);
        assert_eq!(run(text, Model::Strstr, &[1, 17]).0, 0);
        assert_eq!(run(text, Model::Strspn, &[3, 12]).0, 5);
        assert_eq!(run(text, Model::Strcspn, &[1, 12]).0, 1);
        assert_eq!(run(text, Model::Strpbrk, &[1, 17]).0, 0);
        assert_eq!(run(text, Model::Memrchr, &[1, u64::from(b'l'), 6]).0, 3);
        assert_eq!(run(text, Model::Memmem, &[1, 11, 12, 4]).0, 3);
        assert_eq!(run(b"aaab\0aab\0", Model::Strstr, &[0, 5]).0, 1);
    }

    #[test]
    fn comparing_gives_the_difference() {
        let text = b"abc\0abd\0ABC\0";
        assert_eq!(run(text, Model::Strcmp, &[1, 5]).0, u64::from((-1i32).cast_unsigned()));
        assert_eq!(run(text, Model::Strncmp, &[1, 5, 1]).0, 0);
        assert_eq!(run(text, Model::Strcasecmp, &[1, 9]).0, 0);
        assert_eq!(run(text, Model::Memcmp, &[4, 0, 3]).0, 1);
    }

    #[test]
    fn writing() {
        assert_eq!(run(b"abcdef", Model::Memcpy, &[1, 0, 4]).1, b"aabcdf");
        assert_eq!(run(b"abcdef", Model::Memcpy, &[0, 2, 4]).1, b"cdefef");
        assert_eq!(run(b"ab\0xxxxx", Model::Stpcpy, &[4, 0]), (6, b"ab\0xab\0x".to_vec()));
        assert_eq!(run(b"ab\0xxxxx", Model::Strncpy, &[3, 0, 4]).1, b"ab\0ab\0\0x");
        assert_eq!(run(b"ab\0xxx", Model::Strcat, &[1, 1]).1, b"abb\0xx");
        let b = u64::from(b'b');
        assert_eq!(run(b"abcdxxxx", Model::Memccpy, &[4, 0, b, 4]), (6, b"abcdabxx".to_vec()));
        assert_eq!(run(b"acdexxxx", Model::Memccpy, &[4, 0, b, 3]), (0, b"acdeacdx".to_vec()));
        assert_eq!(run(b"ab\0xyz\0", Model::Strncat, &[0, 3, 1]).1, b"abx\0yz\0");
        let long: Vec<u8> = (0..1000).map(|i| i as u8).collect();
        let mut want = long.clone();
        want.copy_within(3..903, 10);
        assert_eq!(run(&long, Model::Memcpy, &[10, 3, 900]).1, want);
    }

    #[test]
    fn numbers() {
        assert_eq!(run(&[], Model::Abs, &[u64::from((-5i32).cast_unsigned())]).0, 5);
        assert_eq!(run(&[], Model::Ffs, &[8]).0, 4);
        assert_eq!(run(&[], Model::Toupper, &[u64::from(b'q')]).0, u64::from(b'Q'));
        assert_eq!(run(&[], Model::Toupper, &[u64::from(u32::MAX)]).0, u64::from(u32::MAX));
    }

    #[test]
    fn nonsense_lengths_are_refused() {
        let mut m = Bytes(vec![0; 4]);
        assert_eq!(evaluate(Model::Memcpy, &[0, 0, u64::MAX], 0, &mut m), Err(TooLong));
    }
}
