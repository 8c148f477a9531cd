//! The object cache: translation units with equal preprocessed text and equal options are compiled
//! only once, whether they compile or have errors.
//!
//! ```text
//! a.c ─ clang -E ─► text ─┐
//!                         ├─ hash ─► key ─► entry? ── yes ─► object, diagnostics
//!    options, compilers ──┘                    └───── no ──► compile, then store
//! ```
//! * [`uncacheable`]: commands whose result cannot be cached;
//! * [`key`]: the inputs that determine a result;
//! * [`source_failure`]: failures caused by the source alone, which can be cached;
//! * [`entries`]: the files, their checksums, their size, the statistics.
//!
//! The preprocessing run also writes the dependency file. It is never stored, because its file
//! names differ between trees.

mod entries;
mod key;
mod source_failure;
mod uncacheable;

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::command::{Command, Input};
use super::process::DiagnosticSink;
use super::setup::Mode;
use super::tree::{PathStart, Tree};
use super::{Session, compile};
use entries::{Entries, Entry, Found};

pub use entries::{CacheCounts, cache_counts};

/// One in this many stores checks the size of the whole cache.
const TRIM_EVERY: u128 = 16;

/// The location and size limit of the cache of compiled objects.
#[derive(Clone, Debug)]
pub struct ObjectCache {
    /// The directory, which builds may share.
    pub dir: PathBuf,
    /// The size limit in bytes.
    pub limit: u64,
}

impl ObjectCache {
    /// Compiles `input` into `product`, or copies the result of an equal compilation from the
    /// cache. Returns the exit code.
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
                // If the product cannot be written, compile anyway: clang reports the error.
                let placed = if failed { remove_product(product) } else { place(&entry.object, product) };
                if placed.is_ok() {
                    entries.count(if failed { "hit-failure" } else { "hit" }, &name);
                    session.runner.log_line(&format!("# from the cache: {key:032x}"));
                    let said = tree.map_or(entry.diagnostics.clone(), |tree| tree.show(&entry.diagnostics));
                    // A closed standard error is not an error.
                    let _ = io::stderr().write_all(&said);
                    return Ok(entry.code);
                }
            }
            Found::Damaged => entries.count("damaged", &name),
            Found::Nothing => {}
        }
        entries.count("miss", &name);
        let before = file_stamps(&sources);
        let mut sink = DiagnosticSink::Kept(Vec::new());
        let made = compile::fresh(session, command, input, product, first, &mut sink)?;
        let lasting = made.code == 0 || source_failure::is_source_failure(made.code, sink.kept());
        // If a source was edited during compilation, the key does not match the result.
        if lasting && made.as_requested && file_stamps(&sources) == before {
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
        let diagnostics =
            tree.map_or_else(|| said.to_vec(), |tree| tree.hide(said, PathStart::AfterDelimiter));
        let object = if code == 0 { fs::read(product)? } else { Vec::new() };
        entries.store(key, &Entry { code, diagnostics, object })?;
        if key.is_multiple_of(TRIM_EVERY) {
            entries.trim(self.limit)?;
        }
        Ok(())
    }
}

/// The preprocessed text of `input`, or the reason why the cache cannot be used.
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
    let args = compile::preprocess_args(session, command, input, file.path(), first);
    let (code, _) = session.runner.run_captured(&session.clang, &args)?;
    if code != 0 {
        // The compiler itself reports the error.
        return Ok(Err("preprocessing failed".to_owned()));
    }
    let text = fs::read(file.path())?;
    Ok(uncacheable::by_text(&text).map_or(Ok(text), Err))
}

/// Writes `object` to `product` atomically, with the permissions that a compiler sets.
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

/// Removes the product of an earlier compilation, as clang does when a source has errors.
fn remove_product(product: &Path) -> io::Result<()> {
    match fs::remove_file(product) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Size and time of files, to detect changes.
fn file_stamps<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<Option<(u64, SystemTime)>> {
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
