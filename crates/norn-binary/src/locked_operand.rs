//! Where a function of the program changes memory by an instruction with a `lock` prefix.

use iced_x86::{Decoder, DecoderOptions, Instruction, Register};

/// The displacement of the first operand of `size` bytes in memory that is changed under a `lock` prefix, relative to a
/// register: 40 in `lock dec dword ptr [rbx + 40]`. The structs of Rust have no fixed layout, but a small
/// function that changes one word of its argument shows where the word is.
pub fn first_locked_displacement(code: &[u8], size: usize) -> Option<i32> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let is_it = |it: &Instruction| it.has_lock_prefix() && it.memory_size().size() == size;
    let locked = decoder.iter().find(is_it)?;
    let relative = locked.memory_base() != Register::None && !locked.is_ip_rel_memory_operand();
    let displacement = locked.memory_displacement64().cast_signed();
    relative.then(|| i32::try_from(displacement).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locked_operand_counts() {
        // mov rbx, [rdi]; lock dec dword ptr [rbx + 0x28]; lock inc qword ptr [rbx - 0x10]; lock inc dword ptr [rbx]
        let code = [
            0x48, 0x8b, 0x1f, 0xf0, 0xff, 0x4b, 0x28, 0xf0, 0x48, 0xff, 0x43, 0xf0, 0xf0, 0xff,
            0x03,
        ];
        assert_eq!(first_locked_displacement(&code, 4), Some(0x28));
        assert_eq!(first_locked_displacement(&code, 8), Some(-0x10));
        assert_eq!(first_locked_displacement(&code[..3], 4), None);
    }
}
