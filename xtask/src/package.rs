//! `cargo xtask package`: builds and tests a Debian package of the commands.
//!
//! The package depends on the libraries that `relapse` loads on this machine. Dependencies of compiling only
//! (LLVM's library, clang, lld) are recommended: a machine that only reads recordings does not need them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::cases::{self, Case};
use crate::setup;
use crate::shell::{self, Result};
use crate::tools::Tools;

/// The timeout of a step of the test.
const LIMIT: Duration = Duration::from_secs(600);

/// Needed to compile, and to explain versions that are revisions.
const RECOMMENDED: [&str; 6] = ["clang-22", "lld-22", "libc6-dev", "libstdc++-dev", "git", "cvc5"];

/// `cargo xtask package [--dev]`
pub fn command(args: &[&str]) -> Result<()> {
    let tools = match args {
        [] => {
            setup::install(setup::Need::Use)?;
            Tools::build()?
        }
        ["--dev"] => Tools::build_dev()?,
        _ => return Err("usage: cargo xtask package [--dev]".to_owned()),
    };
    let dir = shell::target().join("package");
    shell::create_empty_dir(&dir)?;
    let tree = dir.join("tree");
    lay_out(&tools, &tree)?;
    let version = version(&tools)?;
    shell::write(&tree.join("DEBIAN/control"), &control(&tools, &tree, &version)?)?;
    let package = dir.join(format!("relapse_{version}_amd64.deb"));
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "--build"]).arg(&tree).arg(&package);
    if let Some(time) = git(&["log", "-1", "--format=%ct"]) {
        pack.env("SOURCE_DATE_EPOCH", time);
    }
    shell::run(&mut pack)?;
    attempt(&package, &dir.join("trial"))?;
    println!("{}", package.display());
    Ok(())
}

/// Creates the files of the package.
fn lay_out(tools: &Tools, tree: &Path) -> Result<()> {
    let bin = tree.join("usr/bin");
    shell::create_empty_dir(&bin)?;
    for program in [&tools.relapse, &tools.cc] {
        let to = bin.join(program.file_name().unwrap_or_default());
        shell::run(Command::new("strip").arg("--strip-unneeded").arg("-o").arg(&to).arg(program))?;
    }
    std::os::unix::fs::symlink("relapse-cc", bin.join("relapse-c++"))
        .map_err(|error| format!("failed to link relapse-c++: {error}"))?;

    let share = tree.join("usr/share");
    for (words, file) in [
        (["completions", "bash"].as_slice(), "bash-completion/completions/relapse"),
        (&["completions", "zsh"], "zsh/vendor-completions/_relapse"),
        (&["completions", "fish"], "fish/vendor_completions.d/relapse.fish"),
        (&["man"], "man/man1/relapse.1"),
    ] {
        shell::write(&share.join(file), output(Command::new(&tools.relapse).args(words))?)?;
    }
    shell::run(Command::new("gzip").args(["-9", "-n"]).arg(share.join("man/man1/relapse.1")))?;
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| fs::read_to_string(shell::root().join(name)));
    let [mit, apache] =
        licences.map(|text| text.map_err(|error| format!("failed to read a licence: {error}")));
    let terms = format!("MIT or Apache-2.0, as you like.\n\n{}\n{}", mit?, apache?);
    shell::write(&share.join("doc/relapse/copyright"), &terms)?;
    let readme = share.join("doc/relapse/README.md");
    fs::copy(shell::root().join("README.md"), readme)
        .map_err(|error| format!("failed to copy README.md: {error}"))?;
    Ok(())
}

fn control(tools: &Tools, tree: &Path, version: &str) -> Result<String> {
    let needed = packages_needed_by(&tools.relapse)?;
    let to_compile: BTreeSet<String> = packages_needed_by(&tools.cc)?.difference(&needed).cloned().collect();
    let list = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(", ");
    let size = output(Command::new("du").args(["-sk", "--apparent-size"]).arg(tree))?;
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Ok(format!(
        "Package: relapse\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Section: devel\n\
         Priority: optional\n\
         Maintainer: {name} <{mail}>\n\
         Installed-Size: {size}\n\
         Depends: {depends}\n\
         Recommends: {recommends}\n\
         Description: regression debugger for C and C++ programs\n \
         Records a test with the version on which it passed and the one on which it fails,\n \
         names the changes that broke it, and shows the chain of values from them to the failure.\n",
        name = variable("DEBFULLNAME").unwrap_or_else(|| "relapse".to_owned()),
        mail = variable("DEBEMAIL").unwrap_or_else(|| "relapse@localhost".to_owned()),
        size = size.split_whitespace().next().unwrap_or("0"),
        depends = list(&mut needed.iter().cloned()),
        recommends = list(&mut to_compile.into_iter().chain(RECOMMENDED.map(str::to_owned))),
    ))
}

/// The packages of the libraries that a program is linked with, in the versions of this machine or later
/// ones. Indirect dependencies are theirs.
fn packages_needed_by(program: &Path) -> Result<BTreeSet<String>> {
    let header = output(Command::new("readelf").arg("--dynamic").arg(program))?;
    let named = |line: &&str| line.contains("(NEEDED)");
    let names: Vec<&str> =
        header.lines().filter(named).filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    let listed = output(Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1"))?;
    // `name => /path (address)`
    let loaded = listed.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        names.contains(&name).then(|| words.find(|word| word.starts_with('/'))).flatten()
    });
    let real = loaded.filter_map(|file| fs::canonicalize(file).ok());
    real.map(|file| package_of(&file).ok_or(format!("{} is of no Debian package", file.display()))).collect()
}

fn package_of(file: &Path) -> Option<String> {
    // Packages may list a file by its path from before /lib became a link.
    let name = file.to_str()?;
    let names = [name, name.strip_prefix("/usr").unwrap_or(name)];
    let package = names.iter().find_map(|name| {
        let owner = output(Command::new("dpkg-query").args(["-S", name])).ok()?;
        Some(owner.split_once(':')?.0.to_owned())
    })?;
    let query = ["-W", "-f=${source:Upstream-Version}", &package];
    let version = output(Command::new("dpkg-query").args(query)).ok()?;
    Some(format!("{package} (>= {})", version.trim()))
}

/// The version; a later commit has a higher one.
fn version(tools: &Tools) -> Result<String> {
    let said = output(Command::new(&tools.relapse).arg("--version"))?;
    let number = said.split_whitespace().last().unwrap_or_default();
    Ok(match git(&["log", "-1", "--date=format:%Y%m%d%H%M", "--format=%cd.%h"]) {
        Some(commit) => format!("{number}+{commit}"),
        None => number.to_owned(),
    })
}

fn git(words: &[&str]) -> Option<String> {
    let said = output(Command::new("git").args(words).current_dir(shell::root())).ok()?;
    Some(said.trim().to_owned())
}

/// The output of a command that must succeed.
fn output(command: &mut Command) -> Result<String> {
    let outcome = shell::capture(command, LIMIT)?;
    if outcome.timed_out || !outcome.status.success() {
        return Err(format!("{} failed: {}", shell::shown(command), outcome.complaint()));
    }
    Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
}

/// Unpacks the package, and builds, records and explains a program using only its content.
fn attempt(package: &Path, dir: &Path) -> Result<()> {
    let root = dir.join("root");
    shell::create_empty_dir(&root)?;
    shell::run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&root))?;
    let case = Case::one(&cases::home(), "running-example")?;
    case.lay_out(dir)?;
    let call = |program: &str, words: &[String]| -> Result<String> {
        let mut command = Command::new(root.join("usr/bin").join(program));
        command.args(words).current_dir(dir);
        command.env_clear().env("HOME", dir).env("PATH", format!("{}/usr/bin:/usr/bin:/bin", root.display()));
        output(&mut command).map_err(|reason| format!("installed from the package, {reason}"))
    };
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    shell::write(
        &dir.join("sum.c"),
        "#include <stdio.h>\nint main(void) { int s = 0; for (int i = 0; i < 9; i++) s += i; printf(\"%d\\n\", s); }\n",
    )?;
    shell::write(&dir.join("hello.cc"), "#include <iostream>\nint main() { std::cout << \"hello\\n\"; }\n")?;
    call("relapse", &words("cc -g sum.c -o sum"))?;
    call("relapse-c++", &words("-g hello.cc -o hello"))?;
    for (program, output) in [("sum", "36\n"), ("hello", "hello\n")] {
        let said = call("relapse", &words(&format!("record --quiet -o {program}.rec ./{program}")))?;
        if said != output {
            return Err(format!("{program}, recorded by the package, wrote {said:?}"));
        }
        call("relapse", &words(&format!("replay {program}.rec")))?;
    }
    let mut explain = words("explain --good good --bad bad");
    explain.extend(case.arguments(&case.build));
    let explained = call("relapse", &explain)?;
    if !explained.contains("verified: undoing 2 of 4 changes together") {
        return Err(format!("the package explains the example otherwise:\n{explained}"));
    }
    Ok(())
}
