//! The calls in a module's code: the return address and the target of each.
//!
//! A site of a trace is the return address of a call of a hook or of a function like
//! `pthread_mutex_lock`. To name sites before there is a trace, the calls must be found in the
//! code. The code is decoded linearly; bytes that do not decode are skipped one by one.

use std::{collections::BTreeMap, sync::Arc};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget};

use crate::{
    elf::Image,
    symbol::{Symbols, plain_name},
};

/// A call in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The return address: that of the instruction after the call.
    pub returns_to: u64,
    /// The linkage name of the called function, if the code determines it.
    pub target: Option<Box<str>>,
}

/// All calls, by ascending address.
pub(crate) fn calls(image: &Image<'_>, symbols: &Symbols<'_>) -> Vec<Call> {
    let targets = Targets::new(image, symbols);
    let mut calls = Vec::new();
    for (address, bytes) in image.code() {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if instruction.is_invalid() {
                // The decoder may have consumed the beginning of a valid instruction.
                let next = instruction.ip() + 1;
                let at = usize::try_from(next - address).unwrap_or(usize::MAX);
                decoder.set_ip(next);
                if decoder.set_position(at).is_err() {
                    break;
                }
            } else if let FlowControl::Call | FlowControl::IndirectCall = instruction.flow_control()
            {
                let target = targets.of(&instruction).map(Into::into);
                calls.push(Call { returns_to: instruction.next_ip(), target });
            }
        }
    }
    calls
}

/// The functions that calls can reach.
pub(crate) struct Targets<'m, 'a> {
    code: Vec<(u64, &'a [u8])>,
    slots: Arc<Slots<'a>>,
    pub(crate) symbols: &'m Symbols<'a>,
}

impl<'m, 'a> Targets<'m, 'a> {
    pub(crate) fn new(image: &Image<'a>, symbols: &'m Symbols<'a>) -> Targets<'m, 'a> {
        Targets::with(image, &Arc::new(Slots::new(image)), symbols)
    }

    /// The same for slots that were read before.
    pub(crate) fn with(
        image: &Image<'a>,
        slots: &Arc<Slots<'a>>,
        symbols: &'m Symbols<'a>,
    ) -> Targets<'m, 'a> {
        Targets { code: image.code().collect(), slots: Arc::clone(slots), symbols }
    }

    /// The name of the function that the call with this return address calls.
    pub(crate) fn called(&self, returns_to: u64) -> Option<&'a str> {
        // A direct call has five bytes, one through a slot six or seven.
        let calls = [5, 6, 7].into_iter().filter_map(|length| {
            let from = returns_to.checked_sub(length)?;
            let mut decoder = Decoder::with_ip(64, self.bytes(from)?, from, DecoderOptions::NONE);
            let call = decoder.decode();
            let is = matches!(call.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
            Some(call).filter(|it| is && it.next_ip() == returns_to)
        });
        calls.into_iter().find_map(|it| self.of(&it))
    }

    /// The name of the function that is called.
    pub(crate) fn of(&self, call: &Instruction) -> Option<&'a str> {
        if let FlowControl::IndirectCall | FlowControl::IndirectBranch = call.flow_control() {
            return self.import(call);
        }
        let target = call.near_branch_target();
        self.symbols.code.at(target).map(|it| it.name).or_else(|| self.stub(target))
    }

    /// The function behind a stub of the procedure linkage table.
    pub(crate) fn stub(&self, target: u64) -> Option<&'a str> {
        let bytes = self.bytes(target)?;
        let mut decoder = Decoder::with_ip(64, bytes, target, DecoderOptions::NONE);
        // The first instruction may be `endbr64`.
        let jump =
            decoder.iter().take(2).find(|it| it.flow_control() == FlowControl::IndirectBranch)?;
        self.import(&jump)
    }

    /// The code from an address on.
    pub(crate) fn bytes(&self, address: u64) -> Option<&'a [u8]> {
        let mut code = self.code.iter();
        code.find_map(|(start, bytes)| {
            bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?..)
        })
    }

    /// The function whose address is loaded by a call or jump.
    pub(crate) fn import(&self, instruction: &Instruction) -> Option<&'a str> {
        let relative =
            instruction.op0_kind() == OpKind::Memory && instruction.is_ip_rel_memory_operand();
        let slot = relative.then(|| instruction.ip_rel_memory_address())?;
        self.slot(slot)
    }

    /// The symbol whose address a slot holds.
    pub(crate) fn slot(&self, slot: u64) -> Option<&'a str> {
        let own = || self.symbols.code.at(*self.slots.own.get(&slot)?).map(|it| it.name);
        self.slots.imported.get(&slot).copied().or_else(own)
    }
}

/// The slots that will hold addresses of functions when the module is loaded.
#[derive(Debug, Default)]
pub(crate) struct Slots<'a> {
    /// Functions of other modules.
    imported: BTreeMap<u64, &'a str>,
    /// Addresses in this module, in the global offset table.
    own: BTreeMap<u64, u64>,
}

impl<'a> Slots<'a> {
    pub(crate) fn new(image: &Image<'a>) -> Slots<'a> {
        Slots { imported: imported(image), own: own_slots(image) }
    }
}

/// The slots of the global offset table that hold addresses of this module. Code that was compiled
/// without a procedure linkage table, as Rust's is, calls its own functions through them.
pub(crate) fn own_slots(image: &Image<'_>) -> BTreeMap<u64, u64> {
    let Some(table) = image.file.section_by_name(".got") else { return BTreeMap::new() };
    let slots = table.address()..table.address().saturating_add(table.size());
    let relocations = image.file.dynamic_relocations().into_iter().flatten();
    let relative = relocations
        .filter(|(slot, it)| it.target() == RelocationTarget::Absolute && slots.contains(slot));
    relative.map(|(slot, it)| (slot, it.addend().cast_unsigned())).collect()
}

fn imported<'a>(image: &Image<'a>) -> BTreeMap<u64, &'a str> {
    let mut names = BTreeMap::new();
    let Some(table) = image.file.dynamic_symbol_table() else { return names };
    for (slot, relocation) in image.file.dynamic_relocations().into_iter().flatten() {
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let symbol = table.symbol_by_index(index).ok();
        let name = symbol.and_then(|it| it.name_bytes().ok()).and_then(plain_name);
        names.extend(name.map(|name| (slot, name)));
    }
    names
}
