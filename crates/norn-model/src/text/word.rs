//! The words for what an operation can be, in both directions.

use crate::{LockMode, Object, Ordering, Outcome, RmwOp};

/// Something that is one of a few words.
pub trait Word: Copy + PartialEq + 'static {
    /// All of them, with their words.
    const ALL: &'static [(Self, &'static str)];

    /// The word for it.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|&&(it, _)| it == self).map_or("", |&(_, word)| word)
    }

    /// What a word is for.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|&&(_, it)| it == word).map(|&(it, _)| it)
    }
}

macro_rules! words {
    ($($type:ident { $($variant:ident $word:literal)* })*) => { $(
        impl Word for $type {
            const ALL: &'static [(Self, &'static str)] = &[$(($type::$variant, $word)),*];
        }
    )* };
}

words! {
    LockMode { Mutex "mutex" Spin "spin" Read "read" Write "write" }
    Outcome { Waited "waited" Queued "queued" Tried "tried" Timed "timed" OwnerDied "ownerdied" }
    RmwOp {
        Exchange "exchange" Add "add" Sub "sub" And "and" Or "or" Xor "xor" Nand "nand"
    }
    Ordering {
        Relaxed "relaxed" Consume "consume" Acquire "acquire" Release "release"
        AcqRel "acqrel" SeqCst "seqcst"
    }
    Object {
        Mutex "mutex" Spin "spin" RwLock "rwlock" Cond "cond" Barrier "barrier"
        Semaphore "semaphore" Key "key" Descriptor "descriptor"
    }
}
