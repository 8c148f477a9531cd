//! Finding the model in an ELF file.

use crate::model::Module;
use crate::section::{self, SectionError};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What `relapse` wants to know of an executable, shared library or object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binary {
    /// The GNU build id, if the linker wrote one.
    pub build_id: Option<Vec<u8>>,
    /// The models of its translation units; empty if it was built by another
    /// compiler.
    pub modules: Vec<Module>,
}

/// Why a binary could not be read.
#[derive(Debug, Error)]
pub enum BinaryError {
    /// The file itself.
    #[error("read {path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Not an ELF file, or a broken one.
    #[error("parse the object file: {0}")]
    Object(#[from] object::Error),
    /// Its model section.
    #[error(transparent)]
    Section(#[from] SectionError),
}

impl Binary {
    /// Reads build id and models out of the bytes of an ELF file.
    ///
    /// # Errors
    /// If the file or a model in it is malformed. A file without any model is
    /// no error.
    pub fn parse(bytes: &[u8]) -> Result<Binary, BinaryError> {
        let file = object::File::parse(bytes)?;
        let build_id = file.build_id()?.map(<[u8]>::to_vec);
        let mut modules = Vec::new();
        // A relocatable object may hold several sections of the name.
        for data in model_sections(&file) {
            modules.append(&mut section::decode_all(&data?)?);
        }
        Ok(Binary { build_id, modules })
    }

    /// [`Binary::parse`] of a file.
    ///
    /// # Errors
    /// As there, or if the file cannot be read.
    pub fn read(path: &Path) -> Result<Binary, BinaryError> {
        let bytes =
            std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
        Binary::parse(&bytes)
    }
}

/// Only the GNU build id, without touching the models.
///
/// # Errors
/// If the bytes are not an ELF file.
pub fn build_id(bytes: &[u8]) -> Result<Option<Vec<u8>>, BinaryError> {
    Ok(object::File::parse(bytes)?.build_id()?.map(<[u8]>::to_vec))
}

/// Section in which the compiler driver says because of which option a program does not record.
pub const UNRECORDED: &str = ".relapse.unrecorded";

/// Why a program does not record, as far as its file says so.
///
/// # Errors
/// If the file cannot be read, or is no ELF file.
pub fn unrecorded(path: &Path) -> Result<Option<String>, BinaryError> {
    let bytes = std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
    let file = object::File::parse(&*bytes)?;
    let data = file.section_by_name(UNRECORDED).and_then(|s| s.uncompressed_data().ok());
    let said = data.and_then(|d| Some(String::from_utf8_lossy(d.split(|b| *b == 0).next()?).into_owned()));
    let foreign = (file.architecture() != object::Architecture::X86_64)
        .then(|| format!("its architecture, {:?}", file.architecture()));
    Ok(said.or(foreign))
}

/// Data of a binary: what nothing changes while it runs, and what its variables begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constants {
    /// Sections of it: address in the file, and bytes.
    pub sections: Vec<(u64, Vec<u8>)>,
    /// Variables as they are before the program runs: address in the file, and bytes.
    pub initial: Vec<(u64, Vec<u8>)>,
    /// Words in `initial` that the loader fills in, by their addresses.
    pub relocated: Vec<u64>,
    /// Names of the file and their addresses there, to tell how far from them it was loaded.
    pub symbols: Vec<(String, u64)>,
}

impl Constants {
    /// Reads them out of a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no ELF file.
    pub fn read(path: &Path) -> Result<Constants, BinaryError> {
        let bytes =
            std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
        Constants::of(&object::File::parse(&bytes[..])?)
    }

    pub(crate) fn of(file: &object::File<'_>) -> Result<Constants, BinaryError> {
        let mut constants = Constants::default();
        // Sections that are written by the loader alone (`.data.rel.ro`) are not these.
        for section in file.sections().filter(|s| s.kind() == SectionKind::ReadOnlyData || is_text(s)) {
            constants.sections.push((section.address(), section.data()?.to_vec()));
        }
        for section in file.sections().filter(|s| s.kind() == SectionKind::Data) {
            constants.initial.push((section.address(), section.data()?.to_vec()));
        }
        let is_initial = |at: &u64| {
            constants.initial.iter().any(|(start, bytes)| (*start..start + bytes.len() as u64).contains(at))
        };
        constants.relocated =
            file.dynamic_relocations().into_iter().flatten().map(|(at, _)| at).filter(is_initial).collect();
        constants.relocated.sort_unstable();
        let named = file.symbols().filter(|s| s.is_definition() && s.address() != 0);
        constants.symbols = named.filter_map(|s| Some((s.name().ok()?.to_owned(), s.address()))).collect();
        Ok(constants)
    }
}

fn is_text(section: &object::Section<'_, '_>) -> bool {
    section.kind() == SectionKind::ReadOnlyString
}

pub(crate) fn model_sections<'a>(
    file: &'a object::File<'a>,
) -> impl Iterator<Item = Result<Cow<'a, [u8]>, object::Error>> {
    file.sections().filter(|s| s.name() == Ok(section::NAME)).map(|s| s.uncompressed_data())
}
