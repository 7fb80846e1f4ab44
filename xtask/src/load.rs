//! Processes that keep the processors busy.

use std::{process::Command, thread};

use anyhow::Result;

use crate::process::Running;

/// Busy processes, two for each processor. They are killed when dropped.
pub(crate) struct Load {
    _busy: Vec<Running>,
}

impl Load {
    pub(crate) fn start() -> Result<Load> {
        let count = 2 * thread::available_parallelism().map_or(1, usize::from);
        let busy: Result<_> = (0..count).map(|_| Running::start(&mut busy())).collect();
        Ok(Load { _busy: busy? })
    }
}

/// Counts, and checks periodically whether its parent still exists: it must not outlive us even if
/// we are killed.
fn busy() -> Command {
    let script = "while kill -0 $0 2>/dev/null; do i=0; \
                  while [ $i -lt 100000 ]; do i=$((i + 1)); done; done";
    let mut command = Command::new("sh");
    command.args(["-c", script, &std::process::id().to_string()]);
    command
}
