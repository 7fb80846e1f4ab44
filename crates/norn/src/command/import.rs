//! Traces of other tools: files in RAPID's STD format, accepted in place of the folder of a trace.

use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use anyhow::Context as _;
use norn_report::writer::escape_json;
use norn_trace::{Imported, file, import_std};
use serde_json::json;

use crate::{
    cli::Format,
    exit::Exit,
    fact::fact,
    terminal::{self, line},
    verbosity::note,
};

/// Maximum size of such a file in bytes.
const MAX_SIZE: u64 = 4 << 30;

/// Whether a path is not a folder. Then it can only be such a file, and the error says so if it is a
/// FIFO or a device.
pub(super) fn is_file(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

/// Prints the events of such a file in Norn's text notation.
pub(super) fn dump(path: &Path) -> anyhow::Result<Exit> {
    let imported = read(path)?;
    let mut out = BufWriter::new(terminal::stdout());
    write!(out, "{}", norn_model::text::print(&imported.trace))?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Summarizes such a file.
pub(super) fn info(path: &Path, format: Format) -> anyhow::Result<Exit> {
    let trace = read(path)?.trace;
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for event in trace.threads.iter().flat_map(|it| &it.events) {
        *kinds.entry(fact(&event.op, &trace.names, |_| String::new()).op).or_default() += 1;
    }
    let mut out = terminal::stdout();
    if format == Format::Json {
        let threads: Vec<_> = trace
            .threads
            .iter()
            .map(|it| json!({ "name": it.name, "events": it.events.len() }))
            .collect();
        let summary = json!({ "events": trace.len(), "threads": threads, "events_by_kind": kinds });
        writeln!(out, "{}", escape_json(&format!("{summary:#}")))?;
        return Ok(Exit::Clean);
    }
    writeln!(out, "trace     {} events, imported", trace.len())?;
    writeln!(out, "\nthreads")?;
    for thread in &trace.threads {
        line(&mut out, format_args!("  {:12} {:>12} events", thread.name.0, thread.events.len()))?;
    }
    writeln!(out, "\nevents")?;
    for (name, count) in kinds {
        writeln!(out, "  {name:18} {count:>12}")?;
    }
    Ok(Exit::Clean)
}

/// Reads such a file, and notes which of its lines are ignored.
pub(super) fn read(path: &Path) -> anyhow::Result<Imported> {
    let shown = path.display();
    let text = text(path).with_context(|| format!("cannot read `{shown}`"))?;
    let imported = import_std(&text).with_context(|| {
        format!("`{shown}` is neither a trace's folder nor a file in RAPID's STD format")
    })?;
    for (what, count) in &imported.ignored {
        note(format_args!(
            "norn: ignored {count} lines that are not about memory, locks or threads: {what}"
        ))?;
    }
    Ok(imported)
}

fn text(path: &Path) -> io::Result<String> {
    let bytes = file::read_regular(path, MAX_SIZE)?;
    String::from_utf8(bytes).map_err(|it| io::Error::new(io::ErrorKind::InvalidData, it))
}
