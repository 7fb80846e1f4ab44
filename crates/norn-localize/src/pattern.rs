//! Interleaving patterns: conflicting pairs and unserializable triples (the paper's tables 1 and 2).
//!
//! A pair is two successive accesses of different threads, at least one of them a write: the sign of
//! an order violation. A triple is two accesses of one thread with another thread's access between
//! them that no serial order explains: the sign of an atomicity violation.

use std::fmt;

use smallvec::SmallVec;

use crate::AccessKind;

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

/// A pattern at places in the code. Threads and addresses are no part of it, because they differ
/// between runs; so it is the same pattern whichever threads execute the code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern<S> {
    /// Its kind.
    pub kind: PatternKind,
    /// The site of each access, in order.
    pub sites: SmallVec<[S; 3]>,
}

impl<S> Pattern<S> {
    /// The same pattern with sites of another form; none if a site has none.
    pub fn try_map<T>(&self, site: impl FnMut(&S) -> Option<T>) -> Option<Pattern<T>> {
        let sites = self.sites.iter().map(site).collect::<Option<_>>()?;
        Some(Pattern { kind: self.kind, sites })
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
