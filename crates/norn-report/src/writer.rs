//! The output formats: one file each, and a table of them.
//!
//! A writer computes nothing. What it writes, in which order and how briefly is in the report, so
//! that all formats agree.

mod dot;
mod entry;
mod github;
mod html;
mod json;
mod junit;
mod perfetto;
mod sarif;
mod source_files;
mod svg;
mod text;
mod timeline;

#[cfg(test)]
mod hostile_names;
#[cfg(test)]
mod sample;

use std::io;

use crate::{Line, Report};

pub use self::{
    dot::Dot,
    github::GitHub,
    html::Html,
    json::{Json, JsonLines, escape as escape_json},
    junit::JUnit,
    perfetto::Perfetto,
    sarif::Sarif,
    source_files::{NoSourceFiles, SourceFiles},
    svg::Svg,
    text::{Text, event as event_text},
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

/// How reports look, for formats in which that matters, and the sources that they may show.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether the text is read on a terminal: then no line is wider, and sources are listed by their
    /// paths, which terminals let their users open.
    pub terminal: bool,
    /// Whether suppressions that were not used are listed, too.
    pub verbose: bool,
    /// The source files of the program.
    pub sources: &'static dyn SourceFiles,
}

/// The width of lines where no terminal says otherwise.
pub const WIDTH: usize = 100;

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: WIDTH, terminal: false, verbose: false, sources: &NoSourceFiles }
    }
}

/// An output format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// Whether it shows findings and failures. All formats show rankings of patterns.
    pub findings: bool,
    /// Makes its writer.
    pub writer: fn(Layout) -> Box<dyn Writer>,
}

/// The page, which has options of its own.
pub const HTML: Format = Format {
    name: "html",
    help: "For people: a page with the source and the order of events, in one file",
    findings: true,
    writer: |layout| Box::new(Html::new(layout)),
};

/// All output formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        help: "For people",
        findings: true,
        writer: |layout| Box::new(Text::new(layout)),
    },
    Format {
        name: "json",
        help: "For programs, one line; see docs/report.md",
        findings: true,
        writer: |_| Box::new(Json),
    },
    Format {
        name: "jsonl",
        help: "For programs, one line for each answer as soon as it is known; see docs/report.md",
        findings: true,
        writer: |_| Box::new(JsonLines),
    },
    HTML,
    Format {
        name: "sarif",
        help: "For code-scanning services: SARIF 2.1.0",
        findings: true,
        writer: |layout| Box::new(Sarif::new(layout)),
    },
    Format {
        name: "junit",
        help: "For continuous integration: JUnit XML",
        findings: true,
        writer: |_| Box::new(JUnit),
    },
    Format {
        name: "github",
        help: "For GitHub Actions: annotations of source lines",
        findings: true,
        writer: |layout| Box::new(GitHub::new(layout)),
    },
    Format {
        name: "perfetto",
        help: "For trace viewers: the order of events, as a trace that Perfetto opens",
        findings: true,
        writer: |_| Box::new(Perfetto),
    },
    Format {
        name: "dot",
        help: "For Graphviz: the most suspicious pattern of each failure",
        findings: false,
        writer: |_| Box::new(Dot),
    },
    Format {
        name: "svg",
        help: "For documents: a drawing of the most suspicious pattern of each failure",
        findings: false,
        writer: |_| Box::new(Svg),
    },
];

/// The format with a name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|it| it.name == name)
}
