//! Tests of CTest, as `ctest --show-only=json-v1` prints them.
//!
//! Commands are absolute paths into the built tree, but tests run in copies of it. So each command first
//! determines the path of its copy.

use crate::test::Test;
use crate::{Error, Result};
use serde::Deserialize;
use std::path::Path;

/// The tests of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The tests that can be used, in the order of the list.
    pub tests: Vec<Test>,
    /// Tests that cannot be judged by their exit status, and why.
    pub left_out: Vec<String>,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    tests: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    /// Missing if the program is not built.
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: serde_json::Value,
}

/// Parses the list. `tree` is the path of the build; tests run in the directory `subdirectory` of a copy.
///
/// # Errors
/// If it is not such a list.
pub fn read(text: &[u8], tree: &Path, subdirectory: &Path) -> Result<Listed> {
    let list: List = serde_json::from_slice(text)
        .map_err(|error| Error::Suite { why: format!("what ctest printed is not understood: {error}") })?;
    let mut listed = Listed::default();
    for entry in list.tests {
        match command(&entry, tree, subdirectory) {
            Ok(command) => {
                listed.tests.push(Test { name: Some(entry.name.clone()), ..Test::new(&command) });
            }
            Err(why) => listed.left_out.push(format!("{}: {why}", entry.name)),
        }
    }
    Ok(listed)
}

fn command(entry: &Entry, tree: &Path, subdirectory: &Path) -> std::result::Result<String, &'static str> {
    if entry.command.is_empty() {
        return Err("its program is not built");
    }
    let up: String = subdirectory.components().map(|_| "../").collect();
    let tree = tree.display().to_string();
    let placed = |word: &str| {
        let word = trials::quoted(word.as_bytes());
        // Close the single quotes around the path of the copy, which the shell has to expand.
        word.replace(&tree, if word.starts_with('\'') { "'\"$T\"'" } else { "\"$T\"" })
    };
    let words: Vec<String> = entry.command.iter().map(|word| placed(word)).collect();
    let mut run = words.join(" ");
    let (mut directory, mut will_fail, mut skip) = (None, false, None);
    for property in &entry.properties {
        let value = &property.value;
        match property.name.as_str() {
            "WORKING_DIRECTORY" => directory = value.as_str().map(placed),
            "ENVIRONMENT" => {
                let variables = value.as_array().into_iter().flatten().filter_map(|v| v.as_str());
                let variables: Vec<String> = variables.map(placed).collect();
                run = format!("env {} {run}", variables.join(" "));
            }
            "WILL_FAIL" => will_fail = value.as_bool().unwrap_or(false),
            "SKIP_RETURN_CODE" => skip = value.as_i64(),
            "DISABLED" if value.as_bool() == Some(true) => return Err("it is disabled"),
            "PASS_REGULAR_EXPRESSION" | "FAIL_REGULAR_EXPRESSION" | "SKIP_REGULAR_EXPRESSION" => {
                return Err("it is judged by what it prints");
            }
            _ => {}
        }
    }
    let go = directory.map(|directory| format!("cd {directory} && ")).unwrap_or_default();
    let judged = match (will_fail, skip) {
        (true, _) => format!("! {run}"),
        (false, Some(code)) => format!("{{ {run}; c=$?; [ $c != {code} ] || c=125; exit $c; }}"),
        (false, None) => run,
    };
    Ok(format!("T=$(cd ./{up} && pwd); {go}{judged}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"kind":"ctestInfo","tests":[
        {"name":"sum","command":["/w/s00/b/sum","a b"],
         "properties":[{"name":"WORKING_DIRECTORY","value":"/w/s00/b"}]},
        {"name":"no","command":["/w/s00/b/sum"],"properties":[{"name":"WILL_FAIL","value":true}]},
        {"name":"old","command":["/w/s00/b/sum"],"properties":[{"name":"SKIP_RETURN_CODE","value":77}]},
        {"name":"said","command":["/w/s00/b/sum"],
         "properties":[{"name":"PASS_REGULAR_EXPRESSION","value":["done"]}]},
        {"name":"later"}]}"#;

    #[test]
    fn commands_run_in_a_copy_of_the_tree() {
        let listed = read(LIST.as_bytes(), Path::new("/w/s00"), Path::new("src/x")).unwrap();
        let commands: Vec<&str> = listed.tests.iter().map(|test| test.command.as_str()).collect();
        let at = "T=$(cd ./../../ && pwd); ";
        assert_eq!(
            commands,
            [
                format!("{at}cd \"$T\"/b && \"$T\"/b/sum 'a b'"),
                format!("{at}! \"$T\"/b/sum"),
                format!("{at}{{ \"$T\"/b/sum; c=$?; [ $c != 77 ] || c=125; exit $c; }}"),
            ]
        );
        assert_eq!(
            listed.left_out,
            ["said: it is judged by what it prints", "later: its program is not built"]
        );
    }

    #[test]
    fn another_text_is_no_suite() {
        assert!(read(b"No tests were found", Path::new("/w"), Path::new("")).is_err());
    }
}
