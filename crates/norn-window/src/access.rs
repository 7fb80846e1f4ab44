//! Accesses and the patterns that they form: conflicting pairs and unserializable triples (the
//! paper's tables 1 and 2).
//!
//! A pair is two successive accesses of different threads, at least one of them a write: the sign of
//! an order violation. A triple is two accesses of one thread with another thread's access between
//! them that no serial order explains: the sign of an atomicity violation.

use core::fmt;

/// What an access does. An atomic read-modify-write counts as a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// An access to a shared variable, as a window needs it.
pub trait Access: Copy {
    /// What it does.
    fn kind(&self) -> AccessKind;
    /// The thread that makes it.
    fn thread(&self) -> u32;
    /// The epoch of that thread; see [`Ancestry`](crate::Ancestry).
    fn epoch(&self) -> u32;
    /// Its position among the accesses of the run.
    fn time(&self) -> u64;
    /// Whether both are at the same place in the code.
    fn is_same_place(&self, other: &Self) -> bool;
    /// The same access, with another time.
    #[must_use]
    fn at(self, time: u64) -> Self;
}

/// The accesses of one pattern in a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<A> {
    /// The kind of pattern.
    pub kind: PatternKind,
    /// The third one of a pair has no meaning.
    accesses: [A; 3],
}

impl<A: Access> Match<A> {
    /// Of a pair, the third access has no meaning.
    pub(crate) fn of(kind: PatternKind, accesses: [A; 3]) -> Match<A> {
        Match { kind, accesses }
    }

    /// The accesses.
    pub fn accesses(&self) -> &[A] {
        self.accesses.get(..self.kind.len()).unwrap_or(&[])
    }

    /// The place of this occurrence among others, if the variable has this address.
    pub fn moment(&self, addr: u64) -> Moment {
        let [first, second, third] = &self.accesses;
        let (last, middle, first) = match self.kind.len() {
            3 => (third.time(), second.time(), first.time()),
            // A triple comes before the pair of its last two accesses.
            _ => (second.time(), first.time(), u64::MAX),
        };
        Moment([last, addr, middle, first])
    }
}

/// When a pattern occurred: occurrences are ordered by the time at which they are complete. The
/// address and the other times make the order total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub(crate) [u64; 4]);

/// The kinds of patterns. The letters are reads and writes, the numbers threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternKind {
    /// R1-W2-R1: two reads that expect the same value.
    ReadWriteRead,
    /// W1-W2-R1: a read that expects the thread's own write.
    WriteWriteRead,
    /// W1-R2-W1: another thread sees an intermediate value.
    WriteReadWrite,
    /// R1-W2-W1: the other thread's write is lost.
    ReadWriteWrite,
    /// W1-W2-W1: the other thread's write is lost.
    WriteWriteWrite,
    /// R1-W2: a write that comes too late for the read, or too early.
    ReadWrite,
    /// W1-R2: a read of an unexpected value.
    WriteRead,
    /// W1-W2: an overwritten value.
    WriteWrite,
}

impl PatternKind {
    /// All kinds.
    pub const ALL: [PatternKind; 8] = [
        PatternKind::ReadWriteRead,
        PatternKind::WriteWriteRead,
        PatternKind::WriteReadWrite,
        PatternKind::ReadWriteWrite,
        PatternKind::WriteWriteWrite,
        PatternKind::ReadWrite,
        PatternKind::WriteRead,
        PatternKind::WriteWrite,
    ];

    /// The kind of two successive accesses of different threads; none if both read.
    pub fn of_pair(first: AccessKind, second: AccessKind) -> Option<PatternKind> {
        use AccessKind::{Read, Write};
        match (first, second) {
            (Read, Read) => None,
            (Read, Write) => Some(PatternKind::ReadWrite),
            (Write, Read) => Some(PatternKind::WriteRead),
            (Write, Write) => Some(PatternKind::WriteWrite),
        }
    }

    /// The kind of two accesses of a thread with an access of another thread between them; none if
    /// some serial order has the same result.
    pub fn of_triple(
        first: AccessKind,
        remote: AccessKind,
        last: AccessKind,
    ) -> Option<PatternKind> {
        use AccessKind::{Read, Write};
        match (first, remote, last) {
            (Read, Write, Read) => Some(PatternKind::ReadWriteRead),
            (Write, Write, Read) => Some(PatternKind::WriteWriteRead),
            (Write, Read, Write) => Some(PatternKind::WriteReadWrite),
            (Read, Write, Write) => Some(PatternKind::ReadWriteWrite),
            (Write, Write, Write) => Some(PatternKind::WriteWriteWrite),
            (Read, Read, _) | (Write, Read, Read) => None,
        }
    }

    /// Whether it is a triple, the sign of an atomicity violation; otherwise a pair.
    pub fn is_triple(self) -> bool {
        match self {
            PatternKind::ReadWriteRead
            | PatternKind::WriteWriteRead
            | PatternKind::WriteReadWrite
            | PatternKind::ReadWriteWrite
            | PatternKind::WriteWriteWrite => true,
            PatternKind::ReadWrite | PatternKind::WriteRead | PatternKind::WriteWrite => false,
        }
    }

    /// Number of its accesses.
    #[expect(clippy::len_without_is_empty, reason = "no pattern is empty")]
    pub fn len(self) -> usize {
        if self.is_triple() { 3 } else { 2 }
    }

    /// Its name: `R1-W2-W1`.
    pub fn name(self) -> &'static str {
        match self {
            PatternKind::ReadWriteRead => "R1-W2-R1",
            PatternKind::WriteWriteRead => "W1-W2-R1",
            PatternKind::WriteReadWrite => "W1-R2-W1",
            PatternKind::ReadWriteWrite => "R1-W2-W1",
            PatternKind::WriteWriteWrite => "W1-W2-W1",
            PatternKind::ReadWrite => "R1-W2",
            PatternKind::WriteRead => "W1-R2",
            PatternKind::WriteWrite => "W1-W2",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<PatternKind> {
        PatternKind::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl fmt::Display for PatternKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_pairs_and_five_triples() {
        let kinds = [AccessKind::Read, AccessKind::Write];
        let pairs = kinds.iter().flat_map(|a| kinds.map(|b| PatternKind::of_pair(*a, b)));
        assert_eq!(pairs.flatten().count(), 3);
        let triples = kinds.iter().flat_map(|a| {
            kinds.iter().flat_map(|b| kinds.map(|c| PatternKind::of_triple(*a, *b, c)))
        });
        assert_eq!(triples.flatten().count(), 5);
        let triples = PatternKind::ALL.iter().filter(|it| it.is_triple());
        assert_eq!(triples.count(), 5);
    }

    #[test]
    fn names_are_read_back() {
        for kind in PatternKind::ALL {
            assert_eq!(PatternKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(PatternKind::from_name("R1-R2"), None);
    }
}
