//! Loads and stores, at known addresses and at input-dependent ones.

use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::objects::Object;
use crate::observer::StepObserver;
use crate::regions::Region;
use program::inst::{Operand, Ty};
use replay::code::Op;
use replay::memory::Memory;
use replay::observer::View;
use solver::{Array, Binary, Node, Term};

impl<W: StepObserver> Engine<'_, W> {
    pub(crate) fn load(&mut self, view: &View<'_>, dst: u32, addr: Operand, ty: Ty) {
        let (address, len) = (view.value(addr), u64::from(ty.bytes()));
        if let Some(at) = self.operand(view, addr, 64)
            && let Some(term) = self.load_symbolic_address(view, addr, at, len, dst)
        {
            let term = self.fit(term, ty.bits().into());
            if ty == Ty::Ptr {
                self.chosen.insert(term);
            }
            self.assign(view, dst, ty.bits(), Some(term));
            return;
        }
        if !self.memory.may_have_terms(address, len) {
            self.forget(view, dst, ty.slots());
            return;
        }
        let value =
            if ty.slots() > 1 { view.wide(Operand::Reg(dst)) } else { view.value(Operand::Reg(dst)).into() };
        let term = self.loaded_as(address, len, value).map(|t| self.fit(t, ty.bits().into()));
        self.assign(view, dst, ty.bits(), term);
    }

    pub(crate) fn store(&mut self, view: &View<'_>, addr: Operand, value: Operand, ty: Ty) {
        let (address, len) = (view.value(addr), u64::from(ty.bytes()));
        let term = self.operand(view, value, ty.bits()).map(|t| self.fit(t, 8 * len as u32));
        if ty == Ty::Ptr {
            // A stored pointer is concretised. Otherwise the memory cell, and everything reached through it,
            // would depend on input: a whole hash table would become one term.
            self.concretise_operand(view, addr, Ty::Ptr, Reason::StoredPointer);
        }
        if let Some(at) = self.operand(view, addr, 64)
            && self.store_symbolic_address(view, addr, at, len, term)
        {
            return;
        }
        if term.is_none() && !self.memory.may_have_terms(address, len) {
            return;
        }
        self.put(view.memory, address, len, term);
        self.objects.touched(address, len);
    }

    /// Runs before an instruction. If it stores to an input-dependent address, saves the bytes there, because
    /// they are overwritten when the observer sees the store.
    pub(crate) fn save_overwritten(&mut self, view: &View<'_>, next: u32) {
        let addr = match view.code.ops.get(next as usize) {
            Some(
                Op::Store1 { addr, .. }
                | Op::Store2 { addr, .. }
                | Op::Store4 { addr, .. }
                | Op::Store8 { addr, .. },
            ) => *addr,
            _ => return,
        };
        let Some(frame) = self.frames.get(view.depth as usize - 1) else { return };
        if frame.get(addr).is_some()
            && let Some(address) = view.regs.get(addr as usize)
        {
            let mut bytes = [0; 16];
            view.memory.peek(*address, &mut bytes);
            self.before = Some((*address, bytes));
        }
    }

    /// The object of an input-dependent access, if the access can be followed. Otherwise concretises the
    /// address.
    fn object(&mut self, view: &View<'_>, addr: Operand, at: Term, len: u64) -> Option<Object> {
        let (address, max) = (view.value(addr), self.options.max_object);
        if !self.pointers.is_empty() {
            self.tables(view);
        }
        let found = match self.objects.find(&self.frames, view, address) {
            _ if self.options.fixed_addresses => Err(Reason::Addresses),
            _ if self.is_loaded_pointer(at) => Err(Reason::ChosenPointer),
            Some(o) if address + len > o.start + o.len => Err(Reason::UnknownObject),
            Some(o) if o.len > max => Err(Reason::LargeObject(o.len)),
            Some(o) => Ok(o),
            None => Err(Reason::UnknownObject),
        };
        match found {
            Ok(object) => Some(object),
            Err(reason) => {
                self.concretise_operand(view, addr, Ty::Ptr, reason);
                None
            }
        }
    }

    /// Whether an address is a pointer that was itself loaded from an input-dependent address, or is at a
    /// known offset from one.
    fn is_loaded_pointer(&self, at: Term) -> bool {
        if self.chosen.contains(&at) {
            return true;
        }
        match self.world.pool.node(at) {
            Node::Binary(Binary::Add, a, b) => self.chosen.contains(&a) || self.chosen.contains(&b),
            _ => false,
        }
    }

    /// The offset in the object. Adds the condition that the access stays within the object.
    fn place(&mut self, view: &View<'_>, object: &Object, at: Term, address: u64, len: u64) -> Term {
        let start = self.constant(64, object.start.into());
        let index = self.pool().binary(Binary::Sub, at, start);
        let last = self.constant(64, (object.len - len).into());
        let inside = self.pool().binary(Binary::Ule, index, last);
        self.assume(view, inside, Kind::Bounds, address, None);
        index
    }

    fn load_symbolic_address(
        &mut self,
        view: &View<'_>,
        addr: Operand,
        at: Term,
        len: u64,
        dst: u32,
    ) -> Option<Term> {
        let address = view.value(addr);
        let object = self.object(view, addr, at, len)?;
        let array = self.content_with(view.memory, &object, object.start, &[]);
        // The bytes of the array at the concrete address must be the bytes that were loaded.
        if len <= 8 {
            let seen = view.value(Operand::Reg(dst));
            for i in 0..len {
                let index = self.constant(64, (address - object.start + i).into());
                let term = self.world.pool.read(array, index);
                let known = self.world.pool.as_constant(term);
                if known.is_some_and(|known| known as u8 != (seen >> (8 * i)) as u8) {
                    self.concretise_operand(view, addr, Ty::Ptr, Reason::UnknownObject);
                    return None;
                }
            }
        }
        let index = self.place(view, &object, at, address, len);
        let mut term: Option<Term> = None;
        for i in (0..len).rev() {
            let offset = self.constant(64, i.into());
            let place = self.pool().binary(Binary::Add, index, offset);
            let byte = self.pool().read(array, place);
            term = Some(match term {
                Some(high) => self.pool().concat(high, byte),
                None => byte,
            });
        }
        term
    }

    fn store_symbolic_address(
        &mut self,
        view: &View<'_>,
        addr: Operand,
        at: Term,
        len: u64,
        term: Option<Term>,
    ) -> bool {
        let address = view.value(addr);
        let Some(object) = self.object(view, addr, at, len) else { return false };
        if object.table.is_some() {
            self.concretise_operand(view, addr, Ty::Ptr, Reason::UnknownObject);
            return false;
        }
        let mut bytes = [0; 16];
        view.memory.peek(address, &mut bytes[..len.min(16) as usize]);
        // The array before the store. Memory already has the stored bytes, but for any other address of the
        // store the old bytes would still be there. If the object is a region, its array has them; otherwise
        // `save_overwritten` saved them.
        let array = match self.regions.at(address) {
            Some(region) if region.start == object.start && region.len == object.len => region.array,
            _ => {
                let Some(old) = self.before.filter(|b| b.0 == address).map(|b| b.1) else {
                    self.concretise_operand(
                        view,
                        addr,
                        Ty::Ptr,
                        Reason::Detail("what was there is not known"),
                    );
                    return false;
                };
                self.dissolve(object.start, object.len);
                let old = &old[..len.min(16) as usize];
                let array = self.content_with(view.memory, &object, address, old);
                self.regions.add(Region { start: object.start, len: object.len, array });
                self.memory.clear(object.start, object.len);
                self.memory.pin(object.start, object.len, true);
                array
            }
        };
        let index = self.place(view, &object, at, address, len);
        let term = match term {
            Some(t) => t,
            None => self.constant(8 * len as u32, u128::from_le_bytes(bytes)),
        };
        let mut array = array;
        for i in 0..len {
            let offset = self.constant(64, i.into());
            let place = self.pool().binary(Binary::Add, index, offset);
            let byte = self.pool().extract(term, 8 * i as u32, 8);
            array = self.pool().store(array, place, byte);
        }
        self.regions.replace(object.start, array);
        self.objects.touched(address, len);
        true
    }

    /// The bytes of an object as an array, with the bytes at `at` replaced by `other`.
    fn content_with(&mut self, memory: &Memory, object: &Object, at: u64, other: &[u8]) -> Array {
        if let Some(region) = self.regions.at(object.start)
            && region.start == object.start
            && region.len == object.len
        {
            return region.array;
        }
        self.dissolve(object.start, object.len);
        let mut bytes = vec![0; object.len as usize];
        match &object.table {
            Some(table) => bytes.copy_from_slice(table),
            None => {
                memory.peek(object.start, &mut bytes);
                self.objects.fill_in(object.start, &mut bytes);
            }
        }
        for (i, b) in other.iter().enumerate() {
            if let Some(place) = bytes.get_mut((at - object.start) as usize + i) {
                *place = *b;
            }
        }
        let symbolic = self.memory.find(object.start, object.len);
        if symbolic.is_empty()
            && let Some(known) = self.objects.cached(object.start, &bytes)
        {
            return known;
        }
        let mut elements: Vec<Term> = bytes.iter().map(|b| self.constant(8, (*b).into())).collect();
        for (offset, piece) in &symbolic {
            elements[*offset as usize] = self.piece(*piece);
        }
        let array = self.pool().bytes(&elements);
        if let Some(layout) = self.objects.layout(object.start).cloned() {
            self.pool().describe(array, &layout);
        }
        if symbolic.is_empty() {
            self.objects.cache(object.start, bytes, array);
        }
        array
    }
}
