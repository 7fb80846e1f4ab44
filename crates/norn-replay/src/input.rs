//! The inputs of a run, in the form of a clip.

use norn_frontend::{Call, Inputs};
use norn_model::ThreadId;

use crate::SymbolizedTrace;

/// The inputs of the process of a trace; none if they were not recorded.
pub(crate) fn inputs_of(symbolized: &SymbolizedTrace) -> Option<Inputs> {
    let kept = symbolized.inputs.as_ref()?;
    let own = kept.calls.iter().filter(|it| it.process == symbolized.trace.process());
    let calls =
        own.map(|it| Call { thread: symbolized.thread(ThreadId(it.thread)), got: it.got.clone() });
    Some(Inputs { stdin: kept.stdin.clone(), calls: calls.collect() })
}
