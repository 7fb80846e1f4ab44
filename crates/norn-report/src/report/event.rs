//! Events in their order, as reports show them.

use norn_model::{Location, ThreadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Number, Switch};
use crate::Action;

/// Two orders of the events that a finding is about, and of the synchronisation around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interleaving {
    /// As recorded, with the values of that run.
    pub recorded: Vec<EventRow>,
    /// As forced, with the values of that run.
    pub forced: Vec<EventRow>,
}

impl Interleaving {
    /// Whether both orders look the same, so that they do not show what is wrong.
    pub fn is_same(&self) -> bool {
        self.recorded == self.forced
    }

    /// Whether the steps of the finding come in the order in which they were recorded.
    pub fn keeps_order(&self) -> bool {
        let steps = |rows: &[EventRow]| rows.iter().filter_map(|it| it.step).collect::<Vec<_>>();
        steps(&self.recorded) == steps(&self.forced)
    }
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventRow {
    /// The thread that did it.
    pub thread: ThreadName,
    /// Which of the thread's events, from 0.
    pub event: u64,
    /// What it did.
    pub action: Action,
    /// The variable, lock, thread or function that it did it to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Bytes that were allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The value that was read or written, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// The same as the variable's type shows it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// How many times the thread did the same, with the same result.
    pub times: u64,
    /// Where in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Location>,
    /// Which of the candidate's events this is, from 0, if it is one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Why another thread continues after it, if the next event is of another one and the reason is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}
