//! Reports for people.
//!
//! Names and messages are made printable first, so that no control characters of theirs reach the
//! terminal. Styles are part of the text; the stream that it is written to removes them where they are not
//! wanted.

mod batch;
mod columns;
mod finding;
mod fold;
mod interleaving;
pub(super) mod localization;
mod paint;
mod property;
mod run;
mod story;
mod summary;
mod unrecorded;
mod wait;

#[cfg(test)]
mod line_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod width_tests;

use std::io;

use norn_model::printable;

pub use self::columns::event;
use super::{Layout, Writer};
use crate::{Line, Report};

/// Writes a report as text.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    layout: Layout,
}

impl Text {
    /// A writer for this layout.
    pub fn new(layout: Layout) -> Text {
        Text { layout }
    }

    /// Writes the story of each finding and failure, and no summary.
    pub fn write_stories(self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        self.folded(out, |out| self.write_entries(report, out))
    }

    /// Writes what the report has to say about its findings, failures and its run, and no summary.
    pub(super) fn write_entries(self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let mut report = report.clone();
        report.change_texts(|it| *it = printable(it).into_owned());
        finding::details(out, &report, self.layout)?;
        unrecorded::unrecorded(out, &report)?;
        finding::observed(out, &report, self.layout)?;
        finding::not_reproducible(out, &report)?;
        if let Some(it) = &report.localization {
            localization::clusters(out, it)?;
        }
        report.run.as_ref().map_or(Ok(()), |it| run::run(out, it, self.layout))
    }

    /// Writes lines that are not wider than the terminal.
    fn folded(
        self,
        out: &mut dyn io::Write,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.layout.terminal {
            return write(out);
        }
        let mut text = Vec::new();
        write(&mut text)?;
        for line in String::from_utf8_lossy(&text).lines() {
            for part in fold::fold(line, self.layout.width) {
                writeln!(out, "{part}")?;
            }
        }
        Ok(())
    }

    fn write_unfolded(self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        use crate::Command::{Check, Hunt, Localize, Predict, PredictProperty, Replay, Run};
        match report.command {
            Hunt | Check | Predict | PredictProperty => {
                finding::details(out, report, self.layout)?;
                finding::brief(out, report, self.layout)?;
                unrecorded::unrecorded(out, report)?;
                finding::observed(out, report, self.layout)?;
                self.conclude(report, out)
            }
            Run | Replay => match (&report.batch, &report.run) {
                (Some(batch), _) => batch::batch(out, batch),
                (None, Some(run)) => run::run(out, run, self.layout),
                (None, None) => Ok(()),
            },
            Localize => localization::localization(out, report),
        }
    }

    fn write_line_unfolded(self, line: &Line, out: &mut dyn io::Write) -> io::Result<()> {
        match line {
            Line::End(report) => self.write_unfolded(report, out),
            Line::Start(_)
            | Line::Progress(_)
            | Line::Finding(_)
            | Line::Update(_)
            | Line::Observed(_) => Ok(()),
        }
    }

    /// The end of a report: what does not count, and the summary.
    pub(super) fn conclude(self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        if let Some(it) = &report.localization {
            return localization::summary(out, it);
        }
        finding::not_reproducible(out, report)?;
        property::properties(out, &report.properties)?;
        summary::summary(out, report)?;
        summary::suppressions(out, report, self.layout.verbose)
    }
}

impl Writer for Text {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let mut report = report.clone();
        report.change_texts(|it| *it = printable(it).into_owned());
        self.folded(out, |out| self.write_unfolded(&report, out))
    }

    /// Everything is written at the end: only then is it known which finding explains a bug best.
    fn write_line(&self, line: &Line, out: &mut dyn io::Write) -> io::Result<()> {
        let mut line = line.clone();
        line.change_texts(|it| *it = printable(it).into_owned());
        self.folded(out, |out| self.write_line_unfolded(&line, out))?;
        out.flush()
    }
}
