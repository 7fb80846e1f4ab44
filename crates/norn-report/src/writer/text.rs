//! Reports for people.
//!
//! Names and messages are made printable first, so that no control characters of theirs reach the
//! terminal. Styles are part of the text; the stream that it is written to removes them where they are not
//! wanted.

mod batch;
mod columns;
mod finding;
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

use std::io;

use norn_model::printable;

pub(super) use self::columns::event;
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

    /// Writes what the report has to say about its findings, failures and its run, and no summary.
    pub(super) fn write_entries(self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let mut report = report.clone();
        report.change_texts(|it| *it = printable(it).into_owned());
        finding::details(out, &report, self.layout)?;
        unrecorded::unrecorded(out, &report)?;
        finding::observed(out, &report)?;
        finding::not_reproducible(out, &report)?;
        report.run.as_ref().map_or(Ok(()), |it| run::run(out, it))
    }

    /// The end of a report: what does not count, and the summary.
    pub(super) fn conclude(self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        finding::not_reproducible(out, report)?;
        property::properties(out, &report.properties)?;
        summary::summary(out, report)?;
        summary::suppressions(out, report, self.layout.verbose)
    }
}

impl Writer for Text {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        use crate::Command::{Check, Hunt, Localize, Predict, PredictProperty, Replay, Run};
        let mut report = report.clone();
        report.change_texts(|it| *it = printable(it).into_owned());
        let report = &report;
        match report.command {
            Hunt | Check | Predict | PredictProperty => {
                finding::details(out, report, self.layout)?;
                finding::brief(out, report)?;
                unrecorded::unrecorded(out, report)?;
                finding::observed(out, report)?;
                self.conclude(report, out)
            }
            Run | Replay => match (&report.batch, &report.run) {
                (Some(batch), _) => batch::batch(out, batch),
                (None, Some(run)) => run::run(out, run),
                (None, None) => Ok(()),
            },
            Localize => localization::localization(out, report),
        }
    }

    /// Findings and failures are written when they are known, and not again at the end.
    fn write_line(&self, line: &Line, out: &mut dyn io::Write) -> io::Result<()> {
        let mut line = line.clone();
        line.change_texts(|it| *it = printable(it).into_owned());
        match &line {
            Line::Finding(found) => {
                let number = found.bug.unwrap_or_default();
                finding::detail(out, number, (found, &[]), self.layout)?;
            }
            Line::Update(it) => finding::update(out, it)?,
            Line::Observed(it) => finding::unpredicted(out, &it.failure, it.attempt.as_ref())?,
            Line::End(report) => {
                finding::also_seen(out, report)?;
                finding::brief(out, report)?;
                unrecorded::unrecorded(out, report)?;
                self.conclude(report, out)?;
            }
            Line::Start(_) | Line::Progress(_) => {}
        }
        out.flush()
    }
}
