//! Typed numbers: an [`EventId`] can never be used where a [`ThreadId`] is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! define_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);
    )*};
}

define_id! {
    /// A thread of a trace, numbered in order of creation. Another run may number differently;
    /// see [`ThreadName`].
    ThreadId;
    /// A place in the code: where one instruction, lock call or allocation is.
    SiteId;
    /// A call stack: the calls that lead to an event.
    StackId;
    /// A name that an event has: a function's, or one that the user gave.
    NameId;
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// An event: the `index`-th of its thread, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    /// Whose event.
    pub thread: ThreadId,
    /// Which of them.
    pub index: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.thread, self.index)
    }
}

/// The name of a thread: the way in which it was created, the same in every run.
///
/// The first thread is `T0`, its second child `T0.2`, that one's first child `T0.2.1`. A stream
/// of signal handlers is named after the thread that they interrupt: `T0.2!`. A thread that came
/// from code we do not see is `F1`, `F2`, in the order in which they were met.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadName(pub String);

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
