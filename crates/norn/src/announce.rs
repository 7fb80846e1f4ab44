//! Prints what a search finds as soon as it is confirmed, for people in one line on standard error, and the report
//! at its end.
//!
//! Everything that is printed early stays true: a finding is printed only if no suppression covers it and
//! the baseline cannot have it. Of bugs whose lines have moved, the baseline matches as many as it has with
//! those that are nearest, which later findings may change; such a finding waits for the end. More findings
//! never make the baseline match one that it did not match before.

use std::{collections::BTreeSet, io, ops::ControlFlow, path::PathBuf};

use norn_hunt::{News, Observed, Stage, report::Marks};
use norn_model::printable;
use norn_report::{
    Ended, Finding, Line, Note, ObservedFailure, Progress, Report, SCHEMA, Start, Summary, Tool,
    Unpredicted, Update, vocabulary,
};

use crate::{
    baseline::Baseline,
    bugs::{Added, Bugs},
    cli::{Counting, FailOn, Forcing, ReportFormat},
    exit::Exit,
    progress::ProgressLine,
    report::{self, VERSION},
    results::Results,
    suppress::ReportFilter,
    suppression::Suppression,
    verbosity,
};

/// Prints the results of a search.
pub(crate) struct Announcer<R> {
    format: ReportFormat,
    /// The folder of the trace, where the report is kept.
    output: PathBuf,
    /// The page that is written at the end.
    html: Option<PathBuf>,
    program: Vec<String>,
    suppressions: Vec<Suppression>,
    baseline: Baseline,
    fail_on: FailOn,
    /// The baseline to write at the end. All findings will be in it, so none of them is printed.
    write_baseline: Option<PathBuf>,
    stop_at_first: bool,
    budget: usize,
    progress: ProgressLine,
    bugs: Bugs,
    /// Harmful findings that were not printed because they may not count.
    hidden: BTreeSet<usize>,
    /// Failures that were printed, by their clips.
    failures: BTreeSet<PathBuf>,
    /// Failures that were not printed because they may not count.
    hidden_failures: BTreeSet<PathBuf>,
    /// Whether something that counts was found.
    found: bool,
    /// What is known so far.
    latest: Option<R>,
    /// Why nothing more can be printed.
    broken: Option<io::Error>,
    /// Whether the report was written.
    closed: bool,
}

impl<R: Results> Announcer<R> {
    pub(crate) fn new(
        (forcing, counting): (&Forcing, &Counting),
        program: Vec<String>,
        suppressions: Vec<Suppression>,
        baseline: Baseline,
    ) -> Announcer<R> {
        Announcer {
            format: forcing.format,
            output: forcing.output.clone(),
            html: forcing.html.clone(),
            program,
            suppressions,
            baseline,
            fail_on: counting.fail_on,
            write_baseline: counting.write_baseline.clone(),
            stop_at_first: forcing.stop_at_first,
            budget: forcing.budget.get(),
            progress: ProgressLine::new(forcing),
            bugs: Bugs::default(),
            hidden: BTreeSet::new(),
            failures: BTreeSet::new(),
            hidden_failures: BTreeSet::new(),
            found: false,
            latest: None,
            broken: None,
            closed: false,
        }
    }

    /// Writes the first line.
    pub(crate) fn start(&mut self) {
        let tool = Tool { name: "norn".to_owned(), version: VERSION.to_owned() };
        let program = self.program.clone();
        self.write(&Line::Start(Start { schema: SCHEMA, tool, command: R::COMMAND, program }));
    }

    /// Hears what a search reports. The search ends if nothing more can be printed, or if the first
    /// harmful finding is enough.
    pub(crate) fn hear(&mut self, news: News<R>) -> ControlFlow<()> {
        if self.closed {
            return ControlFlow::Break(());
        }
        match news {
            News::Stage(stage) => self.show(stage),
            News::Known(results) => {
                self.announce(&results, false);
                self.latest = Some(*results);
            }
        }
        if self.broken.is_some() || self.stop_at_first && self.found {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// What is known so far.
    pub(crate) fn take_latest(&mut self) -> Option<R> {
        self.latest.take()
    }

    fn show(&mut self, stage: Stage) {
        self.progress.show(stage);
        if verbosity::is_verbose() {
            let Stage { executions, confirmed, left, .. } = stage;
            let budget = self.budget;
            self.write(&Line::Progress(Progress {
                executions,
                budget,
                confirmed,
                candidates_left: left,
            }));
        }
    }

    /// Prints what is new. At the end, what may not have counted before is decided.
    fn announce(&mut self, results: &R, is_end: bool) {
        if is_end {
            self.hidden.clear();
            self.hidden_failures.clear();
        }
        let harmful = (0..results.count()).filter(|at| results.is_harmful(*at));
        let mut harmful: Vec<_> = harmful.filter(|at| !self.hidden.contains(at)).collect();
        // One execution may confirm several findings of a bug. The one that names it best comes first, as
        // it does in the report.
        harmful.sort_by_key(|at| (results.rank(*at), *at));
        let is_new = |it: &&Observed| {
            let known = [&self.failures, &self.hidden_failures];
            it.not_reproduced.is_none() && known.iter().all(|known| !known.contains(&it.clip))
        };
        let failures: Vec<_> = results.observed().iter().filter(is_new).cloned().collect();
        let open = harmful.iter().any(|at| !self.bugs.contains(*at)) || !failures.is_empty();
        let filter = open.then(|| self.filter(results));
        for at in harmful {
            let counts = filter.as_ref().is_none_or(|it| it.counts_finding(at));
            if self.bugs.contains(at) || counts && self.write_baseline.is_none() {
                self.announce_finding(results, at);
            } else {
                self.hidden.insert(at);
            }
        }
        for failure in failures {
            let counts = filter.as_ref().is_none_or(|it| it.counts_failure(&failure));
            if counts && self.write_baseline.is_none() {
                self.announce_failure(results, &failure);
                self.failures.insert(failure.clip);
            } else {
                self.hidden_failures.insert(failure.clip);
            }
        }
    }

    fn announce_finding(&mut self, results: &R, at: usize) {
        let added = self.bugs.add::<R>(at, results.bug(at), results.leads_to_failure(at));
        let finding = |bug: usize| Finding { bug: Some(bug), ..results.finding(at) };
        match added {
            Added::New(bug) => self.write(&Line::Finding(Box::new(finding(bug)))),
            Added::Known { bug, worse } => {
                let finding = finding(bug);
                self.write(&Line::Update(Box::new(Update { worse, finding })));
            }
            Added::Nothing => {}
        }
        self.found = true;
    }

    /// A failure that is the consequence of a confirmed finding is shown with that finding. A failure
    /// has a number if it makes the command fail.
    fn announce_failure(&mut self, results: &R, failure: &Observed) {
        let (mut bug, mut known) = (None, false);
        if R::fails_on_observed(self.fail_on) {
            self.found = true;
            match self.bugs.add_failure::<R>(failure) {
                Added::New(number) => bug = Some(number),
                Added::Known { bug: number, worse: true } => (bug, known) = (Some(number), true),
                Added::Known { worse: false, .. } | Added::Nothing => return,
            }
        } else if self.is_explained(results, failure) {
            return;
        }
        let attempt = failure.finding.map(|at| results.finding(at));
        let failure = ObservedFailure { bug, ..norn_hunt::report::observed(failure) };
        self.write(&Line::Observed(Box::new(Unpredicted { failure, attempt, known })));
    }

    /// Whether a finding that was printed leads to a failure.
    fn is_explained(&self, results: &R, failure: &Observed) -> bool {
        (0..results.count())
            .filter(|at| self.bugs.contains(*at))
            .any(|at| failure.failure.is_some() && results.bug(at).failure == failure.failure)
    }

    fn filter<'a>(&self, results: &'a R) -> ReportFilter<'a> {
        let filter = ReportFilter::new(results, self.suppressions.clone(), self.fail_on);
        filter.with_baseline(&self.baseline)
    }

    /// Ends the output with the report of the results, and returns the exit status of the command.
    pub(crate) fn finish(&mut self, results: &R) -> anyhow::Result<Exit> {
        self.announce(results, true);
        self.bugs.settle();
        let mut filter = self.filter(results);
        if let Some(path) = &self.write_baseline {
            let written = Baseline::new(filter.fingerprints());
            written.write(path)?;
            filter = filter.with_baseline(&written);
        }
        filter.keep(|at| self.bugs.contains(at));
        let exit = if filter.fails() { Exit::Harmful } else { results.exit()? };
        let (ranked, bugs) = (results.ranked(), self.bugs.groups(results));
        let number = |it: &Observed| self.bugs.number_of_failure(&it.clip);
        let failures = results.observed().iter().map(number).collect();
        let announced = self.bugs.announced();
        let marks = Marks { ranked, bugs, announced, failures, ..filter.marks() };
        let report = Report { exit: exit.into(), ..results.report(&marks) };
        self.end(report)?;
        Ok(exit)
    }

    /// Ends the output of a search that ended before there were any results.
    pub(crate) fn finish_empty(&mut self, ended: Ended, exit: Exit) -> anyhow::Result<()> {
        let note = if ended == Ended::Time { Note::TimeLimit } else { Note::Interrupted };
        let interrupted = ended == Ended::Interrupted;
        let report = Report {
            notes: vec![note],
            summary: Summary { ended, interrupted, ..Summary::default() },
            exit: exit.into(),
            ..Report::new(R::COMMAND, VERSION)
        };
        // People have read why on standard error.
        if self.format.is_text() { Ok(()) } else { self.end(report) }
    }

    fn end(&mut self, report: Report) -> anyhow::Result<()> {
        let report = Report { program: self.program.clone(), ..report };
        self.write(&Line::End(Box::new(report.clone())));
        self.close();
        report::keep(&report, &self.output)?;
        if let Some(path) = &self.html {
            report::write_file(&report, ReportFormat::html(), path)?;
        }
        self.broken.take().map_or(Ok(()), |it| Err(it.into()))
    }

    /// Nothing more is printed.
    pub(crate) fn close(&mut self) {
        self.progress.end();
        self.closed = true;
    }

    fn write(&mut self, line: &Line) {
        if self.broken.is_none() {
            let written = self.progress.suspend(|| {
                // People get the report at the end, when it is known what explains each bug best.
                let news = vocabulary::announcement(line).filter(|_| self.format.is_text());
                news.map_or(Ok(()), |it| {
                    verbosity::note(format_args!("norn: {}", printable(&it)))
                })?;
                report::print_line(line, self.format)
            });
            self.broken = written.err();
        }
    }
}
