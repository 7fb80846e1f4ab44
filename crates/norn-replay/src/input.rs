//! What a clip says of what the program got from outside, so that a replay needs no world.

use norn_model::{ThreadId, ThreadName};
use norn_record::Feed;
use norn_trace::{Bytes, Got};
use serde::{Deserialize, Serialize};

use crate::{Scene, name::Names};

/// What the program got from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// All of standard input, if that was no terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Bytes>,
    /// What calls gave, as they came.
    #[serde(default)]
    pub calls: Vec<Call>,
}

/// What one call gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The thread that called.
    pub thread: ThreadName,
    /// The rest.
    #[serde(flatten)]
    pub got: Got,
}

impl Inputs {
    /// What the process of a trace got; none if that was not kept.
    pub(crate) fn of(scene: &Scene) -> Option<Inputs> {
        let kept = scene.inputs.as_ref()?;
        let own = kept.calls.iter().filter(|it| it.process == scene.trace.process());
        let calls =
            own.map(|it| Call { thread: scene.thread(ThreadId(it.thread)), got: it.got.clone() });
        Some(Inputs { stdin: kept.stdin.clone(), calls: calls.collect() })
    }

    /// What the runtime feeds back. Threads that no schedule can name get nothing.
    pub(crate) fn feed(&self, names: &mut Names) -> Vec<Feed> {
        let calls = self.calls.iter();
        let fed = calls.filter_map(|it| Some((names.entry(&it.thread.0)?, it.got.clone())));
        fed.map(|(thread, got)| Feed { thread, got }).collect()
    }
}
