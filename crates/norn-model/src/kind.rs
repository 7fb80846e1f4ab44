//! Kinds of candidates and the bug classes that they belong to.
//!
//! A kind is the exact shape of a candidate, such as `write-skew`; a class is the kind of bug that it
//! would be, such as an atomic-set violation. Every kind has one class, so only the kind is stored.

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

/// Classes of concurrency bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BugClass {
    /// Data race: two conflicting accesses, one of them a write, that nothing orders.
    Race,
    /// Atomicity violation: another thread's access falls between two accesses that belong together.
    Atomicity,
    /// Atomic-set violation: accesses to several variables that belong together are interleaved.
    AtomicSet,
    /// Use after free: memory is used, or freed again, after it was freed.
    Lifetime,
    /// Order violation: two events happen in another order than the program expects.
    Order,
    /// A match of a pattern of the user.
    Pattern,
    /// Deadlock: threads wait for each other, or for a wake-up that has already been sent.
    Deadlock,
    /// Lock misuse: a lock is used in a way that POSIX leaves undefined.
    LockMisuse,
    /// Descriptor misuse: a descriptor is used or closed after another thread closed it.
    Descriptor,
    /// Property violation: an order of events that breaks a property of the user.
    Property,
}

impl BugClass {
    /// All classes.
    pub const ALL: [BugClass; 10] = [
        BugClass::Race,
        BugClass::Atomicity,
        BugClass::AtomicSet,
        BugClass::Lifetime,
        BugClass::Order,
        BugClass::Pattern,
        BugClass::Deadlock,
        BugClass::LockMisuse,
        BugClass::Descriptor,
        BugClass::Property,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            BugClass::Race => "race",
            BugClass::Atomicity => "atomicity",
            BugClass::AtomicSet => "atomic-set",
            BugClass::Lifetime => "lifetime",
            BugClass::Order => "order",
            BugClass::Pattern => "pattern",
            BugClass::Deadlock => "deadlock",
            BugClass::LockMisuse => "lock-misuse",
            BugClass::Descriptor => "descriptor",
            BugClass::Property => "property",
        }
    }

    /// Its usual name in the literature, for headings.
    pub fn title(self) -> &'static str {
        match self {
            BugClass::Race => "data race",
            BugClass::Atomicity => "atomicity violation",
            BugClass::AtomicSet => "atomic-set violation",
            BugClass::Lifetime => "use after free",
            BugClass::Order => "order violation",
            BugClass::Pattern => "user pattern",
            BugClass::Deadlock => "deadlock",
            BugClass::LockMisuse => "lock misuse",
            BugClass::Descriptor => "use after close",
            BugClass::Property => "property violation",
        }
    }
}

/// Declares [`CandidateKind`] from one table, so that a kind cannot lack a name or a class.
macro_rules! candidate_kinds {
    ($($(#[$doc:meta])* $kind:ident: $class:ident, $name:literal;)*) => {
        /// The exact kind of a candidate.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum CandidateKind {
            $($(#[$doc])* $kind,)*
            /// A pattern from a file of the user, which states its class.
            UserPattern {
                /// The class that the file gives it.
                class: BugClass,
                /// The name that the file gives it.
                name: String,
            },
            /// A property of the user, by its name.
            Property(String),
        }

        impl CandidateKind {
            /// All kinds that are not named by the user.
            pub const BUILT_IN: &[CandidateKind] = &[$(CandidateKind::$kind,)*];

            /// Its name in reports and in JSON, in kebab case unless the user chose it.
            pub fn name(&self) -> &str {
                match self {
                    $(CandidateKind::$kind => $name,)*
                    CandidateKind::UserPattern { name, .. } | CandidateKind::Property(name) => name,
                }
            }

            /// Its bug class.
            pub fn class(&self) -> BugClass {
                match self {
                    $(CandidateKind::$kind => BugClass::$class,)*
                    CandidateKind::UserPattern { class, .. } => *class,
                    CandidateKind::Property(_) => BugClass::Property,
                }
            }
        }
    };
}

candidate_kinds! {
    /// A write directly after another thread's read.
    ReadWriteRace: Race, "read-write";
    /// A read directly after another thread's write.
    WriteReadRace: Race, "write-read";
    /// Two writes directly after each other.
    WriteWriteRace: Race, "write-write";
    /// Memory is freed, and nothing orders that after another thread's use.
    UseFreeRace: Race, "use-free";
    /// A write between two reads.
    ReadWriteRead: Atomicity, "read-write-read";
    /// A write between a write and a read.
    WriteWriteRead: Atomicity, "write-write-read";
    /// A read between two writes.
    WriteReadWrite: Atomicity, "write-read-write";
    /// A write between a read and a write.
    ReadWriteWrite: Atomicity, "read-write-write";
    /// A write between two writes.
    WriteWriteWrite: Atomicity, "write-write-write";
    /// Another thread consumes what a thread was woken for, before the woken thread checks its
    /// condition.
    StolenWakeUp: Atomicity, "stolen-wake-up";
    /// Two variables end up with the values of different writers.
    SetWrites: AtomicSet, "write-write-write-write";
    /// `SetWrites`, with the second writer's accesses in the other order.
    SetWritesCrossed: AtomicSet, "write-write-write-write-crossed";
    /// A reader sees two variables between the writes to them.
    SetReads: AtomicSet, "write-read-read-write";
    /// `SetReads`, with the reader's accesses in the other order.
    SetReadsCrossed: AtomicSet, "write-read-read-write-crossed";
    /// A writer changes two variables between the reads of them.
    SetTornRead: AtomicSet, "read-write-write-read";
    /// `SetTornRead`, with the writer's accesses in the other order.
    SetTornReadCrossed: AtomicSet, "read-write-write-read-crossed";
    /// Two threads each read one variable and write the other.
    WriteSkew: AtomicSet, "write-skew";
    /// `WriteSkew`, with the second thread's accesses in the other order.
    WriteSkewReversed: AtomicSet, "write-skew-reversed";
    /// Memory is used after another thread freed it.
    UseAfterFree: Lifetime, "use-after-free";
    /// Two threads free the same memory.
    DoubleFree: Lifetime, "double-free";
    /// A read before the write whose value it saw in the recorded run.
    OverdueUse: Order, "overdue-use";
    /// A read after a write that followed it in the recorded run.
    PrematureUse: Order, "premature-use";
    /// A write after the one that normally follows it, so that a read sees it.
    LateOverwrite: Order, "late-overwrite";
    /// A synchronisation object is used after it was destroyed.
    UseAfterDestroy: Order, "use-after-destroy";
    /// A synchronisation object is used before it is initialised.
    UseBeforeInit: Order, "use-before-init";
    /// A wait times out before the wake-up that ended it in the recorded run.
    Timeout: Order, "timeout";
    /// A wait times out at the same time as its wake-up is sent.
    LateWakeUp: Order, "late-wake-up";
    /// Each thread waits for a lock that another one of them holds.
    LockCycle: Deadlock, "lock-cycle";
    /// A thread waits while it holds a lock that the thread that would wake it needs.
    WaitHoldingLock: Deadlock, "wait-holding-lock";
    /// A thread joins another while it holds a lock that the other needs.
    JoinHoldingLock: Deadlock, "join-holding-lock";
    /// A thread that reads requests the lock for reading again, behind a writer that waits for it.
    ReadBehindWriter: Deadlock, "read-behind-writer";
    /// All wake-ups of a wait are sent before it begins.
    LostWakeUp: Deadlock, "lost-wake-up";
    /// A lock is destroyed while a thread holds it, or a condition variable while one waits on it.
    DestroyInUse: LockMisuse, "destroy-in-use";
    /// A descriptor is used after another thread closed it.
    UseAfterClose: Descriptor, "use-after-close";
}

impl CandidateKind {
    /// The kind of a pattern: a built-in one if class and name match.
    pub fn pattern(class: BugClass, name: &str) -> CandidateKind {
        let same = |it: &&CandidateKind| it.class() == class && it.name() == name;
        let built_in = Self::BUILT_IN.iter().find(same).cloned();
        built_in.unwrap_or_else(|| CandidateKind::UserPattern { class, name: name.to_owned() })
    }
}

impl Ord for CandidateKind {
    /// By class and name, so that the order does not depend on where a kind is declared.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.class(), self.name()).cmp(&(other.class(), other.name()))
    }
}

impl PartialOrd for CandidateKind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for CandidateKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for BugClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for CandidateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: BTreeSet<_> = CandidateKind::BUILT_IN.iter().map(CandidateKind::name).collect();
        assert_eq!(names.len(), CandidateKind::BUILT_IN.len());
        for kind in CandidateKind::BUILT_IN {
            assert_eq!(CandidateKind::pattern(kind.class(), kind.name()), *kind);
        }
    }

    #[test]
    fn a_pattern_is_built_in_only_with_its_own_class() {
        let mine = CandidateKind::pattern(BugClass::Pattern, "write-skew");
        assert_eq!((mine.class(), mine.name()), (BugClass::Pattern, "write-skew"));
        assert_ne!(mine, CandidateKind::WriteSkew);
        assert_eq!(
            CandidateKind::pattern(BugClass::AtomicSet, "write-skew"),
            CandidateKind::WriteSkew
        );
    }

    #[test]
    fn classes_serialise_as_their_names() {
        for class in BugClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
        let property = CandidateKind::Property("NoUseAfterClose".to_owned());
        assert_eq!(serde_json::to_value(property).unwrap(), "NoUseAfterClose");
    }
}
