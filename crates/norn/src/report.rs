//! Writes reports to standard output or standard error.

use std::io::{self, Write};

use norn_report::{
    Line, Report,
    writer::{Layout, WIDTH, Writer},
};
use terminal_size::{Width, terminal_size_of};

use crate::{cli::ReportFormat, terminal, verbosity};

/// The version of norn in reports.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes a report to standard output.
pub(crate) fn print(report: &Report, format: ReportFormat) -> io::Result<()> {
    write(report, format, &mut terminal::colored_stdout())
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

fn write(report: &Report, format: ReportFormat, out: &mut dyn Write) -> io::Result<()> {
    writer(format).write(report, out)
}

fn writer(format: ReportFormat) -> Box<dyn Writer> {
    let width = terminal_size_of(io::stdout()).map_or(WIDTH, |(Width(it), _)| it.into());
    (format.0.writer)(Layout { width, verbose: verbosity::is_verbose() })
}
