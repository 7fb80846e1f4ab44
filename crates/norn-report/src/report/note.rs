//! What a reader must know to judge the results of a search.

use norn_model::ThreadName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something about the runs that limits or explains what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// The user interrupted the search.
    Interrupted,
    /// The search ended at its time limit.
    TimeLimit,
    /// The search ended at the first harmful finding, as the user wanted.
    FirstOnly,
    /// Every run ended with this status, so that it is not a failure.
    NormalStatus(i32),
    /// The program ended while threads of the recorded run were neither done nor blocked.
    RunningThreads {
        /// The threads.
        threads: Vec<ThreadName>,
        /// Whether another run let them continue.
        continued: bool,
    },
    /// The program's runs do not end, or not in time: only this number of events from the begin of one was analysed.
    Prefix {
        /// Number of events.
        events: u64,
    },
    /// The recorded run has one thread only.
    OneThread,
    /// No two threads of the recorded run use the same memory, lock or the like.
    NothingShared,
}
