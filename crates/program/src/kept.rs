//! The part of a binary that replay requires, in a form that can be stored without the binary.

use crate::binary::{BinaryError, Constants, model_sections};
use crate::model::Module;
use crate::section::{self, SectionError};
use object::Object;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The model sections and the constant data of an executable or shared library.
///
/// The serialised form is postcard's. The models in it are sections in the format of a binary, with
/// their own version and checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBinary {
    /// The GNU build id, if the linker wrote one.
    pub build_id: Option<Vec<u8>>,
    /// The content of each [`section::NAME`] section.
    pub sections: Vec<Vec<u8>>,
    /// The data of the binary, as far as it is known before the program runs.
    pub constants: Constants,
}

impl StoredBinary {
    /// Reads it from a binary.
    ///
    /// # Errors
    /// If the file cannot be read, or is not ELF. Models are not decoded.
    pub fn read(path: &Path) -> Result<StoredBinary, BinaryError> {
        let bytes =
            std::fs::read(path).map_err(|error| BinaryError::File { path: path.to_owned(), error })?;
        let file = object::File::parse(&bytes[..])?;
        let build_id = file.build_id()?.map(<[u8]>::to_vec);
        let mut sections = Vec::new();
        for data in model_sections(&file) {
            sections.push(data?.into_owned());
        }
        Ok(StoredBinary { build_id, sections, constants: Constants::of(&file)? })
    }

    /// Returns the serialised form.
    ///
    /// # Errors
    /// If memory is exhausted.
    pub fn encode(&self) -> Result<Vec<u8>, SectionError> {
        postcard::to_stdvec(self).map_err(|e| SectionError::Encode(e.to_string()))
    }

    /// Reads the serialised form.
    ///
    /// # Errors
    /// If the bytes are malformed.
    pub fn decode(bytes: &[u8]) -> Result<StoredBinary, SectionError> {
        postcard::from_bytes(bytes).map_err(|e| SectionError::Unpack { at: 0, reason: e.to_string() })
    }

    /// Decodes and validates the models.
    ///
    /// # Errors
    /// If a section is malformed.
    pub fn modules(&self) -> Result<Vec<Module>, SectionError> {
        let mut modules = Vec::new();
        for bytes in &self.sections {
            modules.append(&mut section::decode_all(bytes)?);
        }
        Ok(modules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> StoredBinary {
        let module = Module { name: "a.c".to_owned(), ..Module::default() };
        StoredBinary {
            build_id: Some(vec![1, 2, 3]),
            sections: vec![section::encode(&module).expect("a section"); 2],
            constants: Constants {
                sections: vec![(0x2000, b"text\0".to_vec())],
                initial: vec![(0x3000, vec![1, 2, 3, 4])],
                relocated: vec![0x3000],
                symbols: vec![("main".to_owned(), 0x1000)],
            },
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let kept = sample();
        let again = StoredBinary::decode(&kept.encode().expect("bytes")).expect("the same");
        assert_eq!(again, kept);
        assert_eq!(again.modules().expect("models").len(), 2);
    }

    /// Every truncation and every changed byte results in an error or a different value, never a panic.
    #[test]
    fn damaged_bytes_are_no_panic() {
        let bytes = sample().encode().expect("bytes");
        for at in 0..bytes.len() {
            let _ = StoredBinary::decode(&bytes[..at]).map(|k| k.modules());
            for value in [0, 0x7f, 0xff, bytes[at] ^ 1] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = StoredBinary::decode(&changed).map(|k| k.modules());
            }
        }
        assert!(StoredBinary::decode(&bytes[..bytes.len() / 2]).is_err());
    }
}
