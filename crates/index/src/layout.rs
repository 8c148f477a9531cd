//! What of a function has to be written down, and where: known from the program
//! alone, so that writer and reader agree without a word in the file.
//!
//! The code is cut into *stretches*: blocks, cut again behind every call. Nothing
//! else can run between the instructions of a stretch, so that one counter for each
//! says which element of every sequence belongs to an execution. What gets a column:
//!
//! | of | element | unless |
//! |---|---|---|
//! | a block | where control came from | there is only one place |
//! | a call | the function that was called | the call names it |
//! | a function | the `return` that ran | there is only one |
//! | a stretch | the value of a register that addresses are made from | it is the frame or a variable |
//! | an instruction | a length, a choice, whether it stored | it is a constant |

use crate::column::Kind;
use crate::relate::{self, Guide, Rooted};
use program::cfg::Graph;
use program::inst::{ArgTy, Inst, Operand, Reg};
use program::model::Function;
use replay::image::Image;

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Always this address.
    Fixed(u64),
    /// This far into the activation's frame.
    Frame(u64),
    /// This far from what the column holds.
    Column { column: u32, offset: u64 },
}

/// A number that an instruction used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Fixed(u64),
    Column(u32),
}

/// What an instruction did that must be known to walk back over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Load {
        at: Place,
        len: u32,
    },
    Store {
        at: Place,
        len: u32,
    },
    /// Always stores.
    Update {
        at: Place,
        len: u32,
    },
    /// Stores if the column says so.
    Exchange {
        at: Place,
        len: u32,
        stored: u32,
    },
    Copy {
        to: Place,
        from: Place,
        len: Length,
    },
    Fill {
        to: Place,
        len: Length,
    },
    /// The column holds 1 if the first value was taken.
    Select {
        column: u32,
    },
}

impl Action {
    /// Whether it changes memory.
    #[must_use]
    pub fn stores(&self) -> bool {
        !matches!(self, Action::Load { .. } | Action::Select { .. })
    }
}

/// Instructions that always run one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub start: u32,
    pub end: u32,
    pub block: u32,
    /// Actions by instruction, in order.
    pub actions: Vec<(u32, Action)>,
}

/// How a call finds what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the image.
    Linked(u32),
    /// Code outside.
    Outside,
    /// The column holds the function's number and one; 0 for code outside.
    Column(u32),
}

/// Where control comes to a block from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Blocks; [`START`] for the function's own beginning.
    pub from: Vec<u32>,
    /// Holds the place in `from`; none if there is only one.
    pub column: Option<u32>,
}

/// The function's beginning, among the blocks control comes from.
pub const START: u32 = u32::MAX;

/// No replay copies or fills more at once.
const LONGEST: u64 = 1 << 36;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub stretches: Vec<Stretch>,
    /// The stretch of each instruction.
    pub stretch_of: Vec<u32>,
    pub entries: Vec<Entry>,
    /// First and last instruction of each block.
    pub blocks: Vec<(u32, u32)>,
    /// Calls by instruction, in order.
    pub calls: Vec<(u32, Callee)>,
    /// `return` instructions, and the column that says which ran if there are several.
    pub exits: Vec<u32>,
    pub exit_column: Option<u32>,
    /// By-value parameters: number, frame offset, length.
    pub copies: Vec<(u32, u64, u64)>,
    /// Size and alignment of the frame.
    pub frame: (u64, u64),
    /// The frame grows while the function runs: how far each called function's frame
    /// lies from its own is in a column.
    pub grows: Option<u32>,
    pub columns: Vec<Kind>,
    /// What each column is predicted from.
    pub guides: Vec<Option<Guide>>,
}

impl Layout {
    /// The layout of the image's function of that number.
    #[must_use]
    pub fn of(image: &Image, number: u32) -> Layout {
        let code = image.code(number);
        let function = &image.module(code.module).functions[code.function as usize];
        let mut layout = Layout { frame: (code.frame_size, code.frame_align), ..Layout::default() };
        layout.blocks = function.blocks.iter().map(|b| (b.start, b.end.saturating_sub(1))).collect();
        (layout.stretches, layout.stretch_of) = cut(function);
        let graph = Graph::of(function);
        layout.enter(function, &graph);
        layout.leave(image, code, function);
        layout.act(image, code.module, function, &graph);
        for (n, p) in function.params.iter().enumerate() {
            if let ArgTy::ByVal { size, .. } = p.ty {
                layout.copies.push((n as u32, p.frame_offset, size));
            }
        }
        layout
    }

    fn column(&mut self, kind: Kind) -> u32 {
        self.columns.push(kind);
        self.columns.len() as u32 - 1
    }

    fn enter(&mut self, function: &Function, graph: &Graph) {
        for b in 0..function.blocks.len() as u32 {
            let mut from = graph.predecessors(b).to_vec();
            if b == 0 {
                from.push(START);
            }
            let column = (from.len() > 1).then(|| self.column(Kind::Plain));
            self.entries.push(Entry { from, column });
        }
    }

    fn leave(&mut self, image: &Image, code: &replay::code::Code, function: &Function) {
        for (index, inst) in function.code.iter().enumerate() {
            match inst {
                Inst::Return { .. } => self.exits.push(index as u32),
                Inst::Call(call) => {
                    let callee = match call.callee {
                        Operand::Reg(_) => Callee::Column(self.column(Kind::Plain)),
                        Operand::Const(address) => by_address(image, address),
                        Operand::Symbol { symbol, offset } => {
                            let address = image.symbol(code.module, symbol).wrapping_add_signed(offset);
                            by_address(image, address)
                        }
                    };
                    self.calls.push((index as u32, callee));
                }
                Inst::Alloca { .. } | Inst::StackRestore { .. } if self.grows.is_none() => {
                    self.grows = Some(self.column(Kind::Plain));
                }
                _ => {}
            }
        }
        if self.exits.len() > 1 {
            self.exit_column = Some(self.column(Kind::Plain));
        }
    }

    fn act(&mut self, image: &Image, module: u32, function: &Function, graph: &Graph) {
        let mut made_by: Vec<Option<&Inst>> = vec![None; function.slots as usize];
        for inst in &function.code {
            if let Some((dst, _)) = inst.defines()
                && let Some(place) = made_by.get_mut(dst as usize)
            {
                *place = Some(inst);
            }
        }
        let symbol = |symbol, offset| image.symbol(module, symbol).wrapping_add_signed(offset);
        let mut rooted = Vec::new();
        for s in 0..self.stretches.len() {
            let block = self.stretches[s].block;
            // Registers that have a column in this stretch.
            let mut roots: Vec<(Reg, u32)> = Vec::new();
            let (start, end) = (self.stretches[s].start, self.stretches[s].end);
            for index in start..end {
                let mut place = |layout: &mut Layout, operand: Operand| match root(&made_by, operand) {
                    Root::Fixed(address) => Place::Fixed(address),
                    Root::Symbol(n, base, offset) => Place::Fixed(symbol(n, base).wrapping_add(offset)),
                    Root::Frame(offset) => Place::Frame(offset),
                    Root::Reg(reg, offset) => {
                        let known = roots.iter().find(|r| r.0 == reg).map(|r| r.1);
                        let column = known.unwrap_or_else(|| {
                            let column = layout.column(Kind::Delta);
                            roots.push((reg, column));
                            rooted.push(Rooted { column, stretch: s as u32, block, reg });
                            column
                        });
                        Place::Column { column, offset }
                    }
                };
                let length = |layout: &mut Layout, operand: Operand| match operand {
                    Operand::Const(n) => Length::Fixed(n.min(LONGEST)),
                    _ => Length::Column(layout.column(Kind::Plain)),
                };
                let action = match &function.code[index as usize] {
                    Inst::Load { addr, ty, .. } => Action::Load { at: place(self, *addr), len: ty.bytes() },
                    Inst::Store { addr, ty, .. } => Action::Store { at: place(self, *addr), len: ty.bytes() },
                    Inst::Rmw { addr, ty, .. } => Action::Update { at: place(self, *addr), len: ty.bytes() },
                    Inst::CmpXchg { addr, ty, .. } => Action::Exchange {
                        at: place(self, *addr),
                        len: ty.bytes(),
                        stored: self.column(Kind::Plain),
                    },
                    Inst::MemCopy { to, from, len } => Action::Copy {
                        to: place(self, *to),
                        from: place(self, *from),
                        len: length(self, *len),
                    },
                    Inst::MemSet { to, len, .. } => {
                        Action::Fill { to: place(self, *to), len: length(self, *len) }
                    }
                    Inst::VaStart { list } => Action::Fill { to: place(self, *list), len: Length::Fixed(24) },
                    Inst::VaCopy { to, from } => Action::Copy {
                        to: place(self, *to),
                        from: place(self, *from),
                        len: Length::Fixed(24),
                    },
                    Inst::Select { .. } => Action::Select { column: self.column(Kind::Plain) },
                    _ => continue,
                };
                self.stretches[s].actions.push((index, action));
            }
        }
        self.guides = relate::guides(function, graph, &made_by, &rooted, self.columns.len());
    }

    /// How the call at an instruction finds what it calls.
    #[must_use]
    pub fn callee(&self, index: u32) -> Option<Callee> {
        self.calls.binary_search_by_key(&index, |c| c.0).ok().map(|at| self.calls[at].1)
    }

    /// Where a function's frame lies if it is called with the stack at an address.
    #[must_use]
    pub fn frame_below(&self, stack: u64) -> u64 {
        match self.frame {
            (0, _) => stack,
            (size, align) => stack.wrapping_sub(size) & align.wrapping_neg(),
        }
    }
}

/// The stretches of a function, and the one of each instruction.
#[must_use]
pub fn cut(function: &Function) -> (Vec<Stretch>, Vec<u32>) {
    let mut stretches = Vec::new();
    let mut stretch_of = vec![0; function.code.len()];
    for (b, block) in function.blocks.iter().enumerate() {
        let mut start = block.start;
        for index in block.start..block.end {
            stretch_of[index as usize] = stretches.len() as u32;
            let is_call = matches!(function.code[index as usize], Inst::Call(_));
            if is_call || index + 1 == block.end {
                let end = index + 1;
                stretches.push(Stretch { start, end, block: b as u32, actions: Vec::new() });
                start = end;
            }
        }
    }
    (stretches, stretch_of)
}

fn by_address(image: &Image, address: u64) -> Callee {
    image.function_at(address).map_or(Callee::Outside, Callee::Linked)
}

enum Root {
    Fixed(u64),
    Symbol(u32, i64, u64),
    Frame(u64),
    Reg(Reg, u64),
}

/// Follows an address back through constant steps. Registers are assigned at one
/// place, so what is found holds wherever the address is used.
fn root(made_by: &[Option<&Inst>], mut operand: Operand) -> Root {
    let mut offset = 0u64;
    // Code that nothing reaches may define registers in circles.
    for _ in 0..64 {
        let reg = match operand {
            Operand::Const(c) => return Root::Fixed(c.wrapping_add(offset)),
            Operand::Symbol { symbol, offset: base } => return Root::Symbol(symbol, base, offset),
            Operand::Reg(reg) => reg,
        };
        match made_by.get(reg as usize).copied().flatten() {
            Some(Inst::Frame { offset: at, .. }) => return Root::Frame(at.wrapping_add(offset)),
            Some(Inst::Copy { a, .. }) => operand = *a,
            Some(Inst::Address {
                base, index: Operand::Const(i), index_bits, scale, offset: more, ..
            }) if (1..=64).contains(index_bits) => {
                let unused = 64 - u32::from(*index_bits);
                let index = (i << unused).cast_signed() >> unused;
                offset = offset.wrapping_add_signed(index.wrapping_mul(*scale)).wrapping_add_signed(*more);
                operand = *base;
            }
            _ => return Root::Reg(reg, offset),
        }
    }
    match operand {
        Operand::Reg(reg) => Root::Reg(reg, offset),
        Operand::Const(c) => Root::Fixed(c.wrapping_add(offset)),
        Operand::Symbol { symbol, offset: base } => Root::Symbol(symbol, base, offset),
    }
}
