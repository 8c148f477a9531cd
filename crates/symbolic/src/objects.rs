//! Objects: the bounds of an input-dependent address, and the bytes within.
//!
//! Variables of the program come from its models, heap blocks from the calls that allocated them, locals from
//! the frames. Replay knows the bytes that the run accessed. The other bytes of a variable come from the
//! binary.

use crate::frames::Frame;
use crate::initial::Initial;
use program::inst::Inst;
use program::model::{Module, SymbolKind, TypeKind};
use program::names::readable;
use replay::image::Image;
use replay::observer::View;
use solver::{Array, Field, Layout};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// One object.
#[derive(Clone, Debug)]
pub struct Object {
    pub start: u64,
    pub len: u64,
    /// Its content, if it is constant.
    pub table: Option<Rc<Vec<u8>>>,
}

/// See the module's documentation.
pub struct Objects {
    /// Variables: start and length, sorted.
    variables: Vec<(u64, u64)>,
    /// The names of variables and tables by their starts, and their elements.
    layouts: HashMap<u64, Arc<Layout>>,
    /// Heap blocks, arguments, and other blocks that appeared during the run.
    blocks: BTreeMap<u64, u64>,
    tables: BTreeMap<u64, Object>,
    initial: Initial,
    /// Offsets at which the locals of a function begin, in order.
    locals: HashMap<(u32, u32), Vec<u64>>,
    arrays: HashMap<u64, (Vec<u8>, Array)>,
}

impl Objects {
    /// The variables of a program.
    #[must_use]
    pub fn new(image: &Image, initial: Initial) -> Objects {
        let (mut variables, mut layouts) = (Vec::new(), HashMap::new());
        for (_, loaded) in image.modules() {
            for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
                if let SymbolKind::Data { size, ty, .. } = symbol.kind
                    && *address != 0
                    && size > 0
                {
                    variables.push((*address, size));
                    // Constants without a name, such as string literals, have one with a dot.
                    if !symbol.name.starts_with('.') {
                        layouts.entry(*address).or_insert_with(|| layout_of(&loaded.model, &symbol.name, ty));
                    }
                }
            }
        }
        variables.sort_unstable();
        variables.dedup();
        Objects {
            variables,
            layouts,
            blocks: BTreeMap::new(),
            tables: BTreeMap::new(),
            initial,
            locals: HashMap::new(),
            arrays: HashMap::new(),
        }
    }

    /// Ranges whose changes must be reported to [`Objects::touched`].
    #[must_use]
    pub fn watched(&self) -> Vec<(u64, u64)> {
        self.initial.watched()
    }

    /// Bytes were written or read: from now on the bytes that replay has are right.
    #[inline]
    pub fn touched(&mut self, address: u64, len: u64) {
        self.initial.touched(address, len);
    }

    /// A block was allocated.
    pub fn add(&mut self, start: u64, len: u64) {
        if start != 0 && len > 0 {
            self.remove(start);
            self.blocks.insert(start, len);
        }
    }

    /// A block was freed.
    pub fn remove(&mut self, start: u64) {
        self.blocks.remove(&start);
        self.arrays.remove(&start);
    }

    /// The name of the variable or table at an address, and its elements.
    #[must_use]
    pub fn layout(&self, start: u64) -> Option<&Arc<Layout>> {
        self.layouts.get(&start)
    }

    /// A table of constants became known.
    pub fn add_table(&mut self, start: u64, content: &Rc<Vec<u8>>, layout: Layout) {
        self.layouts.insert(start, Arc::new(layout));
        let len = content.len() as u64;
        self.tables.entry(start).or_insert_with(|| Object { start, len, table: Some(content.clone()) });
    }

    /// The object at an address.
    pub fn find(&mut self, frames: &[Frame], view: &View<'_>, address: u64) -> Option<Object> {
        let plain = |(start, len): (u64, u64)| Object { start, len, table: None };
        let inside = |&(start, len): &(u64, u64)| address.wrapping_sub(start) < len;
        let n = self.variables.partition_point(|v| v.0 <= address);
        if let Some(found) = self.variables[..n].last().copied().filter(inside) {
            return Some(plain(found));
        }
        let block = self.blocks.range(..=address).next_back().map(|(s, n)| (*s, *n)).filter(inside);
        if let Some(found) = block {
            return Some(plain(found));
        }
        let table = self.tables.range(..=address).next_back().map(|(_, o)| o);
        if let Some(found) = table.filter(|o| inside(&(o.start, o.len))) {
            return Some(found.clone());
        }
        for frame in frames[..(view.depth as usize).min(frames.len())].iter().rev() {
            if let Some(found) = frame.grown.iter().rev().copied().find(inside) {
                return Some(plain(found));
            }
            let module = view.image.module(frame.module);
            let Some(function) = module.functions.get(frame.function as usize) else { continue };
            let offset = address.wrapping_sub(frame.base);
            if offset >= function.frame_size {
                continue;
            }
            let starts = self.locals.entry((frame.module, frame.function)).or_insert_with(|| {
                let own = function.code.iter().filter_map(|i| match i {
                    Inst::Frame { offset, .. } => Some(*offset),
                    _ => None,
                });
                let mut starts: Vec<u64> =
                    own.chain(function.params.iter().map(|p| p.frame_offset)).collect();
                starts.sort_unstable();
                starts.dedup();
                starts
            });
            let n = starts.partition_point(|s| *s <= offset);
            let start = starts[..n].last().copied()?;
            let end = starts.get(n).copied().unwrap_or(function.frame_size);
            return Some(plain((frame.base + start, end - start)));
        }
        None
    }

    /// Replaces bytes that the run never accessed by those of the binary.
    pub fn fill_in(&self, start: u64, bytes: &mut [u8]) {
        self.initial.fill_in(start, bytes);
    }

    /// The array of an object if its content has not changed since.
    #[must_use]
    pub fn cached(&self, start: u64, bytes: &[u8]) -> Option<Array> {
        self.arrays.get(&start).filter(|(old, _)| old == bytes).map(|(_, array)| *array)
    }

    pub fn cache(&mut self, start: u64, bytes: Vec<u8>, array: Array) {
        self.arrays.insert(start, (bytes, array));
    }
}

/// The elements of a variable, if it is an array.
fn layout_of(module: &Module, name: &str, ty: Option<u32>) -> Arc<Layout> {
    let mut layout = Layout { name: readable(name).into_owned(), ..Layout::default() };
    if let Some((_, TypeKind::Array { of, .. })) = plain_type(module, ty)
        && let Some((stride, element)) = plain_type(module, *of)
    {
        layout.stride = stride;
        layout.fields = match element {
            TypeKind::Record { union: false, members } => {
                let whole = members.iter().filter(|m| m.bit_offset % 8 == 0 && m.bits % 8 == 0);
                whole
                    .map(|m| Field {
                        offset: m.bit_offset / 8,
                        size: m.bits / 8,
                        name: format!(".{}", m.name),
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
    }
    Arc::new(layout)
}

/// The size and kind of a type without typedefs.
fn plain_type(module: &Module, ty: Option<u32>) -> Option<(u64, &TypeKind)> {
    let mut number = ty?;
    // A deeper chain is a cycle.
    for _ in 0..64 {
        let found = module.types.get(number as usize)?;
        match &found.kind {
            TypeKind::Alias { of } => number = (*of)?,
            kind => return Some((found.size, kind)),
        }
    }
    None
}
