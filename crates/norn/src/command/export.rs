//! `norn export`: a trace for other tools.

use std::io::{self, BufWriter, Write as _};

use norn_trace::{Trace, export_std};

use crate::{cli::Export, exit::Exit};

pub(super) fn run(args: &Export) -> anyhow::Result<Exit> {
    let trace = Trace::open(&args.trace.folder, args.trace.process()?)?;
    let exported = export_std(&trace, BufWriter::new(io::stdout().lock()))?;
    let mut err = anstream::stderr().lock();
    for (what, count) in &exported.left_out {
        writeln!(err, "norn: left out {count} events that the format cannot express: {what}")?;
    }
    Ok(Exit::Clean)
}
