//! Hand-made programs and recordings.

use program::inst::{Arg, ArgTy, Call, Inst, Operand, Reg, Ty};
use program::model::{Block, Function, Module, Param, Phi, Symbol, SymbolKind};
use recording::Encoder;
use recording::event::{Event, Position};
use replay::event_cursor::Stream;
use replay::image::{Image, LoadedModule};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const I32: Ty = Ty::Int(32);
pub const I64: Ty = Ty::Int(64);
pub const STACK: u64 = 0x7f00_0010_0000;

pub fn r(n: Reg) -> Operand {
    Operand::Reg(n)
}

pub fn c(n: u64) -> Operand {
    Operand::Const(n)
}

pub fn sym(symbol: u32) -> Operand {
    Operand::Symbol { symbol, offset: 0 }
}

pub struct Builder {
    pub module: Module,
    pub addresses: Vec<u64>,
}

impl Builder {
    /// Symbols first, so that code can name them.
    pub fn new(symbols: &[(&str, SymbolKind, u64)]) -> Builder {
        let module = Module {
            id: [7; 16],
            name: "hand.c".to_owned(),
            files: vec!["hand.c".to_owned()],
            symbols: symbols
                .iter()
                .map(|(name, kind, _)| Symbol { name: (*name).to_owned(), kind: kind.clone() })
                .collect(),
            ..Module::default()
        };
        Builder { module, addresses: symbols.iter().map(|s| s.2).collect() }
    }

    /// Adds a function; returns its first site.
    pub fn function(
        &mut self,
        name: &str,
        params: &[Ty],
        ret: &[Ty],
        frame_size: u64,
        blocks: Vec<(Vec<Phi>, Vec<Inst>)>,
    ) -> u32 {
        let symbol = self.module.symbols.iter().position(|s| s.name == name).unwrap() as u32;
        let first_site = self.module.functions.last().map_or(0, |f| f.first_site + f.code.len() as u32);
        let mut reg = 0;
        let params: Vec<Param> = params
            .iter()
            .map(|ty| {
                let p = Param { ty: ArgTy::Value(*ty), reg, frame_offset: 0 };
                reg += ty.slots();
                p
            })
            .collect();
        let mut code = Vec::new();
        let mut all = Vec::new();
        for (phis, insts) in blocks {
            let start = code.len() as u32;
            code.extend(insts);
            all.push(Block { start, end: code.len() as u32, phis });
        }
        let phi_slots = all.iter().flat_map(|b| &b.phis).map(|p| p.dst + p.slots);
        let slots = code
            .iter()
            .filter_map(Inst::defines)
            .map(|(d, n)| d + n)
            .chain(phi_slots)
            .chain([reg])
            .max()
            .unwrap();
        let count = code.len();
        self.module.functions.push(Function {
            name: name.to_owned(),
            symbol,
            params,
            ret: ret.to_vec(),
            result: None,
            variadic: false,
            slots,
            frame_size,
            frame_align: 16,
            first_site,
            code,
            code_places: vec![0; count],
            places: vec![Default::default()],
            blocks: all,
            variables: Vec::new(),
            scopes: Vec::new(),
            bindings: Vec::new(),
            bits: Vec::new(),
            file: 0,
            line: 1,
        });
        first_site
    }

    pub fn image(self) -> Image {
        self.module.validate().expect("the hand-made module is sound");
        let loaded = LoadedModule { model: Arc::new(self.module), addresses: self.addresses, base: 0 };
        Image::new(BTreeMap::from([(1, loaded)]))
    }
}

pub fn call(callee: Operand, args: &[(Operand, Ty)], dst: Reg, ret: &[Ty]) -> Inst {
    Inst::Call(Box::new(Call {
        callee,
        args: args.iter().map(|(value, ty)| Arg { value: *value, ty: ArgTy::Value(*ty) }).collect(),
        dst,
        ret: ret.to_vec(),
        variadic: None,
        returns_twice: false,
    }))
}

#[derive(Default)]
pub struct Events {
    encoder: Encoder,
    pub bytes: Vec<u8>,
}

impl Events {
    pub fn push(&mut self, time: u64, site: u32, event: Event<'_>) -> &mut Self {
        self.push_seq(time, site, None, event)
    }

    pub fn push_seq(&mut self, time: u64, site: u32, seq: Option<u64>, event: Event<'_>) -> &mut Self {
        let mut buffer = [0; 4096];
        let at = Position { time, module: 1, site, seq };
        let n = self.encoder.encode(&mut buffer, at, &event).unwrap();
        self.bytes.extend_from_slice(&buffer[..n]);
        self
    }

    pub fn enter(&mut self, time: u64, function: u32, args: &[u64]) -> &mut Self {
        let slots = recording::Slots::Plain(args);
        self.push(time, 0, Event::Enter { module: 1, function, slots, inside: false })
    }

    pub fn external(&mut self, time: u64, site: u32, result: &[u64]) -> &mut Self {
        self.push(time, site, Event::External { slots: recording::Slots::Plain(result) })
    }

    pub fn end(&mut self, time: u64, sum: u64) -> &mut Self {
        self.push(time, 0, Event::End { sum, status: 0 })
    }

    pub fn stream(&self) -> Stream {
        Stream { parts: vec![self.bytes.clone()], initial_stack: STACK, ..Stream::default() }
    }
}
