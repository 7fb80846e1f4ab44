//! Functions of libc through which one thread can hand something to another without an event: they move data
//! through pipes, sockets and the like, and no trace tells which call got what another one sent.

use std::collections::BTreeMap;

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// Which way a function moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Out of the thread.
    Send,
    /// To the thread.
    Receive,
}

/// A call of such a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The function.
    pub name: Box<str>,
    /// The return address of the call; none if it is a jump at the end of a function.
    pub returns_to: Option<u64>,
    /// The return addresses of the calls that lead to it, innermost first.
    pub calls: Vec<u64>,
}

/// The calls of such functions that code reaches, by their addresses.
pub type Transfers = BTreeMap<u64, Transfer>;

const SENDS: [&str; 16] = [
    "dprintf", "fclose", "fflush", "fprintf", "fputc", "fputs", "fwrite", "perror", "printf",
    "putc", "putchar", "puts", "vdprintf", "vfprintf", "vmsplice", "vprintf",
];

const RECEIVES: [&str; 14] = [
    "aio_error",
    "aio_return",
    "aio_suspend",
    "fgetc",
    "fgets",
    "fread",
    "fscanf",
    "getc",
    "getchar",
    "getdelim",
    "getline",
    "scanf",
    "vfscanf",
    "vscanf",
];

const BOTH: [&str; 12] = [
    SYSTEM_CALL,
    "process_vm_readv",
    "process_vm_writev",
    "aio_read",
    "aio_write",
    "copy_file_range",
    "fcntl",
    "lio_listio",
    "lockf",
    "sendfile",
    "splice",
    "tee",
];

/// The function that makes any system call, and the numbers of those that move data or wait for some.
pub const SYSTEM_CALL: &str = "syscall";
const MOVING: [u64; 32] = [
    0, 1, 7, 17, 18, 19, 20, 23, 40, 44, 45, 46, 47, 61, 128, 208, 209, 232, 242, 243, 270, 271,
    275, 276, 278, 281, 295, 296, 299, 307, 326, 426,
];

/// The constant in the register of a call's first argument, if it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstArgument(Option<u64>);

impl FirstArgument {
    /// Follows the next instruction of a block.
    pub(crate) fn follow(&mut self, code: &Instruction) {
        let into = code.op_count() > 0 && code.op0_kind() == OpKind::Register;
        if !into || code.op0_register().full_register() != Register::RDI {
            return;
        }
        let clears = code.mnemonic() == Mnemonic::Xor && code.op0_register() == code.op1_register();
        self.0 = match code.mnemonic() {
            Mnemonic::Mov => code.try_immediate(1).ok(),
            _ if clears => Some(0),
            _ => None,
        };
    }

    /// Whether a call of this function is a system call that moves no data.
    pub(crate) fn moves_nothing(self, function: &str) -> bool {
        function == SYSTEM_CALL && self.0.is_some_and(|it| !MOVING.contains(&it))
    }
}

/// Whether a function may move data in this direction.
pub fn moves(function: &str, direction: Direction) -> bool {
    let name = plain(function);
    let known = match direction {
        Direction::Send => SENDS.contains(&name),
        Direction::Receive => RECEIVES.contains(&name),
    };
    known || BOTH.contains(&name)
}

/// A name without what marks the variants of a function: `__isoc99_fscanf`, `__fgets_chk`, `_IO_putc`,
/// `fputs_unlocked`, `sendfile64`.
fn plain(function: &str) -> &str {
    let begins = ["__isoc99_", "__isoc23_", "_IO_", "__"];
    let ends = ["_chk", "_unlocked", "64"];
    let name = begins.iter().find_map(|it| function.strip_prefix(it)).unwrap_or(function);
    ends.iter().find_map(|it| name.strip_suffix(it)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a call of `syscall` after these instructions may move data.
    fn may_move(bytes: &[u8]) -> bool {
        let mut argument = FirstArgument::default();
        let mut decoder = iced_x86::Decoder::new(64, bytes, iced_x86::DecoderOptions::NONE);
        decoder.iter().for_each(|it| argument.follow(&it));
        !argument.moves_nothing(SYSTEM_CALL)
    }

    #[test]
    fn system_calls_move_data_unless_their_number_says_otherwise() {
        assert!(may_move(&[]));
        assert!(may_move(&[0xbf, 1, 0, 0, 0]), "mov edi, 1: write");
        assert!(may_move(&[0x31, 0xff]), "xor edi, edi: read");
        assert!(!may_move(&[0xbf, 202, 0, 0, 0]), "mov edi, 202: futex");
        assert!(may_move(&[0xbf, 202, 0, 0, 0, 0x89, 0xc7]), "mov edi, eax");
    }

    #[test]
    fn variants_of_a_function_move_data_like_it() {
        for name in ["fgets", "__fgets_chk", "fgets_unlocked", "__isoc99_fscanf", "_IO_getc"] {
            assert!(moves(name, Direction::Receive), "{name}");
            assert!(!moves(name, Direction::Send), "{name}");
        }
        assert!(moves("__fprintf_chk", Direction::Send));
        assert!(moves("sendfile64", Direction::Send) && moves("splice", Direction::Receive));
        assert!(moves("syscall", Direction::Send) && moves("syscall", Direction::Receive));
        assert!(!moves("snprintf", Direction::Send) && !moves("sscanf", Direction::Receive));
    }
}
