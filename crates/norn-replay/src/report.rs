//! Converts controlled runs to the data of reports.

use norn_frontend::FrontEnd;
use norn_model::{
    Arrival, Class, Departure, EventId, Location, Point, Schedule, ThreadName, Verdict,
};
use norn_report::{Address, Claimed, Control, Inputs, InputsDiverged, Object, Requested};
use norn_trace::{Controlled, Parted, Request, Strategy};

use crate::{
    Claim, Clip, CompletedRun, Detour, Hashes, ReplayError, RunKind, SymbolizedTrace, Tally,
    fingerprint, path, run::process, story, verdict,
};

/// The report of a run. `clip` is the clip that it followed, if any.
pub fn run(run: &CompletedRun, clip: Option<&Clip>) -> Result<norn_report::Run, ReplayError> {
    let controlled = run.recording.run.controlled.as_ref();
    let bare = norn_report::Run::new(run.consequence.clone());
    let Some(symbolized) = run.symbolized()? else { return Ok(bare) };
    let verdict = clip.zip(controlled).map(|(clip, it)| verdict(&it.outcome, &clip.schedule));
    let detour =
        clip.zip(verdict.as_ref()).and_then(|(clip, it)| path::detour(clip, symbolized, it));
    let schedule = clip.map(|it| &it.schedule);
    Ok(norn_report::Run {
        events: Some(symbolized.trace.counts().events),
        threads: Some(symbolized.trace.threads().len()),
        story: story::story(run),
        verdict: verdict.zip(schedule).map(|(it, schedule)| judged(&it, schedule, symbolized)),
        segments: schedule.map(|it| it.segments.len()),
        detour: detour.as_ref().map(report_detour),
        claim: clip.and_then(|it| it.claim.as_ref()).map(|it| claimed(it, symbolized)),
        control: controlled.map(control),
        ..bare
    })
}

/// The report of a batch: of one schedule, if there is a clip, or of different seeds. `kept` names the
/// folders in which one run of each kind is kept.
pub fn batch(
    front_end: &dyn FrontEnd,
    tally: &Tally,
    clip: Option<&Clip>,
    kept: Option<&[String]>,
) -> norn_report::Batch {
    let most = |it: &(usize, &RunKind)| (it.1.count, std::cmp::Reverse(it.1.first));
    let usual = tally.kinds.iter().enumerate().max_by_key(most);
    let kind = |(at, kind): (usize, &RunKind)| {
        let is_other = |it: &(usize, &RunKind)| it.0 != at && kind.fingerprint.hashes.is_some();
        let other = usual.filter(is_other).map(|it| it.1);
        let differs = other.map_or_else(Vec::new, |usual| differences(kind, usual));
        norn_report::RunKind {
            count: kind.count,
            run: kind.first,
            seed: kind.seed,
            consequence: kind.fingerprint.consequence.clone(),
            verdict: kind.fingerprint.verdict.as_ref().map(Into::into),
            print: kind.fingerprint.hashes.as_ref().map(|it| norn_report::Print {
                events: it.events,
                stdout: it.stdout,
                stderr: it.stderr,
            }),
            differs,
            parting: other.and_then(|usual| parting(front_end, usual, kind)),
            away: kind.away,
            stopped: kind.stopped,
            detour: clip
                .and_then(|it| kind_detour(front_end, it, kind))
                .as_ref()
                .map(report_detour),
            claim: clip.and_then(|it| kind_claim(front_end, it, kind)),
            kept: kept.and_then(|it| it.get(at).cloned()),
        }
    };
    let several = usual.filter(|_| clip.is_some() && tally.kinds.len() > 1);
    let controlled = several.and_then(|it| it.1.recording.run.controlled.as_ref());
    norn_report::Batch {
        runs: tally.count,
        failed: tally.failures(),
        stopped: tally.stopped,
        kinds: tally.kinds.iter().enumerate().map(kind).collect(),
        usual: usual.map(|it| it.0),
        segments: clip.map(|it| it.schedule.segments.len()),
        control: controlled.map(control),
        repeat: Vec::new(),
    }
}

/// The name of a strategy on the command line.
pub fn strategy(strategy: Strategy) -> String {
    let name = serde_json::to_value(strategy).ok();
    name.as_ref().and_then(|it| it.as_str()).unwrap_or("unknown").to_owned()
}

fn control(controlled: &Controlled) -> Control {
    let outcome = &controlled.outcome;
    let fed = outcome.fed.clone().unwrap_or_default();
    Control {
        strategy: strategy(controlled.strategy),
        seed: controlled.seed,
        switches: outcome.switches,
        away: outcome.away,
        older: outcome.older,
        process_ids: outcome.process_ids,
        same_layout: controlled.same_layout,
        inputs: Inputs {
            uncontrolled: outcome.inputs,
            recorded: fed.kept,
            lost: fed.lost,
            fed: fed.used,
            available: fed.given,
            diverged: fed.parted.as_ref().map(diverged),
        },
    }
}

fn diverged(parted: &Parted) -> InputsDiverged {
    let requested = |it: &Request| Requested {
        call: it.call.clone(),
        descriptor: (it.file >= 0).then_some(it.file.into()),
        asked: it.asked,
    };
    InputsDiverged {
        thread: parted.thread.clone(),
        input: parted.index,
        expected: parted.expected.as_ref().map(requested),
        actual: parted.actual.as_ref().map(requested),
    }
}

/// A verdict, with the symbolized event that the thread arrived at.
fn judged(
    verdict: &Verdict,
    schedule: &Schedule,
    symbolized: &SymbolizedTrace,
) -> norn_report::Verdict {
    let named = |it: &Departure| {
        let segment = schedule.segments.get(it.segment as usize);
        norn_report::Departure {
            until: segment.map(|it| it.until.to_string()),
            actual: it.actual.as_ref().map(|it| arrival(it, symbolized)),
            before: it.actual.as_ref().and_then(|actual| before(&it.thread, actual, symbolized)),
            ..it.into()
        }
    };
    match verdict {
        Verdict::Followed(_) => verdict.into(),
        Verdict::Diverged(it) => norn_report::Verdict::Diverged(named(it)),
        Verdict::Infeasible(it) => norn_report::Verdict::Infeasible(named(it)),
    }
}

fn arrival(actual: &Arrival, symbolized: &SymbolizedTrace) -> norn_report::Arrival {
    let Arrival { pc, object, .. } = actual;
    let name = symbolized.symbols.variable(*object, 1).map(|it| it.name);
    let name = name.unwrap_or_else(|| format!("{object:#x}"));
    norn_report::Arrival {
        object: (*object != 0)
            .then(|| Object { address: Some(Address(*object)), ..Object::named(name) }),
        at: symbolized.location(*pc),
        ..actual.into()
    }
}

/// The thread's last event that was as expected.
fn before(
    thread: &ThreadName,
    actual: &Arrival,
    symbolized: &SymbolizedTrace,
) -> Option<norn_report::Arrival> {
    let thread = symbolized.trace.threads().iter().find(|it| it.name == *thread)?.id;
    let index = actual.index.checked_sub(1)?;
    let event = symbolized.trace.event(EventId { thread, index })?;
    let site = symbolized.trace.site(event.site)?;
    Some(norn_report::Arrival {
        event: index,
        operation: norn_report::Action::from(&event.op).noun().to_owned(),
        object: None,
        at: symbolized.location(site.pc),
        code: Some(Address(site.pc)),
    })
}

/// Whether the claim of a clip is true of a run.
fn claimed(claim: &Claim, symbolized: &SymbolizedTrace) -> Claimed {
    Claimed {
        class: claim.class,
        title: claim.title.clone(),
        harmful: claim.is_harmful(),
        again: claim.holds(symbolized),
    }
}

/// Whether the claim of a clip is true of the first run of a kind.
fn kind_claim(front_end: &dyn FrontEnd, clip: &Clip, kind: &RunKind) -> Option<Claimed> {
    let claim = clip.claim.as_ref()?;
    let symbolized =
        SymbolizedTrace::open(front_end, &kind.folder.trace(), process(&kind.recording)).ok()?;
    Some(claimed(claim, &symbolized))
}

/// The detour of the first run of a kind.
fn kind_detour(front_end: &dyn FrontEnd, clip: &Clip, kind: &RunKind) -> Option<Detour> {
    if !clip.has_path() {
        return None;
    }
    let symbolized =
        SymbolizedTrace::open(front_end, &kind.folder.trace(), process(&kind.recording)).ok()?;
    path::detour(clip, &symbolized, kind.fingerprint.verdict.as_ref()?)
}

fn report_detour(detour: &Detour) -> norn_report::Detour {
    norn_report::Detour {
        thread: detour.thread.clone(),
        event: detour.event,
        expected: point(&detour.expected),
        actual: point(&detour.actual),
        last: detour.last.as_ref().map(point),
        back: detour.back,
    }
}

fn point(point: &Point) -> norn_report::Point {
    let class: Class = point.class;
    norn_report::Point {
        operation: class.name().to_owned(),
        at: Location {
            function: point.function.clone(),
            file: point.line.as_ref().map(|it| it.file.clone()),
            line: point.line.as_ref().map(|it| it.number),
            column: None,
            module: point.code.as_ref().map(|it| it.module.clone()),
            offset: point.code.as_ref().map(|it| it.offset),
        },
    }
}

/// The aspects in which a kind of runs differs from the most frequent kind.
fn differences(kind: &RunKind, usual: &RunKind) -> Vec<String> {
    let (one, other) = (&kind.fingerprint, &usual.fingerprint);
    let hash =
        |get: fn(&Hashes) -> u64| one.hashes.as_ref().map(get) != other.hashes.as_ref().map(get);
    let all = [
        ("verdict", one.verdict != other.verdict),
        ("consequence", one.consequence != other.consequence),
        ("events", hash(|it| it.events)),
        ("standard output", hash(|it| it.stdout)),
        ("standard error", hash(|it| it.stderr)),
    ];
    all.into_iter().filter(|it| it.1).map(|it| it.0.to_owned()).collect()
}

/// The first event in which two kinds of runs differ.
fn parting(
    front_end: &dyn FrontEnd,
    usual: &RunKind,
    other: &RunKind,
) -> Option<norn_report::Parting> {
    let open = |kind: &RunKind| SymbolizedTrace::open(front_end, &kind.folder.trace(), 0).ok();
    let (usual, other) = (open(usual)?, open(other)?);
    let (event, events) = fingerprint::first_difference(&usual.trace, &other.trace)?;
    Some(norn_report::Parting {
        event,
        usual: events[0].as_ref().map(|it| story::row(&usual, it)),
        here: events[1].as_ref().map(|it| story::row(&other, it)),
    })
}
