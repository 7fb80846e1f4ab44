//! Typed ids: an [`EventId`] cannot be used in place of a [`ThreadId`].

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
    /// A thread of a trace, numbered in order of creation. The number may differ in another run;
    /// see [`ThreadName`].
    ThreadId;
    /// A code location of an instruction, lock call or allocation.
    SiteId;
    /// A call stack: the calls that lead to an event.
    StackId;
    /// The name of a function or of a mark of the user.
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
    /// The thread.
    pub thread: ThreadId,
    /// The index in the thread.
    pub index: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.thread, self.index)
    }
}

/// The name of a thread: derived from its creation, and the same in every run.
///
/// The main thread is `T0`, its second child `T0.2`, and the first child of that `T0.2.1`. A stream
/// of signal handlers is named after the interrupted thread: `T0.2!`. Threads created by
/// uninstrumented code are `F1`, `F2`, in the order of their first event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadName(pub String);

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
