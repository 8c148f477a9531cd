//! Names of files that mean the same on another machine.
//!
//! Paths in the working directory begin with `./`, paths in the home directory with `~/`, and the process's
//! own folder in `/proc` is `/proc/self`. Everything else is absolute.

use crate::record::Bytes;

/// The directories whose names differ between machines.
#[derive(Clone, Debug, Default)]
pub struct PathMap {
    /// Sorted by decreasing length.
    marks: Vec<(Bytes, Bytes)>,
}

impl PathMap {
    /// `homes`: home directories, here and where it was recorded.
    pub fn new(directory: &[u8], homes: &[&[u8]]) -> PathMap {
        let mut marks: Vec<(Bytes, Bytes)> = vec![(clean(directory), b".".to_vec())];
        marks.extend(homes.iter().map(|home| (clean(home), b"~".to_vec())));
        marks.retain(|(path, _)| path.len() > 1 && path.starts_with(b"/"));
        marks.sort_by_key(|(path, mark)| (std::cmp::Reverse(path.len()), mark.clone()));
        PathMap { marks }
    }

    /// The portable form of an absolute path; `pid` is the process that names it.
    pub fn portable(&self, path: &[u8], pid: i32) -> Bytes {
        if let Some(rest) = path.strip_prefix(format!("/proc/{pid}").as_bytes())
            && (rest.is_empty() || rest[0] == b'/')
        {
            return [b"/proc/self", rest].concat();
        }
        for (prefix, mark) in &self.marks {
            if let Some(rest) = path.strip_prefix(prefix.as_slice())
                && (rest.is_empty() || rest[0] == b'/')
            {
                return [mark.as_slice(), rest].concat();
            }
        }
        path.to_vec()
    }

    /// The path on this machine of a portable form.
    pub fn here(&self, portable: &[u8]) -> Bytes {
        for (prefix, mark) in &self.marks {
            if let Some(rest) = portable.strip_prefix(mark.as_slice())
                && (rest.is_empty() || rest[0] == b'/')
            {
                return [prefix.as_slice(), rest].concat();
            }
        }
        portable.to_vec()
    }
}

/// `path` relative to `base`, without `.`, `..` and doubled slashes. Symbolic links are not resolved: a name
/// is what the program passes.
pub fn absolute(base: &[u8], path: &[u8]) -> Bytes {
    match path.first() {
        Some(b'/') => clean(path),
        _ => clean(&[base, b"/", path].concat()),
    }
}

fn clean(path: &[u8]) -> Bytes {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    match parts.is_empty() {
        true => b"/".to_vec(),
        false => parts.iter().flat_map(|part| [b"/".as_slice(), part].concat()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_their_directory() {
        assert_eq!(absolute(b"/a/b", b"../c/./d//e"), b"/a/c/d/e");
        assert_eq!(absolute(b"/a", b"/x/../.."), b"/");
        assert_eq!(absolute(b"/", b"f"), b"/f");
    }

    #[test]
    fn the_same_file_has_the_same_name_elsewhere() {
        let there = PathMap::new(b"/home/ann/app", &[b"/home/ann"]);
        let here = PathMap::new(b"/srv/app", &[b"/root", b"/home/ann"]);
        for (a, b) in [
            (&b"/home/ann/app/conf"[..], &b"/srv/app/conf"[..]),
            (b"/home/ann/.rc", b"/root/.rc"),
            (b"/etc/passwd", b"/etc/passwd"),
            (b"/proc/7/maps", b"/proc/9/maps"),
        ] {
            assert_eq!(there.portable(a, 7), here.portable(b, 9));
        }
        assert_eq!(here.here(b"./conf"), b"/srv/app/conf");
        assert_eq!(here.portable(b"/srv/application", 9), b"/srv/application");
    }
}
