//! Misuse of synchronisation objects and descriptors: calls whose behaviour POSIX leaves undefined,
//! that can never return, or that hit what another thread has closed.

use serde::{Deserialize, Serialize};

/// The kinds of misuse of a synchronisation object or a descriptor.
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
    /// A descriptor was used after another thread had closed it.
    UseAfterClose,
    /// A descriptor was closed after another thread had closed it.
    DoubleClose,
    /// A descriptor was closed while another thread was in a call on it.
    CloseInUse,
}

impl Misuse {
    /// All kinds.
    pub const ALL: [Misuse; 8] = [
        Misuse::UnlockNotHeld,
        Misuse::WaitNotHeld,
        Misuse::Relock,
        Misuse::DestroyInUse,
        Misuse::EndHoldingLock,
        Misuse::UseAfterClose,
        Misuse::DoubleClose,
        Misuse::CloseInUse,
    ];

    /// Its name in JSON and for `norn explain`.
    pub fn name(self) -> &'static str {
        match self {
            Misuse::UnlockNotHeld => "unlock-not-held",
            Misuse::WaitNotHeld => "wait-not-held",
            Misuse::Relock => "relock",
            Misuse::DestroyInUse => "destroy-in-use",
            Misuse::EndHoldingLock => "end-holding-lock",
            Misuse::UseAfterClose => "use-after-close",
            Misuse::DoubleClose => "double-close",
            Misuse::CloseInUse => "close-in-use",
        }
    }
}
