//! The output formats: one file each, and a table of them.
//!
//! A writer computes nothing. What it writes, in which order and how briefly is in the report, so
//! that all formats agree.

mod json;
mod text;

use std::io;

use crate::{Line, Report};

pub use self::{
    json::{Json, JsonLines, escape as escape_json},
    text::Text,
};

/// Writes reports in one format.
pub trait Writer {
    /// Writes a report.
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()>;

    /// Writes a line of a stream. A format that has no such lines writes the report at the end.
    fn write_line(&self, line: &Line, out: &mut dyn io::Write) -> io::Result<()> {
        match line {
            Line::End(report) => self.write(report, out),
            _ => Ok(()),
        }
    }
}

/// How reports look, for formats in which that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether suppressions that were not used are listed, too.
    pub verbose: bool,
}

/// The width of lines where no terminal says otherwise.
pub const WIDTH: usize = 100;

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: WIDTH, verbose: false }
    }
}

/// An output format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// Makes its writer.
    pub writer: fn(Layout) -> Box<dyn Writer>,
}

/// All output formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "text", help: "For people", writer: |layout| Box::new(Text::new(layout)) },
    Format {
        name: "json",
        help: "For programs, one line; see docs/report.md",
        writer: |_| Box::new(Json),
    },
    Format {
        name: "jsonl",
        help: "For programs, one line for each answer as soon as it is known; see docs/report.md",
        writer: |_| Box::new(JsonLines),
    },
];

/// The format with a name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|it| it.name == name)
}
