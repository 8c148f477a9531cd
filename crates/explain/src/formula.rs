//! What a line computed, as a formula over the names of the source:
//! `sum = sum + (0 - z)`.
//!
//! The formula covers the instruction and its operands on the same line, up to variables, constants, and
//! named memory. If a name is missing, there is no formula: a partial one explains nothing.

mod bit_fields;

use program::inst::{BinOp, CastOp, Inst, IntPred, Operand, Reg};
use program::model::{Function, Home, Module, TypeKind};
use program::names::{readable, short_name};

/// Longer formulas are dropped.
const LONGEST: usize = 80;
/// Deeper formulas are dropped as well.
const DEEPEST: u32 = 8;

/// The formula of an instruction; `None` if some operand has no name, or if the formula would be only the
/// name.
#[must_use]
pub fn formula(module: &Module, function: &Function, index: u32) -> Option<String> {
    let reader = Reader { module, function, line: function.place(index as usize).line };
    let inst = function.code.get(index as usize)?;
    let text = match inst {
        Inst::Store { addr, value, .. } => match reader.bit_store(index, *addr) {
            Some(text) => text,
            None => {
                let target = reader.place(*addr, DEEPEST)?;
                format!("{target} = {}", reader.operand(*value, false, DEEPEST)?)
            }
        },
        Inst::Branch { cond, .. } => match reader.operand(*cond, false, DEEPEST)? {
            // A truth value, one of several that the line may test.
            name if !name.contains(' ') => format!("{name} != 0"),
            condition => condition,
        },
        Inst::Switch { value, .. } => reader.operand(*value, false, DEEPEST)?,
        Inst::Return { value: Some(value), .. } => {
            format!("result = {}", reader.operand(*value, false, DEEPEST)?)
        }
        _ => {
            let (dst, _) = inst.defines()?;
            let target = reader.assigned(dst, index)?;
            format!("{target} = {}", reader.result(inst, false, DEEPEST)?)
        }
    };
    let says_something = text.contains(' ') && text.len() <= LONGEST;
    says_something.then_some(text)
}

struct Reader<'m> {
    module: &'m Module,
    function: &'m Function,
    line: u32,
}

impl Reader<'_> {
    /// The variable that holds an instruction's result.
    fn assigned(&self, dst: Reg, index: u32) -> Option<&str> {
        let near = |at: u32| (index..=index + 2).contains(&at);
        self.bound(|b| near(b.at), dst)
    }

    /// A variable that this register holds.
    fn named(&self, reg: Reg) -> Option<&str> {
        self.bound(|_| true, reg)
    }

    fn bound(&self, when: impl Fn(&program::model::Binding) -> bool, reg: Reg) -> Option<&str> {
        let own = |b: &&program::model::Binding| {
            when(b) && matches!(b.home, Home::Value(Operand::Reg(r), _) if r == reg)
        };
        let binding = self.function.bindings.iter().find(own)?;
        Some(&self.function.variables.get(binding.variable as usize)?.name)
    }

    /// The instruction that assigns a register.
    fn definition(&self, reg: Reg) -> Option<(u32, &Inst)> {
        let defines = |inst: &Inst| inst.defines().is_some_and(|(dst, n)| (dst..dst + n).contains(&reg));
        let at = self.function.code.iter().position(defines)?;
        Some((at as u32, &self.function.code[at]))
    }

    fn on_line(&self, index: u32) -> bool {
        self.function.place(index as usize).line == self.line
    }

    /// The text of an operand; `tight`: in parentheses unless it is one word.
    fn operand(&self, operand: Operand, tight: bool, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        match operand {
            Operand::Const(value) => Some(number(value)),
            Operand::Symbol { symbol, offset: 0 } => {
                Some(format!("&{}", self.module.symbols.get(symbol as usize)?.name))
            }
            Operand::Symbol { .. } => None,
            Operand::Reg(reg) => {
                let definition = self.definition(reg);
                if let Some((_, inst)) = definition.filter(|(at, _)| self.on_line(*at))
                    && let Some(text) = self.result(inst, tight, depth)
                {
                    return Some(text);
                }
                if let Some(name) = self.named(reg) {
                    return Some(name.to_owned());
                }
                match definition?.1 {
                    Inst::Load { addr, .. } => self.place(*addr, depth),
                    _ => None,
                }
            }
        }
    }

    fn result(&self, inst: &Inst, tight: bool, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let infix = |a: &Operand, sign: &str, b: &Operand| -> Option<String> {
            let text =
                format!("{} {sign} {}", self.operand(*a, true, depth)?, self.operand(*b, true, depth)?);
            Some(if tight { format!("({text})") } else { text })
        };
        if let Some(member) = self.bit_load(inst) {
            return Some(member);
        }
        match inst {
            Inst::Bin { op, bits, a, b, .. } => {
                // LLVM represents subtractions of constants as additions.
                if let (BinOp::Add, Operand::Const(value)) = (op, b)
                    && signed(*value, *bits) < 0
                {
                    let less = Operand::Const(signed(*value, *bits).unsigned_abs());
                    return infix(a, "-", &less);
                }
                // LLVM ignores the order of commutative operands; readers expect constants last.
                let swapped = matches!(op, BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor)
                    && matches!(a, Operand::Const(_));
                if swapped { infix(b, sign(*op), a) } else { infix(a, sign(*op), b) }
            }
            Inst::ICmp { pred, a, b, bits, .. } => {
                let b = match b {
                    Operand::Const(value) => Operand::Const(signed(*value, *bits).cast_unsigned()),
                    other => *other,
                };
                infix(a, comparison(*pred), &b)
            }
            Inst::Cast { op: CastOp::Trunc | CastOp::Zext | CastOp::Sext, a, .. } | Inst::Copy { a, .. } => {
                self.operand(*a, tight, depth)
            }
            Inst::Select { cond, a, b, .. } => {
                let (a, b) = (self.operand(*a, true, depth)?, self.operand(*b, true, depth)?);
                let text = format!("{} ? {a} : {b}", self.operand(*cond, true, depth)?);
                Some(if tight { format!("({text})") } else { text })
            }
            Inst::Load { addr, .. } => self.place(*addr, depth),
            Inst::Call(call) => {
                let Operand::Symbol { symbol, .. } = call.callee else { return None };
                Some(format!("{}(…)", short_name(&self.module.symbols.get(symbol as usize)?.name)))
            }
            _ => None,
        }
    }

    /// The name of the memory at an address.
    fn place(&self, address: Operand, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let reg = match address {
            Operand::Symbol { symbol, offset: 0 } => {
                return Some(readable(&self.module.symbols.get(symbol as usize)?.name).into_owned());
            }
            Operand::Reg(reg) => reg,
            _ => return None,
        };
        match self.definition(reg).map(|d| d.1) {
            Some(Inst::Frame { offset, .. }) => {
                let own = |b: &&program::model::Binding| b.home == Home::Frame(*offset);
                let binding = self.function.bindings.iter().find(own)?;
                Some(self.function.variables.get(binding.variable as usize)?.name.clone())
            }
            Some(Inst::Address { base, index: Operand::Const(0), offset, .. }) => {
                let (pointer, ty) = self.pointer(*base)?;
                Some(format!("{pointer}->{}", self.field(ty, *offset)?))
            }
            Some(Inst::Address { base, index, offset: 0, .. }) => {
                let base = match base {
                    Operand::Reg(reg) => match self.definition(*reg).map(|d| d.1) {
                        Some(Inst::Frame { .. }) => self.place(*base, depth)?,
                        _ => self.named(*reg)?.to_owned(),
                    },
                    _ => self.place(*base, depth)?,
                };
                Some(format!("{base}[{}]", self.operand(*index, false, depth)?))
            }
            _ => {
                let (pointer, ty) = self.pointer(address)?;
                match self.field(ty, 0) {
                    Some(field) => Some(format!("{pointer}->{field}")),
                    None => Some(format!("*{pointer}")),
                }
            }
        }
    }

    /// A variable of pointer type, and the type of its target.
    fn pointer(&self, operand: Operand) -> Option<(&str, u32)> {
        let Operand::Reg(reg) = operand else { return None };
        let name = self.named(reg)?;
        let variable = self.function.variables.iter().find(|v| v.name == name)?;
        match self.bare(variable.ty?)? {
            TypeKind::Pointer { to } => Some((name, (*to)?)),
            _ => None,
        }
    }

    /// The scalar field at an offset of a structure.
    fn field(&self, ty: u32, offset: i64) -> Option<&str> {
        let TypeKind::Record { members, .. } = self.bare(ty)? else { return None };
        let offset = u64::try_from(offset).ok()?;
        Some(&members.iter().find(|m| m.bit_offset == 8 * offset)?.name)
    }

    /// A type without typedefs and qualifiers.
    fn bare(&self, ty: u32) -> Option<&TypeKind> {
        let mut kind = &self.module.types.get(ty as usize)?.kind;
        for _ in 0..16 {
            match kind {
                TypeKind::Alias { of } => kind = &self.module.types.get((*of)? as usize)?.kind,
                _ => break,
            }
        }
        Some(kind)
    }
}

fn number(value: u64) -> String {
    // Constants have no type; small negative ones are far more common than huge ones.
    match value {
        0xffff_ffff_ffff_0000.. => value.cast_signed().to_string(),
        0xffff_0000..=0xffff_ffff => (value as u32).cast_signed().to_string(),
        _ => value.to_string(),
    }
}

fn signed(value: u64, bits: u16) -> i64 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    (value << shift).cast_signed() >> shift
}

fn sign(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::UDiv | BinOp::SDiv => "/",
        BinOp::URem | BinOp::SRem => "%",
        BinOp::Shl => "<<",
        BinOp::LShr | BinOp::AShr => ">>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
    }
}

fn comparison(pred: IntPred) -> &'static str {
    match pred {
        IntPred::Eq => "==",
        IntPred::Ne => "!=",
        IntPred::Ugt | IntPred::Sgt => ">",
        IntPred::Uge | IntPred::Sge => ">=",
        IntPred::Ult | IntPred::Slt => "<",
        IntPred::Ule | IntPred::Sle => "<=",
    }
}
