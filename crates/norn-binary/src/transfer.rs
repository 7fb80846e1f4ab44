//! Functions of libc through which one thread can hand something to another without an event: they move data
//! through pipes, sockets and the like, and no trace tells which call got what another one sent.

use std::collections::BTreeMap;

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

const BOTH: [&str; 9] = [
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

    #[test]
    fn variants_of_a_function_move_data_like_it() {
        for name in ["fgets", "__fgets_chk", "fgets_unlocked", "__isoc99_fscanf", "_IO_getc"] {
            assert!(moves(name, Direction::Receive), "{name}");
            assert!(!moves(name, Direction::Send), "{name}");
        }
        assert!(moves("__fprintf_chk", Direction::Send));
        assert!(moves("sendfile64", Direction::Send) && moves("splice", Direction::Receive));
        assert!(!moves("snprintf", Direction::Send) && !moves("sscanf", Direction::Receive));
    }
}
