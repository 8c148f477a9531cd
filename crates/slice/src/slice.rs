//! The result: executions of instructions, and their dependences.

use crate::among::Among;
use crate::criterion::Occurrence;
use program::inst::Reg;
use std::collections::BTreeMap;

/// An instruction of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in its module.
    pub function: u32,
    /// Index of the instruction in the function's code.
    pub index: u32,
}

/// Index in [`Slice::nodes`].
pub type NodeId = u32;

/// How another instruction depends on an instruction of the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependence {
    /// It defined the value that the other read from this register of the other's activation.
    Register(Reg),
    /// It wrote these bytes, which the other read.
    Memory {
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
    },
    /// It is the branch that controlled the other.
    Control,
    /// It called the activation in which the other ran, and no branch there controlled the other.
    Call,
    /// It returned the value that the other, or the user of the call's result, read. The register is the
    /// consumer's.
    Return(Reg),
    /// It wrote these bytes in another thread.
    Thread {
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
    },
    /// An external call that called the other's activation back, with arguments that it chose.
    External,
    /// By a jump or an exception it left functions that the other, an external call, had called back.
    Jump,
    /// It could have taken another successor, after which what the other used might have been assigned anew.
    /// Only in relevant slices; one of the dependent nodes is recorded.
    Potential,
}

impl Dependence {
    /// Whether it made the other run, rather than gave it a value: a control dependence.
    #[must_use]
    pub fn is_control_dependence(self) -> bool {
        matches!(self, Dependence::Control | Dependence::Call)
    }
}

/// One execution of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The execution.
    pub at: Occurrence,
    /// The instruction.
    pub site: Site,
    /// Call depth: the number of activations on the stack.
    pub depth: u32,
    /// It is in the slice only for a potential dependence: why it ran is not followed.
    pub potential: bool,
    /// First of its edges in the slice's list.
    pub(crate) first: u32,
}

/// Where a chain of dependences ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Memory was changed by code that is not recorded, or was there from the start: so are initial values
    /// of variables, since nothing in the program stores them.
    Outside {
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
        /// `None` if no variable of static storage contains them.
        variable: Option<Definition>,
    },
    /// These bytes were never written: zeros from the start, or never initialised.
    Unwritten {
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
        /// As in `Outside`.
        variable: Option<Definition>,
    },
    /// Another stream wrote these bytes, and its store was not found.
    Stream {
        /// Index in the process's `streams`.
        stream: u32,
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
    },
    /// A parameter of a function that was called from outside the program (`main`, a thread's function).
    Parameter {
        /// Name of the function.
        function: String,
        /// From 0.
        number: u32,
    },
}

/// Where a variable is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition {
    /// Name in the source.
    pub name: String,
    /// Path of the source; empty if unknown.
    pub file: String,
    /// Its line; 0 if unknown.
    pub line: u32,
}

/// An operand without a node that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The node that uses it.
    pub needed_by: NodeId,
    /// How the node uses it.
    pub how: Dependence,
    /// Where it comes from instead.
    pub origin: Origin,
}

/// How many executions of an instruction are in the slice, and the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Number of executions, also of those that have no node.
    pub count: u64,
    /// The latest in the order of streams and steps.
    pub last: Occurrence,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub consumer: NodeId,
    pub how: Dependence,
    pub next: u32,
}

pub(crate) const END: u32 = u32::MAX;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// All instructions in the slice.
    pub sites: BTreeMap<Site, Taken>,
    /// Executions in the order they were found, those of a stream newest first (an external call has the
    /// position of its return). The nodes of criteria are among them, each when the pass reached it.
    pub nodes: Vec<Node>,
    /// The nodes of the criteria, in their order; `None` if the bound was reached before.
    pub criteria: Vec<Option<NodeId>>,
    /// Operands that no node defines, in the order they were found.
    pub leaves: Vec<Leaf>,
    /// State of the library that was used in its initial value, at the addresses of [`replay::effects`], and
    /// a node that used it.
    pub initial_states: Vec<(u64, NodeId)>,
    /// There were more executions than `max_nodes`; `sites` is complete nevertheless.
    pub truncated: bool,
    /// It was cancelled: executions are missing.
    pub incomplete: bool,
    /// For a relevant slice that reached its limit of executions: branches before this occurrence were not
    /// checked for potential dependences.
    pub asked_back_to: Option<Occurrence>,
    /// For a relevant slice: the points-to analysis fell back to a coarser precision, because the requested
    /// one would have taken too long.
    pub coarse: bool,
    /// Number of instructions visited.
    pub walked: u64,
    /// The dependences among the instructions in [`crate::Request::among`].
    pub among: Among,
    pub(crate) edges: Vec<Edge>,
}

impl Slice {
    /// The users of a node, and how each depends on it.
    pub fn needed_by(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
        let mut at = self.nodes.get(node as usize).map_or(END, |n| n.first);
        std::iter::from_fn(move || {
            let edge = self.edges.get(at as usize)?;
            at = edge.next;
            Some((edge.consumer, edge.how))
        })
    }

    /// The reversed graph: for each node what it depends on, in the order in which it was found.
    #[must_use]
    pub fn needs(&self) -> Needs {
        let mut starts = vec![0u32; self.nodes.len() + 1];
        for node in 0..self.nodes.len() as NodeId {
            for (consumer, _) in self.needed_by(node) {
                starts[consumer as usize + 1] += 1;
            }
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut fill = starts.clone();
        let mut list = vec![(0, Dependence::Control); starts.last().copied().unwrap_or(0) as usize];
        for node in 0..self.nodes.len() as NodeId {
            for (consumer, how) in self.needed_by(node) {
                let to = &mut fill[consumer as usize];
                list[*to as usize] = (node, how);
                *to += 1;
            }
        }
        Needs { starts, list }
    }
}

/// The dependences of each node: see [`Slice::needs`].
#[derive(Clone, Debug, Default)]
pub struct Needs {
    starts: Vec<u32>,
    list: Vec<(NodeId, Dependence)>,
}

/// Builds the table from the dependences of each node, in the order of nodes.
impl FromIterator<Vec<(NodeId, Dependence)>> for Needs {
    fn from_iter<I: IntoIterator<Item = Vec<(NodeId, Dependence)>>>(nodes: I) -> Needs {
        let mut needs = Needs { starts: vec![0], list: Vec::new() };
        for node in nodes {
            needs.list.extend(node);
            needs.starts.push(needs.list.len() as u32);
        }
        needs
    }
}

impl Needs {
    /// The critical predicates of a node, after AFTER (Yi and others, *A Synergistic Analysis Method for
    /// Explaining Failed Regression Tests*): the branches that control it, and (in a relevant slice) those
    /// that could have changed a value it used by taking another successor.
    pub fn critical(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let decides = |how: &Dependence| matches!(how, Dependence::Control | Dependence::Potential);
        self.of(node).iter().filter(move |(_, how)| decides(how)).map(|x| x.0)
    }

    /// What a node depends on, in the order in which it was found; empty for a node that does not exist.
    #[must_use]
    pub fn of(&self, node: NodeId) -> &[(NodeId, Dependence)] {
        let at = node as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(from), Some(to)) => &self.list[*from as usize..*to as usize],
            _ => &[],
        }
    }
}
