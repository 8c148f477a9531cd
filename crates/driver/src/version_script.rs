//! Version scripts of shared libraries often hide every symbol they do not name. The runtime's
//! symbols must stay visible, or the process would have one runtime in the executable and another
//! in the library. The link step therefore uses a copy of the script that names them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the option's words with each `--version-script` replaced by a copy in
/// `temp` that leaves the runtime's symbols visible.
pub fn open(words: &[OsString], temp: &Path) -> io::Result<Vec<OsString>> {
    let Some(first) = words.first().and_then(|word| word.to_str()) else { return Ok(words.to_vec()) };
    let Some(list) = first.strip_prefix("-Wl,") else {
        if first == "-Xlinker"
            && let Some(value) = words.get(1).and_then(|word| word.to_str())
            && let Some(path) = script_in(value)
        {
            let copy = copy_of(Path::new(path), temp)?;
            return Ok(vec![words[0].clone(), format!("--version-script={}", copy.display()).into()]);
        }
        return Ok(words.to_vec());
    };
    let mut parts: Vec<String> = Vec::new();
    let mut rest = list.split(',');
    while let Some(part) = rest.next() {
        if let Some(path) = script_in(part) {
            parts.push(format!("--version-script={}", copy_of(Path::new(path), temp)?.display()));
        } else if matches!(part, "--version-script" | "-version-script") {
            match rest.next() {
                Some(path) => {
                    parts.push(format!("--version-script={}", copy_of(Path::new(path), temp)?.display()))
                }
                // The value is in the next `-Wl,`, a rare form that is not supported.
                None => parts.push(part.to_owned()),
            }
        } else {
            parts.push(part.to_owned());
        }
    }
    Ok(vec![format!("-Wl,{}", parts.join(",")).into()])
}

fn script_in(word: &str) -> Option<&str> {
    word.strip_prefix("--version-script=").or_else(|| word.strip_prefix("-version-script="))
}

/// A copy of the script at `path`, or the path itself if there is nothing to change or it cannot be
/// read (then the linker reports the error).
fn copy_of(path: &Path, temp: &Path) -> io::Result<PathBuf> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(path.to_owned()) };
    let Some(changed) = with_runtime_visible(&text) else { return Ok(path.to_owned()) };
    let mut file = tempfile::Builder::new().suffix(".map").tempfile_in(temp)?;
    io::Write::write_all(&mut file, changed.as_bytes())?;
    let (_, kept) = file.keep().map_err(|error| error.error)?;
    Ok(kept)
}

/// The script with the runtime's symbols global in its first node.
fn with_runtime_visible(text: &str) -> Option<String> {
    let open = first_brace(text)?;
    let (head, tail) = text.split_at(open + 1);
    Some(format!("{head} global: __relapse_*; {tail}"))
}

/// The position of the first `{` outside comments.
fn first_brace(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => return Some(at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = at + 2 + text.get(at + 2..)?.find("*/")? + 2;
            }
            b'#' => at += text.get(at..)?.find('\n')?,
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_node_names_the_runtime() {
        assert_eq!(
            with_runtime_visible("/* { */ V1 { local: *; };").unwrap(),
            "/* { */ V1 { global: __relapse_*;  local: *; };"
        );
        assert_eq!(with_runtime_visible("no node"), None);
    }

    #[test]
    fn options_point_to_the_copy() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("v.map");
        fs::write(&script, "{ global: f; local: *; };").unwrap();
        let path = script.display();
        for words in [
            vec![format!("-Wl,-z,defs,--version-script={path}")],
            vec![format!("-Wl,--version-script,{path},-z,defs")],
            vec!["-Xlinker".to_owned(), format!("--version-script={path}")],
        ] {
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let out = open(&words, dir.path()).unwrap();
            let last = out.last().unwrap().to_str().unwrap();
            let copy = last.split(',').find_map(script_in).or_else(|| script_in(last)).unwrap();
            assert!(fs::read_to_string(copy).unwrap().contains("__relapse_*"), "{last}");
        }
        let other: Vec<OsString> = vec!["-Wl,-soname,libx.so".into()];
        assert_eq!(open(&other, dir.path()).unwrap(), other);
    }
}
