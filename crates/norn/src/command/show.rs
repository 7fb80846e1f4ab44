//! `norn show`: the story of a clip. Nothing is run.
//!
//! A clip has the schedule; what the threads did and which values they saw is in the report that the hunt
//! left in the folder of the clips.

mod keys;
mod walk;

use std::{io::Write as _, path::Path};

use anyhow::ensure;
use norn_model::{Class, Point, Segment, Until, Visit};
use norn_replay::Clip;
use norn_report::{Detail, EventRow, Finding, ObservedFailure, Report, vocabulary};
use norn_trace::REPORT;

use crate::{
    cli::Show,
    command::{clip_program, report::read},
    exit::Exit,
    report,
    terminal::{self, line},
};

pub(super) fn run(args: &Show) -> anyhow::Result<Exit> {
    let clip = Clip::read(&args.clip)?;
    let report = report_of(&args.clip);
    if args.step {
        ensure!(
            keys::is_terminal(),
            "--step reads keys, but standard input or output is not a terminal\nhint: `norn show` without \
             --step prints everything"
        );
        let steps = match report.as_ref().and_then(rows) {
            Some((title, rows)) => walk::of_rows(title, rows),
            None => walk::of_schedule(title(&clip), &clip.schedule),
        };
        keys::walk(&steps)?;
        return Ok(Exit::Clean);
    }
    clip_program::show(&clip)?;
    match report {
        Some(report) => report::print_stories(&report)?,
        None => line(&mut terminal::stdout(), title(&clip))?,
    }
    schedule(&clip)?;
    Ok(Exit::Clean)
}

/// What the clip is about.
fn title(clip: &Clip) -> String {
    let claim = clip.claim.as_ref().map(|it| it.title.clone());
    let led_to = clip.expect.as_ref().map(vocabulary::consequence);
    match (claim, led_to) {
        (Some(claim), Some(led_to)) => format!("{claim}: {led_to}"),
        (claim, led_to) => claim.or(led_to).unwrap_or_else(|| "a schedule".to_owned()),
    }
}

/// The part of a report that is about a clip: `FOLDER/clips/1.json` has its report in `FOLDER`.
fn report_of(clip: &Path) -> Option<Report> {
    let clip = clip.canonicalize().ok()?;
    let folder = clip.parent()?.parent()?;
    if !folder.join(REPORT).exists() {
        return None;
    }
    let whole = read(folder).ok()?;
    let is_it = |path: &str| Path::new(path).file_name() == clip.file_name();
    let about = |it: &&Finding| it.clip.as_deref().is_some_and(is_it);
    let empty = Report {
        program: whole.program.clone(),
        exit: whole.exit,
        ..Report::new(whole.command, &whole.tool.version)
    };
    // Several findings may share a clip; the first one is the worst.
    if let Some(finding) = whole.findings.iter().find(about) {
        let details = vec![Detail { finding: 0, also: Vec::new() }];
        return Some(Report { findings: vec![finding.clone()], details, ..empty });
    }
    let failure = whole.observed.iter().find(|it| is_it(&it.clip))?;
    let failure = ObservedFailure { finding: None, shown: true, ..failure.clone() };
    Some(Report { observed: vec![failure], ..empty })
}

/// The headline of what a report is about, and its events in their order.
fn rows(report: &Report) -> Option<(String, &[EventRow])> {
    let (title, rows, story) = if let Some(it) = report.findings.first() {
        let rows = it.interleaving.as_ref().map_or(&[][..], |it| &it.forced);
        (vocabulary::headline(it), rows, it.story.as_ref())
    } else {
        let it = report.observed.first()?;
        let rows = it.cause.as_ref().map_or(&[][..], |it| &it.order);
        (vocabulary::observed_headline(it), rows, it.story.as_ref())
    };
    let last = story.map_or(&[][..], |it| &it.last);
    let rows = if rows.is_empty() { last } else { rows };
    (!rows.is_empty()).then_some((title, rows))
}

/// Prints which thread runs how far, and why it stops there.
fn schedule(clip: &Clip) -> anyhow::Result<()> {
    let mut out = terminal::stdout();
    let segments = &clip.schedule.segments;
    let width = segments.iter().map(|it| it.thread.0.len()).max().unwrap_or(0);
    line(&mut out, format!("the schedule: {} turns", segments.len()))?;
    for (number, segment) in (1..).zip(segments) {
        let Segment { thread, until } = segment;
        line(&mut out, format!("  {number:3}  {:width$}  {}", thread.0, turn(until)))?;
    }
    out.flush()?;
    Ok(())
}

/// How far a turn goes, and why it ends.
fn turn(until: &Until) -> String {
    match until {
        Until::Event { index, at: None } => {
            format!("runs up to its event {index}, and is held back")
        }
        Until::Event { at: Some(at), .. } | Until::Before(at) => {
            format!("runs up to {}, and is held back before that", point(at))
        }
        Until::After(at) => format!("runs up to {}, and is stopped directly after that", point(at)),
        Until::Blocks => "runs until it has to wait".to_owned(),
        Until::Timeout => "its wait times out".to_owned(),
        Until::End => "runs to its end".to_owned(),
    }
}

/// An event without its address, which only a program needs.
fn point(at: &Visit) -> String {
    let Visit { point, times } = at;
    if point.line.is_none() && point.function.is_none() && point.class == Class::Other {
        return "its beginning or end".to_owned();
    }
    Visit { point: Point { code: None, ..point.clone() }, times: *times }.to_string()
}
