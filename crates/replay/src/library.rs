//! Models and images that several processes share.
//!
//! A test suite runs one program hundreds of times. Its model is read and its functions are decoded once:
//! processes with the same modules at the same addresses share one image.

use crate::error::{Error, Result};
use crate::image::{Image, ModuleRef};
use program::binary::{Binary, Constants};
use program::kept::StoredBinary;
use program::model::Module;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of binaries, and of images, that are cached beyond their last use.
const CACHE_CAPACITY: usize = 16;

/// See the module's documentation. The least recently used entries are evicted first.
#[derive(Default)]
pub struct Library {
    files: Mutex<LruCache<FileKey, BinaryModels>>,
    images: Mutex<LruCache<Vec<ModuleRef>, Image>>,
}

type FileKey = (Option<PathBuf>, String, Vec<u8>);

/// The models found for a binary.
pub(crate) struct BinaryModels {
    pub build_id: Option<Vec<u8>>,
    pub by_id: HashMap<[u8; 16], Arc<Module>>,
    /// Present if the recording contains them.
    pub constants: Option<Arc<Constants>>,
}

impl Library {
    /// The image of a process with these modules.
    ///
    /// # Errors
    /// A file that cannot be read, or that has other modules than recorded.
    pub fn image(&self, wanted: &[ModuleRef]) -> Result<Arc<Image>> {
        // The lock is held while the image is loaded, so that another thread that needs it waits instead of
        // loading it too.
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.get(wanted, || Image::load_from(wanted, self))
    }

    pub(crate) fn file(&self, wanted: &ModuleRef) -> Result<Arc<BinaryModels>> {
        let key = (wanted.recording.clone(), wanted.path.clone(), wanted.build_id.clone());
        self.files.lock().unwrap_or_else(PoisonError::into_inner).get(&key, || find(wanted))
    }
}

/// A cache of recently used values, the most recent at the end.
struct LruCache<K, V>(Vec<(K, Arc<V>)>);

impl<K, V> Default for LruCache<K, V> {
    fn default() -> Self {
        LruCache(Vec::new())
    }
}

impl<K, V> LruCache<K, V> {
    fn get<Q>(&mut self, key: &Q, make: impl FnOnce() -> Result<V>) -> Result<Arc<V>>
    where
        K: std::borrow::Borrow<Q>,
        Q: PartialEq + ToOwned<Owned = K> + ?Sized,
    {
        let entry = match self.0.iter().position(|(other, _)| other.borrow() == key) {
            Some(at) => self.0.remove(at),
            None => (key.to_owned(), Arc::new(make()?)),
        };
        if self.0.len() >= CACHE_CAPACITY {
            self.0.remove(0);
        }
        let value = entry.1.clone();
        self.0.push(entry);
        Ok(value)
    }
}

/// The models of a module's binary: those in the recording, since the binary may have changed since, or else
/// the binary's.
fn find(wanted: &ModuleRef) -> Result<BinaryModels> {
    let by_id = |modules: Vec<Module>| modules.into_iter().map(|m| (m.id, Arc::new(m))).collect();
    let mut damaged = None;
    if let Some(recording) = &wanted.recording {
        match kept(recording, wanted) {
            Ok(Some((kept, modules))) => {
                let StoredBinary { build_id, constants, .. } = kept;
                return Ok(BinaryModels {
                    build_id,
                    by_id: by_id(modules),
                    constants: Some(Arc::new(constants)),
                });
            }
            Ok(None) => {}
            Err(error) => damaged = Some(error),
        }
    }
    match Binary::read(Path::new(&wanted.path)) {
        Ok(binary) => {
            Ok(BinaryModels { build_id: binary.build_id, by_id: by_id(binary.modules), constants: None })
        }
        Err(error) => Err(Error::Model(match damaged {
            Some(damaged) => format!("{error}; the recording's own copy is of no use: failed to {damaged}"),
            None => error.to_string(),
        })),
    }
}

/// The models that a recording contains for a module's binary.
fn kept(
    recording: &Path,
    wanted: &ModuleRef,
) -> std::result::Result<Option<(StoredBinary, Vec<Module>)>, String> {
    let read = recording::models::read(recording, &wanted.path, &wanted.build_id);
    let Some(bytes) = read.map_err(|e| e.to_string())? else { return Ok(None) };
    let kept = StoredBinary::decode(&bytes).map_err(|e| e.to_string())?;
    let modules = kept.modules().map_err(|e| e.to_string())?;
    Ok(Some((kept, modules)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_held() {
        let mut shelf = LruCache::<String, usize>::default();
        let mut made = 0;
        let mut get = |key: &str, made: &mut usize| {
            *shelf
                .get(key, || {
                    Ok({
                        *made += 1;
                        *made
                    })
                })
                .expect("a value")
        };
        assert_eq!((get("a", &mut made), get("b", &mut made), get("a", &mut made)), (1, 2, 1));
        for n in 0..CACHE_CAPACITY - 1 {
            get(&n.to_string(), &mut made);
        }
        let before = made;
        assert_eq!(get("a", &mut made), 1);
        assert_eq!(get("b", &mut made), before + 1);
        assert!(shelf.get("c", || Err(Error::StoredCheckpoints)).is_err());
        assert_eq!(shelf.0.len(), CACHE_CAPACITY);
    }
}
