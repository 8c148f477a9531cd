//! The recorded program in memory: all its modules, and their addresses.

use crate::code::Code;
use crate::constants::{Constants, Initial};
use crate::decode::{Context, decode};
use crate::error::{Error, Result};
use crate::library::{BinaryModels, Library};
use program::model::{Module, SymbolKind};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A module as loaded in one process.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    /// The module's model, shared by the processes that loaded it.
    pub model: Arc<Module>,
    /// Addresses of the model's symbols.
    pub addresses: Vec<u64>,
    /// Load address of the executable or library that contains it.
    pub base: u64,
}

impl BinaryModels {
    /// A module of this binary at the recorded addresses.
    fn module(&self, w: &ModuleRef) -> Result<LoadedModule> {
        let Some(model) = self.by_id.get(&w.id) else {
            if self.build_id.as_ref() == Some(&w.build_id) {
                return Err(Error::Model(format!(
                    "{} is the recorded build {} but lacks the model of module {}: was it stripped?",
                    w.path,
                    hex(&w.build_id),
                    hex(&w.id)
                )));
            }
            return Err(Error::AnotherBuild {
                path: w.path.clone(),
                module: hex(&w.id),
                recorded: hex(&w.build_id),
                found: self.build_id.as_deref().map_or_else(|| "none".to_owned(), hex),
            });
        };
        if model.symbols.len() != w.addresses.len() {
            return Err(Error::Model(format!(
                "module {} of {} has {} symbols, the recording {} addresses",
                model.name,
                w.path,
                model.symbols.len(),
                w.addresses.len()
            )));
        }
        Ok(LoadedModule { model: model.clone(), addresses: w.addresses.clone(), base: w.base })
    }
}

/// A module that a recording names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleRef {
    /// Registration index in the process.
    pub index: u32,
    /// Hash of the model; equals `program::Module::id`.
    pub id: [u8; 16],
    /// The executable or library that contains the module; another one if the user named a replacement.
    pub path: String,
    /// Recorded build id of that executable or library.
    pub build_id: Vec<u8>,
    /// Recorded addresses of the model's symbols, in order.
    pub addresses: Vec<u64>,
    /// Load address of its executable or library.
    pub base: u64,
    /// The recording that may contain the model; if none, it is read from the binary at `path`.
    pub recording: Option<PathBuf>,
}

struct FunctionCode {
    module: u32,
    function: u32,
    code: OnceLock<Code>,
}

/// See the module's documentation. Functions are decoded when first called.
pub struct Image {
    /// By registration index; indices without a module stay empty.
    modules: Vec<Option<LoadedModule>>,
    functions: Vec<FunctionCode>,
    /// For each index the first one with the same module at the same addresses: a library that was closed and
    /// opened again is registered again.
    canonical: Vec<u32>,
    /// First function of each module in `functions`.
    first: Vec<u32>,
    by_address: HashMap<u64, u32>,
    externals: HashMap<u64, (String, Option<&'static externals::External>)>,
    /// Functions whose address belongs to another module.
    duplicates: Vec<(u32, u32)>,
    empty: Module,
    /// The binaries, each with its modules; their constants are read on first use.
    files: BTreeMap<String, (Vec<u32>, Option<Arc<program::binary::Constants>>)>,
    constants: OnceLock<Constants>,
}

impl Image {
    /// Combines modules. Several modules define the same function if each unit, or each library, has a copy
    /// and the loader chose one of them: the function belongs to the object that contains its address, and
    /// there to the first unit, which the linker chose. Libraries are registered before the executable, whose
    /// copies take precedence.
    #[must_use]
    pub fn new(modules: BTreeMap<u32, LoadedModule>) -> Image {
        let count = modules.keys().last().map_or(0, |i| *i as usize + 1);
        let mut image = Image {
            modules: vec![None; count],
            functions: Vec::new(),
            canonical: (0..count as u32).collect(),
            first: vec![0; count],
            by_address: HashMap::new(),
            externals: HashMap::new(),
            duplicates: Vec::new(),
            empty: Module::default(),
            files: BTreeMap::new(),
            constants: OnceLock::new(),
        };
        let bases: BTreeSet<u64> = modules.values().map(|m| m.base).collect();
        let lies_in = |address: u64, m: &LoadedModule| bases.range(..=address).next_back() == Some(&m.base);
        let mut seen: HashMap<([u8; 16], Vec<u64>), u32> = HashMap::new();
        for (index, loaded) in modules {
            let same = *seen.entry((loaded.model.id, loaded.addresses.clone())).or_insert(index);
            image.canonical[index as usize] = same;
            image.first[index as usize] = image.functions.len() as u32;
            for (f, function) in loaded.model.functions.iter().enumerate() {
                let number = image.functions.len() as u32;
                image.functions.push(FunctionCode {
                    module: index,
                    function: f as u32,
                    code: OnceLock::new(),
                });
                match loaded.addresses.get(function.symbol as usize).copied().unwrap_or(0) {
                    0 => {}
                    address => match image.by_address.entry(address) {
                        Entry::Vacant(v) => {
                            v.insert(number);
                        }
                        Entry::Occupied(mut o) => {
                            let other = &image.functions[*o.get() as usize];
                            let elsewhere = image.modules[other.module as usize]
                                .as_ref()
                                .is_some_and(|m| !lies_in(address, m));
                            if elsewhere && lies_in(address, &loaded) {
                                image.duplicates.push((other.module, other.function));
                                o.insert(number);
                            } else {
                                image.duplicates.push((index, f as u32));
                            }
                        }
                    },
                }
            }
            for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
                if symbol.kind == SymbolKind::External && *address != 0 {
                    let known = externals::find(&symbol.name);
                    let entry = image.externals.entry(*address).or_insert((symbol.name.clone(), known));
                    // Aliases share an address; one that is in the table of externals is preferred.
                    if entry.1.is_none() && known.is_some() {
                        *entry = (symbol.name.clone(), known);
                    }
                }
            }
            image.modules[index as usize] = Some(loaded);
        }
        image
    }

    /// Reads the models from the recording, or else from the binaries that it names.
    ///
    /// # Errors
    /// A file that cannot be read, or that has other modules than recorded.
    pub fn load(wanted: &[ModuleRef]) -> Result<Image> {
        Image::load_from(wanted, &Library::default())
    }

    /// The same, reusing what the library already has.
    pub(crate) fn load_from(wanted: &[ModuleRef], library: &Library) -> Result<Image> {
        let mut files: HashMap<&str, Arc<BinaryModels>> = HashMap::new();
        let mut modules = BTreeMap::new();
        for w in wanted {
            let file = match files.entry(&w.path) {
                Entry::Occupied(file) => file.into_mut(),
                Entry::Vacant(place) => place.insert(library.file(w)?),
            };
            modules.insert(w.index, file.module(w)?);
        }
        let mut image = Image::new(modules);
        for w in wanted {
            let constants = || files.get(w.path.as_str()).and_then(|f| f.constants.clone());
            image.files.entry(w.path.clone()).or_insert_with(|| (Vec::new(), constants())).0.push(w.index);
        }
        Ok(image)
    }

    /// Constant data from an address on, read from the binary; none if the address is not in it.
    #[must_use]
    pub fn constant(&self, address: u64) -> Option<&[u8]> {
        self.constants().at(address)
    }

    /// The initial value of a byte of a variable; none if it had none.
    #[must_use]
    pub fn initial(&self, address: u64) -> Option<Initial> {
        self.constants().initial(address)
    }

    /// The parts of a range that are variables with initial values.
    pub fn initial_within(&self, address: u64, len: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        self.constants().initial_within(address, len)
    }

    fn constants(&self) -> &Constants {
        self.constants.get_or_init(|| {
            let mut all = Constants::default();
            for (path, (indices, kept)) in &self.files {
                let of = indices.iter().filter_map(|i| self.modules.get(*i as usize)?.as_ref());
                let file = match kept {
                    Some(kept) => Some(program::binary::Constants::clone(kept)),
                    // It was readable before; if it is not any more, less is shown.
                    None => program::binary::Constants::read(Path::new(path)).ok(),
                };
                if let Some(file) = file {
                    all.add(file, &of.collect::<Vec<_>>());
                }
            }
            all
        })
    }

    /// A module; an empty one for an index that the recording does not have.
    #[must_use]
    pub fn module(&self, index: u32) -> &Module {
        self.modules.get(index as usize).and_then(Option::as_ref).map_or(&self.empty, |m| &m.model)
    }

    /// The index that represents all registrations of the same module at the same addresses.
    #[must_use]
    pub fn canonical(&self, index: u32) -> u32 {
        self.canonical.get(index as usize).copied().unwrap_or(index)
    }

    /// All modules with their indices.
    pub fn modules(&self) -> impl Iterator<Item = (u32, &LoadedModule)> {
        self.modules.iter().enumerate().filter_map(|(i, m)| Some((i as u32, m.as_ref()?)))
    }

    /// Address of a module's symbol, 0 if it has none.
    #[must_use]
    pub fn symbol(&self, module: u32, symbol: u32) -> u64 {
        self.modules
            .get(module as usize)
            .and_then(Option::as_ref)
            .and_then(|m| m.addresses.get(symbol as usize))
            .copied()
            .unwrap_or(0)
    }

    /// The function at an address.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<u32> {
        self.by_address.get(&address).copied()
    }

    /// The image's number of a module's function.
    #[must_use]
    pub fn function(&self, module: u32, function: u32) -> Option<u32> {
        let loaded = self.modules.get(module as usize)?.as_ref()?;
        ((function as usize) < loaded.model.functions.len()).then(|| self.first[module as usize] + function)
    }

    /// Name and table entry of the external function at an address.
    #[must_use]
    pub fn external_at(&self, address: u64) -> Option<(&str, Option<&'static externals::External>)> {
        self.externals.get(&address).map(|(n, e)| (n.as_str(), *e))
    }

    /// Functions (module, index) whose address belongs to another module.
    #[must_use]
    pub fn duplicates(&self) -> &[(u32, u32)] {
        &self.duplicates
    }

    /// Number of functions.
    #[must_use]
    pub fn functions(&self) -> u32 {
        self.functions.len() as u32
    }

    /// A function in executable form. `number` must be below [`Image::functions`].
    #[must_use]
    #[inline]
    pub fn code(&self, number: u32) -> &Code {
        let entry = &self.functions[number as usize];
        entry.code.get_or_init(|| self.decode(entry))
    }

    #[cold]
    fn decode(&self, entry: &FunctionCode) -> Code {
        let module = self.module(entry.module);
        let addresses: &[u64] = self.modules[entry.module as usize].as_ref().map_or(&[], |m| &m.addresses);
        let function_at = |address: u64| {
            let number = self.function_at(address)?;
            let e = &self.functions[number as usize];
            Some((number, &self.module(e.module).functions[e.function as usize]))
        };
        let context = Context { module, index: entry.module, addresses, function_at: &function_at };
        decode(&context, entry.function, &module.functions[entry.function as usize])
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut s, b| {
        let _ = write!(s, "{b:02x}");
        s
    })
}
