//! The inputs of a program from outside, which a replay feeds back so that it needs nothing from
//! outside.

use norn_model::ThreadName;
use norn_trace::{Bytes, Got};
use serde::{Deserialize, Serialize};

/// The inputs of a program from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The content of standard input, unless that was a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Bytes>,
    /// The results of calls, in their order.
    #[serde(default)]
    pub calls: Vec<Call>,
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The calling thread.
    pub thread: ThreadName,
    /// The result.
    #[serde(flatten)]
    pub got: Got,
}
