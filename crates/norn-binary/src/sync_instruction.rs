//! Instructions that synchronise threads and that no trace contains.
//!
//! The compiler's instrumentation replaces atomic operations of C and C++ by calls of hooks. So a locked
//! instruction in instrumented code comes from inline assembly or from an object that was built
//! without instrumentation. Threads that execute such instructions may be ordered by them.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// An instruction that may synchronise threads without being recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SyncInstruction {
    /// Its module-relative address.
    pub address: u64,
    /// Its name as in assembly: `lock xadd`.
    pub name: String,
    /// Whether it only marks a wait. Such an instruction matters in a loop without recorded events.
    pub waits: bool,
}

/// The number of the system call by which threads wait for each other.
const FUTEX: u64 = 202;
/// The vector of 32-bit system calls.
const OLD_SYSTEM_CALL: u8 = 0x80;

/// Recognises instructions that synchronise, in the order of the code.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recogniser {
    /// The constant in `eax`, if it is known: the number of a system call.
    number: Option<u64>,
}

impl Recogniser {
    /// The next instruction, if it may synchronise threads.
    pub(crate) fn step(&mut self, code: &Instruction) -> Option<SyncInstruction> {
        let number = self.number;
        self.follow(code);
        let name = format!("{:?}", code.mnemonic()).to_lowercase();
        let found = |name, waits| Some(SyncInstruction { address: code.ip(), name, waits });
        match code.mnemonic() {
            _ if code.has_lock_prefix() => found(format!("lock {name}"), false),
            // An exchange with memory is locked without the prefix.
            Mnemonic::Xchg if has_memory(code) => found(name, false),
            Mnemonic::Mfence | Mnemonic::Lfence | Mnemonic::Sfence | Mnemonic::Xbegin => {
                found(name, false)
            }
            Mnemonic::Syscall if number.is_none_or(|it| it == FUTEX) => found(name, false),
            Mnemonic::Int if code.immediate8() == OLD_SYSTEM_CALL => found(name, false),
            Mnemonic::Pause => found(name, true),
            _ => None,
        }
    }

    pub(crate) fn follow(&mut self, code: &Instruction) {
        let writes = code.op_count() > 0
            && code.op0_kind() == OpKind::Register
            && code.op0_register().full_register() == Register::RAX;
        let moves = code.mnemonic() == Mnemonic::Mov && is_immediate(code.op1_kind());
        let clears = code.mnemonic() == Mnemonic::Xor && code.op0_register() == code.op1_register();
        if writes && moves {
            self.number = Some(code.immediate(1));
        } else if writes && clears {
            self.number = Some(0);
        } else if writes || code.mnemonic() == Mnemonic::Call {
            self.number = None;
        }
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(kind, OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64)
}

fn has_memory(code: &Instruction) -> bool {
    code.op_kinds().any(|it| it == OpKind::Memory)
}

/// All such instructions in code, without a range that is the runtime's.
pub(crate) fn scan(address: u64, bytes: &[u8], runtime: &Range<u64>) -> Vec<SyncInstruction> {
    let mut found = Vec::new();
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let mut recogniser = Recogniser::default();
    let mut code = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut code);
        let next = match code.is_invalid() {
            _ if runtime.contains(&code.ip()) => runtime.end,
            // The decoder may have consumed the beginning of a valid instruction.
            true => code.ip() + 1,
            false => {
                if may_synchronise(&code) {
                    found.extend(recogniser.step(&code));
                } else {
                    recogniser.follow(&code);
                }
                continue;
            }
        };
        let at = usize::try_from(next - address).unwrap_or(usize::MAX);
        decoder.set_ip(next);
        if decoder.set_position(at).is_err() {
            break;
        }
    }
    found
}

/// A quick test that all instructions of interest pass: it allocates nothing.
pub(crate) fn may_synchronise(code: &Instruction) -> bool {
    code.has_lock_prefix()
        || matches!(
            code.mnemonic(),
            Mnemonic::Xchg
                | Mnemonic::Mfence
                | Mnemonic::Lfence
                | Mnemonic::Sfence
                | Mnemonic::Xbegin
                | Mnemonic::Syscall
                | Mnemonic::Int
                | Mnemonic::Pause
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bytes: &[u8]) -> Vec<String> {
        scan(0x1000, bytes, &(0..0)).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn locked_instructions_and_fences_are_found() {
        assert_eq!(names(&[0xf0, 0x0f, 0xc1, 0x07]), ["lock xadd"]);
        assert_eq!(names(&[0xf0, 0x0f, 0xb1, 0x0f]), ["lock cmpxchg"]);
        assert_eq!(names(&[0xf0, 0x48, 0x0f, 0xc7, 0x0f]), ["lock cmpxchg16b"]);
        assert_eq!(names(&[0x87, 0x07]), ["xchg"]);
        assert_eq!(names(&[0x0f, 0xae, 0xf0]), ["mfence"]);
        assert_eq!(names(&[0xf3, 0x90]), ["pause"]);
    }

    #[test]
    fn exchanges_of_registers_synchronise_nothing() {
        assert_eq!(names(&[0x48, 0x87, 0xd8]), [""; 0]);
        assert_eq!(names(&[0x90]), [""; 0]);
    }

    #[test]
    fn system_calls_count_unless_they_are_known_to_be_others() {
        assert_eq!(names(&[0x0f, 0x05]), ["syscall"]);
        assert_eq!(names(&[0xb8, 202, 0, 0, 0, 0x0f, 0x05]), ["syscall"]);
        assert_eq!(names(&[0xb8, 186, 0, 0, 0, 0x0f, 0x05]), [""; 0]);
    }

    #[test]
    fn bytes_inside_of_other_instructions_and_the_runtime_do_not_count() {
        assert_eq!(names(&[0xb8, 0xf0, 0x0f, 0xc1, 0x07]), [""; 0]);
        let both = [0x87, 0x07, 0x87, 0x07];
        let found = scan(0x1000, &both, &(0x1000..0x1002));
        assert_eq!(found.iter().map(|it| it.address).collect::<Vec<_>>(), [0x1002]);
    }
}
