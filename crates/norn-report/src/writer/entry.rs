//! The entries of a report, for formats that list all of them alike: bugs, failures that were not predicted,
//! findings without visible harm, the failures of a ranking, and of `run` and `replay` the run itself.

use std::io;

use norn_model::{Consequence, Location};

use super::{Layout, Text};
use crate::{
    Access, AlsoSeen, BriefLine, Cause, Detail, EventRow, ExitMeaning, FailureCluster, FailureKind,
    Finding, Fix, Interleaving, Localization, NotReproduced, ObservedFailure, RankedPattern,
    Report, Run, Step, Story,
    vocabulary::{self, headline, observed_headline},
};

/// How bad an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// It makes the command fail.
    Harmful,
    /// It happened once, and not again.
    Unreproducible,
    /// It happened, and did no visible harm.
    Harmless,
    /// It was predicted, and did not happen.
    Undecided,
}

/// What an entry is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    /// A finding, and how else the same bug was found.
    Finding(&'a Finding, &'a [AlsoSeen]),
    /// A failure that was not predicted.
    Failure(&'a ObservedFailure),
    /// The run that the command made.
    Run(&'a Run),
    /// A failure of several runs, whose patterns are ranked.
    Cluster(&'a FailureCluster),
}

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) severity: Severity,
    /// What happened, in one line.
    pub(super) headline: String,
    pub(super) subject: Subject<'a>,
    /// How many findings read the same.
    pub(super) times: usize,
}

/// All entries that happened, the worst first.
pub(super) fn entries(report: &Report) -> Vec<Entry<'_>> {
    let finding = |at: usize| report.findings.get(at);
    let bugs = report.details.iter().filter_map(|it| {
        let found = finding(it.finding)?;
        let severity = if found.harmful { Severity::Harmful } else { severity(found) };
        Some(of_finding(severity, found, &it.also))
    });
    let observed = report.observed.iter().filter(|it| it.shown).map(of_failure);
    let lost = report.findings.iter().filter(|it| it.suppressed_by.is_none());
    let lost = lost.filter(|it| it.not_reproduced.is_some());
    let lost = lost.map(|it| of_finding(Severity::Unreproducible, it, &[]));
    let brief = report.brief.iter().flat_map(|it| &it.lines);
    let brief = brief.filter_map(|BriefLine { finding: at, times }| {
        let found = finding(*at)?;
        Some(Entry { times: *times, ..of_finding(severity(found), found, &[]) })
    });
    let run = report.run.as_ref().filter(|_| is_run(report)).map(|it| of_run(it, report));
    let clusters = report.localization.iter().flat_map(|it| &it.clusters).map(of_cluster);
    let all = bugs.chain(observed).chain(lost).chain(brief).chain(run).chain(clusters);
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|it| (it.severity, it.number().unwrap_or(usize::MAX)));
    all
}

/// Whether the command made one run, instead of a search.
fn is_run(report: &Report) -> bool {
    use crate::Command::{Check, Hunt, Localize, Predict, PredictProperty, Replay, Run};
    match report.command {
        Run | Replay => true,
        Hunt | Check | Predict | PredictProperty | Localize => false,
    }
}

fn severity(finding: &Finding) -> Severity {
    use crate::Status::{
        Confirmed, Inconclusive, Infeasible, NotReproducible, Observed, Unconfirmed, Untried,
    };
    match finding.status {
        Observed | Confirmed if finding.harmful => Severity::Harmful,
        Observed | Confirmed => Severity::Harmless,
        NotReproducible => Severity::Unreproducible,
        Infeasible | Unconfirmed | Inconclusive | Untried => Severity::Undecided,
    }
}

/// An entry for a finding.
pub(super) fn of_finding<'a>(
    severity: Severity,
    finding: &'a Finding,
    also: &'a [AlsoSeen],
) -> Entry<'a> {
    let subject = Subject::Finding(finding, also);
    Entry { severity, headline: headline(finding), subject, times: 1 }
}

/// An entry for a finding of which nothing else is known.
pub(super) fn of_any(finding: &Finding) -> Entry<'_> {
    of_finding(severity(finding), finding, &[])
}

fn of_failure(failure: &ObservedFailure) -> Entry<'_> {
    let severity = match failure.not_reproduced {
        Some(_) => Severity::Unreproducible,
        None => Severity::Harmful,
    };
    let headline = observed_headline(failure);
    Entry { severity, headline, subject: Subject::Failure(failure), times: 1 }
}

fn of_run<'a>(run: &'a Run, report: &Report) -> Entry<'a> {
    let harmful = report.exit.meaning == ExitMeaning::Harmful;
    let claim = run.claim.as_ref().filter(|it| it.again).map(|it| it.title.clone());
    let headline = claim.unwrap_or_else(|| vocabulary::consequence(&run.consequence));
    let severity = if harmful { Severity::Harmful } else { Severity::Harmless };
    Entry { severity, headline, subject: Subject::Run(run), times: 1 }
}

fn of_cluster(cluster: &FailureCluster) -> Entry<'_> {
    let headline = match cluster.ranking.first() {
        Some(it) => format!("{}: {}", cluster.title, it.title),
        None => cluster.title.clone(),
    };
    Entry { severity: Severity::Harmful, headline, subject: Subject::Cluster(cluster), times: 1 }
}

impl<'a> Entry<'a> {
    /// The most suspicious pattern of a failure whose patterns are ranked.
    fn suspect(&self) -> Option<&'a RankedPattern> {
        match self.subject {
            Subject::Cluster(it) => it.ranking.first(),
            Subject::Finding(..) | Subject::Failure(_) | Subject::Run(_) => None,
        }
    }

    /// What is behind it, as the run that failed shows it.
    pub(super) fn cause(&self) -> Option<&'a Cause> {
        match self.subject {
            Subject::Finding(it, _) => it.cause.as_ref(),
            Subject::Failure(it) => it.cause.as_ref(),
            Subject::Run(_) | Subject::Cluster(_) => None,
        }
    }

    /// The number of its bug, if it has one.
    pub(super) fn number(&self) -> Option<usize> {
        match self.subject {
            Subject::Finding(it, _) => it.bug,
            Subject::Failure(it) => it.bug,
            Subject::Run(_) | Subject::Cluster(_) => None,
        }
    }

    /// A short name of its class for programs, and its usual name.
    pub(super) fn rule(&self) -> (&'static str, &'static str) {
        if let Some(cause) = self.cause() {
            return (cause.class.name(), cause.class.title());
        }
        match self.subject {
            Subject::Finding(it, _) => (it.class.name(), it.class.title()),
            Subject::Failure(_) => ("failure", "failure that was not predicted"),
            Subject::Run(_) => ("run", "failure of a run"),
            Subject::Cluster(_) => match self.suspect() {
                Some(it) => (it.class.name(), it.class.title()),
                None => ("failure", "failure that was not predicted"),
            },
        }
    }

    /// What it led to.
    pub(super) fn consequence(&self) -> Option<&'a Consequence> {
        match self.subject {
            Subject::Finding(it, _) => it.consequence.as_ref(),
            Subject::Failure(it) => Some(&it.consequence),
            Subject::Run(it) => Some(&it.consequence),
            Subject::Cluster(_) => None,
        }
    }

    /// How the failure came about.
    pub(super) fn story(&self) -> Option<&'a Story> {
        match self.subject {
            Subject::Finding(it, _) => it.story.as_ref(),
            Subject::Failure(it) => it.story.as_ref(),
            Subject::Run(it) => it.story.as_ref(),
            Subject::Cluster(_) => None,
        }
    }

    /// Why it is not reproducible, if it is not.
    pub(super) fn not_reproduced(&self) -> Option<&'a NotReproduced> {
        match self.subject {
            Subject::Finding(it, _) => it.not_reproduced.as_ref(),
            Subject::Failure(it) => it.not_reproduced.as_ref(),
            Subject::Run(_) | Subject::Cluster(_) => None,
        }
    }

    /// A lock that would have excluded it.
    pub(super) fn fix(&self) -> Option<&'a Fix> {
        let own = match self.subject {
            Subject::Finding(it, _) => it.fix.as_ref(),
            Subject::Failure(_) | Subject::Run(_) | Subject::Cluster(_) => None,
        };
        own.or_else(|| self.cause()?.fix.as_ref())
    }

    /// The command that makes it happen again.
    pub(super) fn replay(&self) -> &'a [String] {
        match self.subject {
            Subject::Finding(it, _) => &it.replay,
            Subject::Failure(it) => &it.replay,
            Subject::Run(_) => &[],
            Subject::Cluster(it) => &it.reproduce,
        }
    }

    /// Identifies it across versions of the program.
    pub(super) fn fingerprint(&self) -> &'a str {
        match self.subject {
            Subject::Finding(it, _) => &it.fingerprint,
            Subject::Failure(it) => &it.fingerprint,
            Subject::Run(_) | Subject::Cluster(_) => "",
        }
    }

    /// The order of events that makes it happen, and the recorded one. A failure that was not predicted has
    /// the order of the accesses behind it, or else its last events.
    pub(super) fn orders(&self) -> (&'a [EventRow], &'a [EventRow]) {
        let rows = match self.subject {
            Subject::Finding(it, _) => {
                let orders = it.interleaving.as_ref();
                let of = |it: &'a Interleaving| (it.forced.as_slice(), it.recorded.as_slice());
                let of_cause = |it: &'a Cause| (it.order.as_slice(), it.recorded.as_slice());
                let cause = it.cause.as_ref().map(of_cause);
                cause.or(orders.map(of))
            }
            Subject::Failure(it) => it.cause.as_ref().map(|it| (it.order.as_slice(), &[][..])),
            Subject::Run(_) | Subject::Cluster(_) => None,
        };
        let rows = rows.filter(|it| !it.0.is_empty());
        rows.unwrap_or((self.story().map_or(&[], |it| &it.last), &[]))
    }

    /// The accesses that it is about.
    pub(super) fn accesses(&self) -> &'a [Access] {
        if let Some(cause) = self.cause() {
            return &cause.accesses;
        }
        match self.subject {
            Subject::Finding(it, _) => it.accesses.as_slice(),
            Subject::Failure(_) | Subject::Run(_) => &[],
            Subject::Cluster(_) => self.suspect().map_or(&[][..], |it| &it.accesses),
        }
    }

    /// The call stacks of all accesses and of the failure, each with its thread, the most telling first.
    pub(super) fn stacks(&self) -> Vec<(String, &'a [Location])> {
        let mut stacks = Vec::new();
        stacks.extend(self.accesses().iter().map(|it| (access(it), it.stack.as_slice())));
        let steps = self.story().map_or_else(Vec::new, steps);
        let stack = |it: &'a Step| (format!("{} was here", it.thread), it.stack.as_slice());
        stacks.extend(steps.into_iter().map(stack));
        stacks.retain(|it| !it.1.is_empty());
        stacks
    }

    /// Where it is: the first place with a line.
    pub(super) fn location(&self) -> Option<&'a Location> {
        let places = self.stacks().into_iter().flat_map(|it| it.1);
        let rows = self.orders().0.iter().filter_map(|it| it.at.as_ref());
        places.chain(rows).find(|it| it.file.is_some() && it.line.is_some())
    }

    /// Everything that the text format says about it, without styles.
    pub(super) fn text(&self, report: &Report) -> String {
        let alone = match self.subject {
            Subject::Finding(it, also) => Report {
                findings: vec![it.clone()],
                details: vec![Detail { finding: 0, also: also.to_vec() }],
                ..Report::new(report.command, &report.tool.version)
            },
            Subject::Failure(it) => Report {
                observed: vec![ObservedFailure { finding: None, ..it.clone() }],
                ..Report::new(report.command, &report.tool.version)
            },
            Subject::Run(it) => Report {
                run: Some(it.clone()),
                ..Report::new(report.command, &report.tool.version)
            },
            Subject::Cluster(it) => {
                // The text needs the numbers of runs.
                let all = report.localization.clone().unwrap_or_default();
                let localization = Localization { clusters: vec![it.clone()], ..all };
                Report {
                    localization: Some(localization),
                    ..Report::new(report.command, &report.tool.version)
                }
            }
        };
        plain(|out| Text::new(Layout::default()).write_entries(&alone, out))
    }
}

/// The counts of a report, as the text format has them.
pub(super) fn summary(report: &Report) -> String {
    plain(|out| Text::new(Layout::default()).conclude(report, out))
}

/// A text without styles.
fn plain(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    let written = write(&mut text);
    // Writing to memory does not fail.
    debug_assert!(written.is_ok(), "{written:?}");
    anstream::adapter::strip_str(&String::from_utf8_lossy(&text)).to_string()
}

/// What an access does: `T0.1 reads till = 3`.
pub(super) fn access(access: &Access) -> String {
    let value = access.shown.clone().or_else(|| access.value.map(|it| it.to_string()));
    let value = value.map_or_else(String::new, |it| format!(" = {it}"));
    format!("{} {} {}{value}", access.thread, access.action.verb(), access.variable.name)
}

/// The places that explain a failure.
fn steps(story: &Story) -> Vec<&Step> {
    match &story.failure {
        FailureKind::Stuck(it) => it.waiters.iter().map(|it| &it.step).collect(),
        FailureKind::Running(it) => it.runners.iter().map(|it| &it.step).collect(),
        FailureKind::Misuse(it) => [&it.by].into_iter().chain(&it.destroyed).collect(),
        FailureKind::Object(it) => {
            [&it.by].into_iter().chain(it.earlier.iter().map(|it| &it.step)).collect()
        }
        FailureKind::Death(it) => it.by.iter().collect(),
    }
}
