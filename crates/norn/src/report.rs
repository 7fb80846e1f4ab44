//! Writes reports to standard output or standard error.

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::Context as _;

use norn_report::{
    Line, Report,
    writer::{Json, Layout, Text, WIDTH, Writer},
};
use norn_trace::{REPORT, RUN, file};
use terminal_size::{Width, terminal_size_of};

use crate::{cli::ReportFormat, source_files::Disk, terminal, verbosity};

/// The version of norn in reports.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes a report to standard output.
pub(crate) fn print(report: &Report, format: ReportFormat) -> io::Result<()> {
    write(report, format, &mut terminal::colored_stdout())
}

/// Writes the stories of a report to standard output, without its summary.
pub(crate) fn print_stories(report: &Report) -> io::Result<()> {
    Text::new(layout()).write_stories(report, &mut terminal::colored_stdout())
}

/// Writes the report of one run. For people it goes to standard error: standard output belongs to
/// the program under test. For programs it is the last line of standard output.
pub(crate) fn print_run(report: &Report, format: ReportFormat) -> io::Result<()> {
    if format.is_text() {
        write(report, format, &mut terminal::colored_stderr())
    } else {
        print(report, format)
    }
}

/// Writes a line of a report to standard output, at once.
pub(crate) fn print_line(line: &Line, format: ReportFormat) -> io::Result<()> {
    writer(format).write_line(line, &mut terminal::colored_stdout())
}

/// Writes a report to a file.
pub(crate) fn write_file(report: &Report, format: ReportFormat, path: &Path) -> anyhow::Result<()> {
    let mut text = anstream::StripStream::new(Vec::new());
    write(report, format, &mut text)?;
    file::write(path, &text.into_inner())
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Keeps a report in the folder of its trace, for `norn report`.
pub(crate) fn keep(report: &Report, folder: &Path) -> anyhow::Result<()> {
    // Without a trace, nothing was recorded, and the folder may not be ours.
    if !folder.join(RUN).exists() {
        return Ok(());
    }
    let mut text = Vec::new();
    Json.write(report, &mut text)?;
    let path = folder.join(REPORT);
    file::write(&path, &text).with_context(|| format!("cannot write `{}`", path.display()))
}

fn write(report: &Report, format: ReportFormat, out: &mut dyn Write) -> io::Result<()> {
    writer(format).write(report, out)
}

fn writer(format: ReportFormat) -> Box<dyn Writer> {
    (format.0.writer)(layout())
}

fn layout() -> Layout {
    let size = terminal_size_of(io::stdout());
    let width = size.map_or(WIDTH, |(Width(it), _)| it.into());
    let verbose = verbosity::is_verbose();
    Layout { width, terminal: size.is_some(), verbose, sources: &Disk }
}
