//! Finds the model in an ELF file.

use crate::model::Module;
use crate::section::{self, SectionError};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What `relapse` reads from an executable, a shared library or an object file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binary {
    /// The GNU build id, if the linker wrote one.
    pub build_id: Option<Vec<u8>>,
    /// The models of its translation units. Empty if another compiler built the file.
    pub modules: Vec<Module>,
}

/// The reason why a binary could not be read.
#[derive(Debug, Error)]
pub enum BinaryError {
    /// The file could not be read.
    #[error("read {path}: {error}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        error: std::io::Error,
    },
    /// The file is not ELF, or is malformed.
    #[error("parse the object file: {0}")]
    Object(#[from] object::Error),
    /// The model section is malformed.
    #[error(transparent)]
    Section(#[from] SectionError),
}

impl Binary {
    /// Reads the build id and the models from the bytes of an ELF file.
    ///
    /// # Errors
    /// If the file or a model in it is malformed. A file without a model is not an error.
    pub fn parse(bytes: &[u8]) -> Result<Binary, BinaryError> {
        let file = object::File::parse(bytes)?;
        let build_id = file.build_id()?.map(<[u8]>::to_vec);
        let mut modules = Vec::new();
        // A relocatable object may contain several sections of this name.
        for data in model_sections(&file) {
            modules.append(&mut section::decode_all(&data?)?);
        }
        Ok(Binary { build_id, modules })
    }

    /// Reads and parses a file; see [`Binary::parse`].
    ///
    /// # Errors
    /// As [`Binary::parse`], or if the file cannot be read.
    pub fn read(path: &Path) -> Result<Binary, BinaryError> {
        let bytes =
            std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
        Binary::parse(&bytes)
    }
}

/// Reads only the GNU build id. The models are not decoded.
///
/// # Errors
/// If the bytes are not an ELF file.
pub fn build_id(bytes: &[u8]) -> Result<Option<Vec<u8>>, BinaryError> {
    Ok(object::File::parse(bytes)?.build_id()?.map(<[u8]>::to_vec))
}

/// The section in which the compiler driver stores the option that disables recording of a program.
pub const UNRECORDED: &str = ".relapse.unrecorded";

/// Why a program does not record, as far as its file reports a reason: the content of the
/// [`UNRECORDED`] section, or an architecture other than x86-64.
///
/// # Errors
/// If the file cannot be read, or is not ELF.
pub fn unrecorded(path: &Path) -> Result<Option<String>, BinaryError> {
    let bytes = std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
    let file = object::File::parse(&*bytes)?;
    let data = file.section_by_name(UNRECORDED).and_then(|s| s.uncompressed_data().ok());
    let said = data.and_then(|d| Some(String::from_utf8_lossy(d.split(|b| *b == 0).next()?).into_owned()));
    let foreign = (file.architecture() != object::Architecture::X86_64)
        .then(|| format!("its architecture, {:?}", file.architecture()));
    Ok(said.or(foreign))
}

/// Constant data and initial values of a binary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constants {
    /// Read-only sections: address in the file, and bytes.
    pub sections: Vec<(u64, Vec<u8>)>,
    /// Initial values of writable data sections: address in the file, and bytes.
    pub initial: Vec<(u64, Vec<u8>)>,
    /// Addresses of the words in `initial` that the loader relocates.
    pub relocated: Vec<u64>,
    /// Symbols and their addresses in the file. They determine the load offset.
    pub symbols: Vec<(String, u64)>,
}

impl Constants {
    /// Reads the constants of a file.
    ///
    /// # Errors
    /// If the file cannot be read, or is not ELF.
    pub fn read(path: &Path) -> Result<Constants, BinaryError> {
        let bytes =
            std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
        Constants::of(&object::File::parse(&bytes[..])?)
    }

    pub(crate) fn of(file: &object::File<'_>) -> Result<Constants, BinaryError> {
        let mut constants = Constants::default();
        // Sections that only the loader writes (`.data.rel.ro`) are not included.
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
