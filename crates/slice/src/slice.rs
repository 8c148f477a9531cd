//! The answer: which executions of which instructions, and why each.

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

/// How a taken instruction was needed by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependence {
    /// It made the value that the other read from this register slot of the
    /// other's activation.
    Register(Reg),
    /// It made these bytes, which the other read.
    Memory { address: u64, len: u64 },
    /// Its decision made the other run.
    Control,
    /// It called the activation in which the other stood; no branch there
    /// decided.
    Call,
    /// It returned the value that the other, or whoever used the call's result,
    /// read. The register is the one of the consumer.
    Return(Reg),
    /// It made these bytes in another thread.
    Thread { address: u64, len: u64 },
    /// A call out of the program under which the other was called back, and
    /// which chose the arguments.
    External,
    /// It left functions that the other, a call out of the program, had called back, by a jump
    /// or an exception.
    Jump,
    /// It could have gone another way, on which what the other used might have been assigned
    /// anew. Only in relevant slices; of those who would depend, one is named.
    Potential,
}

impl Dependence {
    /// Whether it made the other run, rather than gave it a value.
    #[must_use]
    pub fn lets_run(self) -> bool {
        matches!(self, Dependence::Control | Dependence::Call)
    }
}

/// One execution of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub at: Occurrence,
    pub site: Site,
    /// Number of activations on the stack.
    pub depth: u32,
    /// It is here only because it could have gone another way: why it ran is not followed.
    pub potential: bool,
    /// First of its edges in the slice's list.
    pub(crate) first: u32,
}

/// Where the way back ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Memory was changed by code that is not recorded, or was there from the
    /// start: initial values of variables look like this, since nothing in the
    /// program stores them. The variable, if there is one: its name, and where it
    /// is defined.
    Outside { address: u64, len: u64, variable: Option<Definition> },
    /// Nothing ever wrote these bytes: zeros from the start, or never initialised.
    Unwritten { address: u64, len: u64, variable: Option<Definition> },
    /// Another stream wrote these bytes, and its store was not found.
    Stream { stream: u32, address: u64, len: u64 },
    /// A parameter of a function that was called from outside of the program
    /// (`main`, a thread's function): its number, from 0.
    Parameter { function: String, number: u32 },
}

/// Where a variable is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition {
    pub name: String,
    /// Path, and line; 0 if unknown.
    pub file: String,
    pub line: u32,
}

/// An end of the way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Who needed it.
    pub needed_by: NodeId,
    pub how: Dependence,
    pub origin: Origin,
}

/// How often an instruction was taken, and its last execution that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub count: u64,
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
    /// All instructions taken.
    pub sites: BTreeMap<Site, Taken>,
    /// Executions in the order they were found, those of a stream newest first
    /// (an external call stands where it returned). The criteria come as they
    /// are passed.
    pub nodes: Vec<Node>,
    /// The nodes of the criteria, in their order; none if `truncated` before.
    pub criteria: Vec<Option<NodeId>>,
    pub leaves: Vec<Leaf>,
    /// State of the library that was needed as the process found it, at the addresses of
    /// [`replay::effects`], and one that needed it.
    pub state_from_start: Vec<(u64, NodeId)>,
    /// There were more executions than `max_nodes`; `sites` is complete all the
    /// same.
    pub truncated: bool,
    /// It was stopped from outside: there is more.
    pub incomplete: bool,
    /// Of a relevant slice that came to have more executions than its limit: branches before
    /// this were not asked whether they could have mattered.
    pub asked_back_to: Option<Occurrence>,
    /// Of a relevant slice: pointers were followed less exactly than asked, which would have
    /// taken too long.
    pub coarse: bool,
    /// Instructions walked over.
    pub walked: u64,
    pub(crate) edges: Vec<Edge>,
}

impl Slice {
    /// Who needed a node, and how.
    pub fn needed_by(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
        let mut at = self.nodes.get(node as usize).map_or(END, |n| n.first);
        std::iter::from_fn(move || {
            let edge = self.edges.get(at as usize)?;
            at = edge.next;
            Some((edge.consumer, edge.how))
        })
    }

    /// The graph the other way round: for each node what it needed, in the order
    /// in which it was found.
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

/// What each node needed: see [`Slice::needs`].
#[derive(Clone, Debug, Default)]
pub struct Needs {
    starts: Vec<u32>,
    list: Vec<(NodeId, Dependence)>,
}

/// From what each node needed, in the order of nodes.
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
    /// The critical predicates of a node, after AFTER (Yi and others, *A Synergistic Analysis
    /// Method for Explaining Failed Regression Tests*): what decided that it ran, and (in a
    /// relevant slice) what could have changed a value it used had it gone another way.
    pub fn critical(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let decides = |how: &Dependence| matches!(how, Dependence::Control | Dependence::Potential);
        self.of(node).iter().filter(move |(_, how)| decides(how)).map(|x| x.0)
    }

    #[must_use]
    pub fn of(&self, node: NodeId) -> &[(NodeId, Dependence)] {
        let at = node as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(from), Some(to)) => &self.list[*from as usize..*to as usize],
            _ => &[],
        }
    }
}
