//! Reports for programs.

use std::io;

use super::Writer;
use crate::Report;

/// Writes a report as one line of JSON, so that it can be separated from the output of the
/// program under test, which may come before it.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Writer for Json {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, report)?;
        writeln!(out)?;
        out.flush()
    }
}
