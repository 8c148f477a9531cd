//! Locations in the form of the answer: relative to the version, with the text of the line.

use crate::align::keys::tidy;
use crate::answer::Place;
use program::names::readable;
use replay::image::Image;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The source files of one version.
pub(crate) struct Sources {
    root: PathBuf,
    files: RefCell<HashMap<PathBuf, Vec<String>>>,
}

impl Sources {
    pub fn new(root: &Path) -> Sources {
        Sources { root: tidy(root), files: RefCell::default() }
    }

    /// The location of an instruction of a function of the image.
    pub fn place(&self, image: &Image, function: u32, index: u32) -> Place {
        let code = image.code(function);
        let module = image.module(code.module);
        let f = &module.functions[code.function as usize];
        let place = f.place(index as usize);
        let path = tidy(Path::new(&module.file_path(place.file)));
        let text = self.line(&path, place.line);
        Place {
            file: path.strip_prefix(&self.root).unwrap_or(&path).display().to_string(),
            line: place.line,
            column: place.column,
            function: readable(&f.name).into_owned(),
            text,
        }
    }

    /// The text of a line, empty if the file no longer exists.
    fn line(&self, path: &Path, line: u32) -> String {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(path.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
        });
        (line as usize).checked_sub(1).and_then(|i| lines.get(i)).cloned().unwrap_or_default()
    }
}

/// "in lookup (table.c:41)"
pub(crate) fn at(place: &Place) -> String {
    if place.line == 0 {
        return format!("in {}", place.function);
    }
    format!("in {} ({}:{})", place.function, place.file, place.line)
}
