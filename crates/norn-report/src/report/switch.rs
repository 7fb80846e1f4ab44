//! Why a thread does not continue, and another one does.

use norn_model::ThreadName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Action;

/// Why another thread continues after an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// The thread has ended.
    Ends,
    /// It waits for a lock that another thread holds.
    Lock {
        /// The lock.
        object: String,
        /// The thread that holds it.
        holder: ThreadName,
    },
    /// It waits on a condition variable.
    Condition {
        /// The condition variable.
        object: String,
    },
    /// It waits at a barrier.
    Barrier {
        /// The barrier.
        object: String,
    },
    /// It waits for the end of another thread.
    Join {
        /// That thread.
        thread: ThreadName,
    },
    /// It could continue, but the operating system let another thread run first.
    System {
        /// That thread.
        thread: ThreadName,
    },
    /// It could continue, but the schedule lets another thread do something first.
    Forced {
        /// That thread.
        thread: ThreadName,
        /// What it does.
        action: Action,
        /// What it does it to.
        #[serde(skip_serializing_if = "Option::is_none")]
        object: Option<String>,
    },
}
