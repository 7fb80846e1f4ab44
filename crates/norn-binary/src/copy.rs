//! Recognises the two hooks of one copy.
//!
//! For the assignment of a structure, `a = b`, gcc calls a write hook for `a` and a read hook for
//! `b`, and copies only after both. A runtime that reads the written value at the next hook
//! therefore finds the old value. Such pairs can be recognised in the code: it stores nothing
//! between the hooks.

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess};

/// Maximum distance between two such hooks, in bytes.
const MAX_DISTANCE: u64 = 64;

/// Whether the code between the return addresses of two hooks stores nothing. Takes the code
/// sections of a module and the two return addresses.
pub(crate) fn is_copy<'a>(
    mut code: impl Iterator<Item = (u64, &'a [u8])>,
    write: u64,
    read: u64,
) -> bool {
    if write >= read || read - write > MAX_DISTANCE {
        return false;
    }
    let between = code.find_map(|(start, bytes)| {
        let from = usize::try_from(write.checked_sub(start)?).ok()?;
        let to = usize::try_from(read.checked_sub(start)?).ok()?;
        bytes.get(from..to)
    });
    between.is_some_and(|bytes| stores_nothing(bytes, write))
}

/// Whether this is straight-line code that ends in a call and writes no memory before it.
fn stores_nothing(bytes: &[u8], start: u64) -> bool {
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let mut facts = InstructionInfoFactory::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return false;
        }
        match instruction.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall => return !decoder.can_decode(),
            _ => return false,
        }
        let written =
            |access| !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess);
        if facts.info(&instruction).used_memory().iter().any(|it| written(it.access())) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEA_CALL: &[u8] = &[0x48, 0x8d, 0x7b, 0x08, 0xe8, 0, 0, 0, 0];
    const STORE_LEA_CALL: &[u8] = &[0x48, 0x89, 0x03, 0x48, 0x8d, 0x7b, 0x08, 0xe8, 0, 0, 0, 0];

    fn check(bytes: &'static [u8]) -> bool {
        is_copy([(0x1000, bytes)].into_iter(), 0x1000, 0x1000 + bytes.len() as u64)
    }

    #[test]
    fn nothing_stored_is_a_copy() {
        assert!(check(LEA_CALL));
    }

    #[test]
    fn a_store_in_between_is_none() {
        assert!(!check(STORE_LEA_CALL));
    }

    #[test]
    fn a_jump_in_between_is_none() {
        assert!(!check(&[0xeb, 0x00, 0xe8, 0, 0, 0, 0]));
    }

    #[test]
    fn far_apart_is_none() {
        assert!(!is_copy([(0x1000, LEA_CALL)].into_iter(), 0x1000, 0x2000));
    }
}
