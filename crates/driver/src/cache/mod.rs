//! The object cache: no translation unit with the same preprocessed text and the same
//! options is compiled twice, whether it compiles or is refused.
//!
//! ```text
//! a.c ─ clang -E ─► text ─┐
//!                         ├─ hash ─► key ─► entry? ── yes ─► object, diagnostics
//!    options, compilers ──┘                    └───── no ──► compile, then store
//! ```
//! * [`uncacheable`]: what is not for the cache;
//! * [`key`]: what decides about a result;
//! * [`refused`]: which failures are the source's own, so that they may be kept;
//! * [`entries`]: the files, their checksums, their size, the statistics.
//!
//! The preprocessing run also writes the dependency file, which names other files in
//! another tree and so is never stored.

mod entries;
mod key;
mod refused;
mod uncacheable;

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::command::{Command, Input};
use super::process::DiagnosticSink;
use super::setup::Mode;
use super::tree::{Begins, Tree};
use super::{Session, compile};
use entries::{Entries, Entry, Found};

pub use entries::{CacheCounts, cache_counts};

/// One in so many stores looks at the size of the whole cache.
const TRIM_EVERY: u128 = 16;

/// Where compiled objects are kept, and how many.
#[derive(Clone, Debug)]
pub struct ObjectCache {
    /// The folder, which builds may share.
    pub dir: PathBuf,
    /// The size it may have, in bytes.
    pub limit: u64,
}

impl ObjectCache {
    /// Compiles `input` into `product`, or takes what was made of the same before.
    /// Returns the exit code.
    pub fn compile(
        &self,
        session: &Session,
        command: &Command,
        input: &Input,
        product: &Path,
        first: bool,
    ) -> io::Result<i32> {
        let entries = Entries { dir: self.dir.clone() };
        let text = match preprocessed(session, command, input, product, first)? {
            Ok(text) => text,
            Err(reason) => {
                entries.count("bypass", &reason);
                session.runner.log_line(&format!("# not cached: {reason}"));
                let made =
                    compile::fresh(session, command, input, product, first, &mut DiagnosticSink::Direct)?;
                return Ok(made.code);
            }
        };
        let key = key::key(session, command, input, first, &text);
        let sources = key::sources(&text);
        drop(text);
        let tree = session.tree.as_ref().filter(|_| session.mode == Mode::Plain);
        let name = input.path.to_string_lossy();
        match entries.find(key) {
            Found::Entry(entry) => {
                let failed = entry.code != 0;
                // If the product cannot be written, clang has the right words for it.
                let placed = if failed { take_away(product) } else { place(&entry.object, product) };
                if placed.is_ok() {
                    entries.count(if failed { "hit-failure" } else { "hit" }, &name);
                    session.runner.log_line(&format!("# from the cache: {key:032x}"));
                    let said = tree.map_or(entry.diagnostics.clone(), |tree| tree.show(&entry.diagnostics));
                    // If standard error is closed there is nobody to tell.
                    let _ = io::stderr().write_all(&said);
                    return Ok(entry.code);
                }
            }
            Found::Damaged => entries.count("damaged", &name),
            Found::Nothing => {}
        }
        entries.count("miss", &name);
        let before = stamps(&sources);
        let mut sink = DiagnosticSink::Kept(Vec::new());
        let made = compile::fresh(session, command, input, product, first, &mut sink)?;
        let lasting = made.code == 0 || refused::is_refusal(made.code, sink.kept());
        // What was edited meanwhile is not what the key says.
        if lasting && made.as_asked && stamps(&sources) == before {
            let stored = self.store(&entries, key, made.code, product, tree, &sink);
            if let Err(error) = stored {
                session.runner.log_line(&format!("# failed to store in the cache: {error}"));
            }
        }
        Ok(made.code)
    }

    fn store(
        &self,
        entries: &Entries,
        key: u128,
        code: i32,
        product: &Path,
        tree: Option<&Tree>,
        sink: &DiagnosticSink,
    ) -> io::Result<()> {
        let said = sink.kept();
        let diagnostics = tree.map_or_else(|| said.to_vec(), |tree| tree.hide(said, Begins::Apart));
        let object = if code == 0 { fs::read(product)? } else { Vec::new() };
        entries.store(key, &Entry { code, diagnostics, object })?;
        if key.is_multiple_of(TRIM_EVERY) {
            entries.trim(self.limit)?;
        }
        Ok(())
    }
}

/// The preprocessed text of `input`, or why the cache has no part in this.
fn preprocessed(
    session: &Session,
    command: &Command,
    input: &Input,
    product: &Path,
    first: bool,
) -> io::Result<Result<Vec<u8>, String>> {
    if let Some(reason) = uncacheable::by_command(command, input, product) {
        return Ok(Err(reason));
    }
    let file = tempfile::Builder::new().suffix(".i").tempfile_in(session.temp.path())?;
    let args = compile::to_text(session, command, input, file.path(), first);
    let (code, _) = session.runner.run_captured(&session.clang, &args)?;
    if code != 0 {
        // The compiler itself will say what is wrong.
        return Ok(Err("preprocessing failed".to_owned()));
    }
    let text = fs::read(file.path())?;
    Ok(uncacheable::by_text(&text).map_or(Ok(text), Err))
}

/// Puts `object` where `product` is wanted, whole or not at all, with the rights that
/// a compiler gives.
fn place(object: &[u8], product: &Path) -> io::Result<()> {
    let dir = match product.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".relapse-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(dir)?;
    file.write_all(object)?;
    file.persist(product).map_err(|error| error.error)?;
    Ok(())
}

/// Takes away what an earlier compilation made, as clang does when it refuses a source.
fn take_away(product: &Path) -> io::Result<()> {
    match fs::remove_file(product) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Size and time of files, to see whether they change.
fn stamps<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<Option<(u64, SystemTime)>> {
    let stamp = |path: &PathBuf| {
        let meta = fs::metadata(path).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    };
    paths.into_iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_gets_the_rights_of_a_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let (ordinary, ours) = (dir.path().join("ordinary"), dir.path().join("ours"));
        fs::write(&ordinary, "x").unwrap();
        place(b"object", &ours).unwrap();
        let rights = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(rights(&ours), rights(&ordinary));
        assert_eq!(fs::read(&ours).unwrap(), b"object");
        assert!(place(b"object", &dir.path().join("no/such/folder.o")).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
