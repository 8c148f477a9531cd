//! The layouts of all functions of an image, each made when first needed.

use crate::layout::Layout;
use replay::image::Image;
use std::sync::OnceLock;

/// See the module's documentation.
pub struct Layouts<'i> {
    image: &'i Image,
    all: Vec<OnceLock<Layout>>,
}

impl<'i> Layouts<'i> {
    #[must_use]
    pub fn new(image: &'i Image) -> Layouts<'i> {
        Layouts { image, all: (0..image.functions()).map(|_| OnceLock::new()).collect() }
    }

    /// How many functions there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.all.len() as u32
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The layout of a function, by its number in the image.
    #[must_use]
    #[inline]
    pub fn get(&self, function: u32) -> &Layout {
        self.all[function as usize].get_or_init(|| Layout::of(self.image, function))
    }
}
