//! `norn export`: writes a trace for other tools.

use std::io::{self, BufWriter};

use norn_trace::{Trace, export_std};

use crate::{cli::Export, exit::Exit, verbosity::note};

pub(super) fn run(args: &Export) -> anyhow::Result<Exit> {
    let trace = Trace::open(&args.trace.folder, args.trace.process()?)?;
    let exported = export_std(&trace, BufWriter::new(io::stdout().lock()))?;
    for (what, count) in &exported.left_out {
        note(format_args!("norn: left out {count} events that the format cannot express: {what}"))?;
    }
    if exported.unexplained > 0 {
        note(format_args!(
            "norn: {} reads come before the write that they saw, or saw one that is not recorded",
            exported.unexplained
        ))?;
    }
    Ok(Exit::Clean)
}
