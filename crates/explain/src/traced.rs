//! One version's run with its slice, and the source location of each node.

use crate::align::Side;
use crate::align::keys::tidy;
use crate::moments::Compared;
use crate::names::Bodies;
use crate::ways::{Distance, Ground, Ways};
use externals::{External, flag};
use program::inst::{Arg, ArgTy, Inst, Operand, Ty};
use program::model::Function;
use replay::process::LoadedProcess;
use slice::slice::Needs;
use slice::{Dependence, NodeId, Site, Slice};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A source line of a version; file 0, line 0 is "unknown".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// Index in [`Traced::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

/// A run, its slice, and source locations with paths relative to the version.
pub struct Traced<'p> {
    /// The version of the run.
    pub side: Side,
    /// The loaded process.
    pub process: &'p LoadedProcess,
    /// Its slice from the failure; nodes are numbered as in it.
    pub slice: Slice,
    /// The dependences of each node.
    pub needs: Needs,
    /// Relative to the version's root if they are below it.
    pub files: Vec<String>,
    root: PathBuf,
    /// The line of each node.
    lines: Vec<Line>,
    /// The comparison of the nodes with the other version's run.
    pub compared: Compared,
    /// See [`Ways::find`].
    pub free: bool,
    /// Criteria added because of nodes of the other run.
    pub crossings: HashMap<NodeId, Crossing>,
}

/// A point where the dependence path continues in the other run: the runs differ there although all operands
/// in this run are equal. The operands in the other run explain the difference.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The node of the other run.
    pub from: NodeId,
    /// The distance of that node to the failure in the other run.
    pub distance: Distance,
}

impl<'p> Traced<'p> {
    /// Locates the nodes of a slice; `root` is the root of the sources from which the program was compiled.
    #[must_use]
    pub fn new(side: Side, process: &'p LoadedProcess, root: &Path, slice: Slice, free: bool) -> Traced<'p> {
        let needs = slice.needs();
        let mut traced = Traced {
            side,
            process,
            needs,
            files: vec!["?".to_owned()],
            root: tidy(root),
            lines: Vec::new(),
            slice,
            compared: Compared::default(),
            free,
            crossings: HashMap::new(),
        };
        let mut paths: HashMap<String, u32> = HashMap::new();
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let mut lines = Vec::with_capacity(traced.slice.nodes.len());
        for node in &traced.slice.nodes {
            let module = process.image.module(node.site.module);
            let function = &module.functions[node.site.function as usize];
            let place = function.place(node.site.index as usize);
            let file = *known.entry((node.site.module, place.file)).or_insert_with(|| {
                let path = relative(&traced.root, &module.file_path(place.file));
                *paths.entry(path.clone()).or_insert_with(|| {
                    traced.files.push(path);
                    traced.files.len() as u32 - 1
                })
            });
            lines.push(if place.line == 0 { Line::default() } else { Line { file, line: place.line } });
        }
        traced.lines = lines;
        traced
    }

    /// The line of a node.
    #[must_use]
    pub fn line(&self, node: NodeId) -> Line {
        self.lines.get(node as usize).copied().unwrap_or_default()
    }

    /// The path of a line's file; `?` if unknown.
    #[must_use]
    pub fn file(&self, line: Line) -> &str {
        &self.files[line.file as usize]
    }

    /// The linkage name of the function that contains a site.
    #[must_use]
    pub fn function(&self, site: Site) -> &str {
        &self.process.image.module(site.module).functions[site.function as usize].name
    }

    /// The instruction at a site.
    #[must_use]
    pub fn inst(&self, site: Site) -> &Inst {
        &self.process.image.module(site.module).functions[site.function as usize].code[site.index as usize]
    }

    /// Whether a node only copies bytes.
    #[must_use]
    pub fn copies_bytes(&self, node: NodeId) -> bool {
        let site = self.slice.nodes[node as usize].site;
        match self.inst(site) {
            Inst::MemCopy { .. } => true,
            Inst::Call(_) => self.external(node).is_some_and(External::copies),
            _ => false,
        }
    }

    /// The description of the function that a node calls, if it is external.
    #[must_use]
    pub fn external(&self, node: NodeId) -> Option<&'static External> {
        let site = self.slice.nodes[node as usize].site;
        let Inst::Call(call) = self.inst(site) else { return None };
        let Operand::Symbol { symbol, .. } = call.callee else { return None };
        let symbol = self.process.image.module(site.module).symbols.get(symbol as usize)?;
        externals::find(&symbol.name)
    }

    /// Lines for which there is code, executed or not.
    #[must_use]
    pub fn code_lines(&self) -> HashSet<(String, u32)> {
        let mut lines = HashSet::new();
        for (_, loaded) in self.process.image.modules() {
            let files: Vec<String> = (0..loaded.model.files.len() as u32)
                .map(|f| self.relative(&loaded.model.file_path(f)))
                .collect();
            for place in loaded.model.functions.iter().flat_map(|f| &f.places).filter(|p| p.line > 0) {
                if let Some(file) = files.get(place.file as usize) {
                    lines.insert((file.clone(), place.line));
                }
            }
        }
        lines
    }

    /// The line ranges of functions.
    #[must_use]
    pub fn bodies(&self) -> Bodies {
        let mut bodies = Bodies::new();
        for (file, function) in self.functions() {
            bodies.entry(file).or_default().push(lines_of(function));
        }
        bodies
    }

    /// The line range of the function of this name in a file.
    #[must_use]
    pub fn body(&self, file: &str, name: &str) -> Option<Range<u32>> {
        let mut alike = self.functions().filter(|(path, function)| path == file && function.name == name);
        alike.next().map(|(_, function)| lines_of(function))
    }

    fn functions(&self) -> impl Iterator<Item = (String, &Function)> {
        let modules = self.process.image.modules();
        modules.flat_map(|(_, loaded)| {
            let known = loaded.model.functions.iter().filter(|f| f.line > 0);
            known.map(|f| (self.relative(&loaded.model.file_path(f.file)), f))
        })
    }

    /// The node nearest to the failure at which the runs began to differ.
    #[must_use]
    pub fn nearest_origin(&self, ways: &Ways) -> Option<NodeId> {
        let far = self.compared.origins.iter().filter_map(|node| Some((ways.distance(*node)?, *node)));
        far.min().map(|x| x.1)
    }

    /// Converts a path of the recording to one of the version.
    #[must_use]
    pub fn relative(&self, path: &str) -> String {
        relative(&self.root, path)
    }

    /// The shortest paths to all nodes.
    #[must_use]
    pub fn ways(&self) -> Ways {
        Ways::find(&self.slice, &self.needs, self, self.free)
    }
}

fn lines_of(function: &Function) -> Range<u32> {
    let own = function.places.iter().filter(|p| p.file == function.file);
    let last = own.map(|p| p.line).max().unwrap_or(function.line);
    function.line..last + 1
}

fn relative(root: &Path, path: &str) -> String {
    let path = tidy(Path::new(path));
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

impl Ground for Traced<'_> {
    fn line(&self, node: NodeId) -> u32 {
        let line = self.lines.get(node as usize).copied().unwrap_or_default();
        // Sufficient to distinguish lines: files have fewer than 2^20 lines.
        line.file << 20 ^ line.line
    }

    fn dull(&self, node: NodeId) -> bool {
        self.compared.dull.contains(&node)
    }

    fn differs(&self, node: NodeId) -> bool {
        let Compared { dull, origins, differs } = &self.compared;
        differs.contains(&node) || dull.is_empty() && origins.is_empty() && differs.is_empty()
    }

    fn catches(&self, node: NodeId) -> bool {
        let inst = |node: NodeId| self.inst(self.slice.nodes[node as usize].site);
        // The result of a call depends on a return; that of a landing pad depends on the call that was
        // unwound.
        let is_thrown = |(next, how): &(NodeId, Dependence)| {
            matches!(how, Dependence::Return(_)) && matches!(inst(*next), Inst::Call(_))
        };
        matches!(inst(node), Inst::Branch { .. } | Inst::Switch { .. })
            && self.needs.of(node).iter().any(is_thrown)
    }

    fn lands(&self, node: NodeId) -> bool {
        let site = self.slice.nodes[node as usize].site;
        let module = self.process.image.module(site.module);
        module.functions[site.function as usize].is_landing(site.index)
    }

    fn start(&self, node: NodeId) -> Distance {
        self.crossings.get(&node).map(|crossing| crossing.distance).unwrap_or_default()
    }

    fn reaches(&self, node: NodeId, how: Dependence) -> bool {
        let (Dependence::Register(reg) | Dependence::Return(reg)) = how else { return false };
        let reg = Operand::Reg(reg);
        let inst = self.inst(self.slice.nodes[node as usize].site);
        // For memory that no instruction wrote, such as a constant table or a literal, the address determines
        // the value.
        let reads_written =
            self.needs.of(node).iter().any(|(_, how)| matches!(how, Dependence::Memory { .. }));
        match inst {
            Inst::Load { addr, .. } => *addr == reg && reads_written,
            Inst::Store { addr, value, .. } | Inst::Rmw { addr, value, .. } => *addr == reg && *value != reg,
            // The length decides which bytes are copied, not what they are.
            Inst::MemCopy { to, from, len } => *to == reg || (*from == reg || *len == reg) && reads_written,
            Inst::Call(call) => self.external(node).is_some_and(|external| {
                let is_address = |arg: &Arg| arg.value == reg && arg.ty == ArgTy::Value(Ty::Ptr);
                external.has(flag::MOVES)
                    || reads_written && (external.copies() || call.args.iter().any(is_address))
            }),
            _ => false,
        }
    }

    fn sizes(&self, node: NodeId, how: Dependence) -> bool {
        matches!(how, Dependence::Register(_))
            && self.external(node).is_some_and(|external| external.allocates.is_some())
    }

    fn calls_external(&self, node: NodeId) -> bool {
        self.external(node).is_some()
    }
}
