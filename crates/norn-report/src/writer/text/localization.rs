//! The ranking of interleaving patterns over many runs.

use std::io::{self, Write};

use super::{finding, paint};
use crate::{
    CauseExperiment, FailureCluster, Localization, PredictedRuns, RankedPattern, Report,
    ScoreInterval, vocabulary::place,
};

/// The ranking for each failure, and what a reader must know to judge it.
pub(super) fn localization(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Some(it) = &report.localization else { return Ok(()) };
    clusters(out, it)?;
    summary(out, it)
}

/// The ranking for each failure.
pub(super) fn clusters(out: &mut dyn Write, it: &Localization) -> io::Result<()> {
    for (number, cluster) in (1..).zip(&it.clusters) {
        writeln!(out, "{}", paint::headline(headline(number, cluster), true))?;
        if !cluster.places.is_empty() {
            let places: Vec<_> = cluster.places.iter().map(place).collect();
            writeln!(out, "   at {}", paint::places(places.join(", ")))?;
        }
        ranking(out, cluster, it)?;
        if !cluster.reproduce.is_empty() {
            writeln!(out, "   reproduce: {}", cluster.reproduce.join(" "))?;
        }
        if let Some(clip) = &cluster.clip {
            writeln!(out, "   clip: {clip}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn headline(number: usize, cluster: &FailureCluster) -> String {
    format!("failure {number}: {} ({})", cluster.title, counted(cluster.failed, "run"))
}

fn ranking(
    out: &mut dyn Write,
    cluster: &FailureCluster,
    localization: &Localization,
) -> io::Result<()> {
    if cluster.ranking.is_empty() {
        writeln!(out, "   no interleaving pattern occurred in these runs")?;
    }
    for (rank, pattern) in (1..).zip(&cluster.ranking) {
        let RankedPattern { score, interval: ScoreInterval { low, high }, title, shape, .. } =
            pattern;
        let title = paint::headline(format_args!("{title} ({shape})"), false);
        writeln!(out, "   #{rank}  {title}")?;
        writeln!(
            out,
            "   score {score:.2} ({low:.2} to {high:.2}): in {} of {} failing and {} of {} passing runs",
            pattern.failed, cluster.failed, pattern.passed, localization.passed
        )?;
        if let Some(it) = &pattern.experiment {
            experiment(out, it)?;
        }
        finding::accesses(out, &pattern.accesses)?;
    }
    match cluster.more {
        0 => Ok(()),
        1 => writeln!(out, "   1 more pattern is less suspicious"),
        more => writeln!(out, "   {more} more patterns are less suspicious"),
    }
}

fn experiment(out: &mut dyn Write, it: &CauseExperiment) -> io::Result<()> {
    let verdict = if it.confirmed { "cause confirmed" } else { "cause not confirmed" };
    let failed = |failed: u64, runs: u64| match runs {
        0 => "there was no run".to_owned(),
        _ => format!("{failed} of {} failed", counted(runs, "run")),
    };
    let forced = failed(it.forced_failed, it.forced);
    let prevented = failed(it.prevented_failed, it.prevented);
    writeln!(out, "   {verdict}: with it forced, {forced}; with it prevented, {prevented}")
}

pub(super) fn summary(out: &mut dyn Write, it: &Localization) -> io::Result<()> {
    let runs = it.passed + it.failed + it.unfinished;
    write!(out, "{}: {} passed, {} failed", counted(runs, "run"), it.passed, it.failed)?;
    if it.unfinished > 0 {
        write!(out, ", {} not finished", it.unfinished)?;
    }
    let patterns = counted(it.patterns as u64, "pattern");
    writeln!(out, "; {patterns}, window {}, score {}", it.window, it.score)?;
    if it.settled {
        writeln!(out, "the ranking has settled: more runs would not change the first pattern")?;
    }
    if it.pending > 0 {
        writeln!(out, "{} not made yet", counted(it.pending, "run"))?;
    }
    if let Some(PredictedRuns { runs, failed }) = it.predicted {
        let (runs, which) = (counted(runs, "predicted schedule"), "no run failed by itself");
        writeln!(out, "{which}; {runs} forced on the program, {failed} of these runs failed")?;
    }
    if it.failed == 0 {
        writeln!(out, "no run failed, so there is nothing to rank")?;
    } else if it.passed == 0 {
        writeln!(out, "no run passed, so the scores say only how often a pattern occurred")?;
    }
    if it.lost > 0 {
        writeln!(out, "{} could not be made or read", counted(it.lost, "run"))?;
    }
    if it.unordered > 0 {
        let runs = counted(it.unordered, "run");
        writeln!(out, "in {runs} the order of plain accesses was not recorded: it is approximate")?;
        writeln!(out, "hint: `norn record --order global` records it")?;
    }
    if it.sampled > 0 {
        let runs = counted(it.sampled, "run");
        writeln!(
            out,
            "in {runs} not all accesses were observed: only some bytes of those to more than 512 \
             bytes, or some of those at sites that are executed very often"
        )?;
    }
    Ok(())
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
pub(in crate::writer) mod tests {
    use norn_model::BugClass;

    use super::*;
    use crate::{
        Action, Command,
        writer::{
            Layout, Writer as _,
            sample::{access, at},
            text::Text,
        },
    };

    /// A report with one failure and one pattern.
    pub(in crate::writer) fn localized() -> Report {
        let pattern = RankedPattern {
            class: BugClass::Atomicity,
            shape: "R1-W2-W1".to_owned(),
            title: "Title".to_owned(),
            accesses: vec![
                access("T0.1", Action::Read, 0, 12),
                access("T0.2", Action::Write, 5, 13),
                access("T0.1", Action::Write, 5, 13),
            ],
            failed: 19,
            passed: 3,
            score: 19.0 / 22.0,
            interval: ScoreInterval { low: 0.667, high: 0.953 },
            experiment: Some(CauseExperiment {
                forced: 10,
                forced_failed: 9,
                prevented: 8,
                prevented_failed: 0,
                confirmed: true,
            }),
        };
        let cluster = FailureCluster {
            title: "Message".to_owned(),
            places: vec![at("check", 40)],
            failed: 19,
            first: "Run".to_owned(),
            reproduce: vec!["Reproduce".to_owned()],
            clip: Some("Clip".to_owned()),
            ranking: vec![pattern],
            more: 1,
        };
        let localization = Localization {
            passed: 41,
            failed: 19,
            unfinished: 1,
            lost: 1,
            pending: 3,
            predicted: Some(PredictedRuns { runs: 20, failed: 19 }),
            patterns: 23,
            window: 5,
            score: "Jaccard".to_owned(),
            settled: true,
            unordered: 2,
            sampled: 1,
            clusters: vec![cluster],
        };
        Report { localization: Some(localization), ..Report::new(Command::Localize, "0.1.0") }
    }

    fn text(report: &Report) -> String {
        let mut out = Vec::new();
        Text::new(Layout::default()).write(report, &mut out).unwrap();
        anstream::adapter::strip_bytes(&out).into_vec().try_into().unwrap()
    }

    #[test]
    fn a_ranking_shows_counts_and_accesses() {
        insta::assert_snapshot!(text(&localized()), @r"
        failure 1: Message (19 runs)
           at check till.c:40
           #1  Title (R1-W2-W1)
           score 0.86 (0.67 to 0.95): in 19 of 19 failing and 3 of 41 passing runs
           cause confirmed: with it forced, 9 of 10 runs failed; with it prevented, 0 of 8 runs failed
           T0.1   reads  till = 0  pay till.c:12
                         called from main till.c:40
                         holding m (shared)
           T0.2   writes till = 5  pay till.c:13
                         called from main till.c:40
                         holding m (shared)
           T0.1   writes till = 5  pay till.c:13
                         called from main till.c:40
                         holding m (shared)
           1 more pattern is less suspicious
           reproduce: Reproduce
           clip: Clip

        61 runs: 41 passed, 19 failed, 1 not finished; 23 patterns, window 5, score Jaccard
        the ranking has settled: more runs would not change the first pattern
        3 runs not made yet
        no run failed by itself; 20 predicted schedules forced on the program, 19 of these runs failed
        1 run could not be made or read
        in 2 runs the order of plain accesses was not recorded: it is approximate
        hint: `norn record --order global` records it
        in 1 run not all accesses were observed: only some bytes of those to more than 512 bytes, or some of those at sites that are executed very often
        ");
    }

    #[test]
    fn without_failures_there_is_nothing_to_rank() {
        let localization = Localization {
            passed: 100,
            window: 5,
            score: "jaccard".to_owned(),
            ..Localization::default()
        };
        let report =
            Report { localization: Some(localization), ..Report::new(Command::Localize, "0.1.0") };
        insta::assert_snapshot!(text(&report), @r"
        100 runs: 100 passed, 0 failed; 0 patterns, window 5, score jaccard
        no run failed, so there is nothing to rank
        ");
    }
}
