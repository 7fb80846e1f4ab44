//! Misuse of synchronisation objects: calls whose behaviour POSIX leaves undefined, or that can never
//! return.

use serde::{Deserialize, Serialize};

/// The kinds of misuse of a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Misuse {
    /// A thread released a lock that it did not hold.
    UnlockNotHeld,
    /// A thread waited on a condition variable with a mutex that it did not hold.
    WaitNotHeld,
    /// A thread waited for a lock that it held itself.
    Relock,
    /// An object was destroyed while a thread held it or waited on it.
    DestroyInUse,
    /// A thread ended while it held a lock.
    EndHoldingLock,
}

impl Misuse {
    /// All kinds.
    pub const ALL: [Misuse; 5] = [
        Misuse::UnlockNotHeld,
        Misuse::WaitNotHeld,
        Misuse::Relock,
        Misuse::DestroyInUse,
        Misuse::EndHoldingLock,
    ];

    /// Its name in JSON and for `norn explain`.
    pub fn name(self) -> &'static str {
        match self {
            Misuse::UnlockNotHeld => "unlock-not-held",
            Misuse::WaitNotHeld => "wait-not-held",
            Misuse::Relock => "relock",
            Misuse::DestroyInUse => "destroy-in-use",
            Misuse::EndHoldingLock => "end-holding-lock",
        }
    }
}
