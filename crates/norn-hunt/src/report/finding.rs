//! Findings of hunts, and candidates of traces.

use norn_model::{Candidate, CandidateKind, ThreadName};
use norn_predict::TitleNames;
use norn_report::{Action, Cause, Finding, Object, Remark, Schedule, Status, Turn, vocabulary};
use norn_witness::{Failure, Grade};

use super::replay;
use crate::{Confirmed, Description, Prospect, identity::fingerprint};

/// A finding with only its class, title and description.
fn bare(kind: &CandidateKind, title: String, description: Description) -> Finding {
    Finding {
        class: kind.class(),
        kind: kind.name().to_owned(),
        name: vocabulary::bug(kind),
        title,
        status: Status::Untried,
        harmful: false,
        bug: None,
        announced: false,
        fingerprint: String::new(),
        suppressed_by: None,
        variables: description.variables,
        parameters: Vec::new(),
        accesses: description.accesses,
        scope: None,
        source: 0,
        instances: 1,
        stacks: 1,
        remark: None,
        at_stake: None,
        schedule: None,
        why: None,
        unordered: None,
        unrecorded_sync: None,
        verdict: None,
        consequence: None,
        other_output: false,
        other_status: None,
        story: None,
        printed: Vec::new(),
        interleaving: None,
        fix: None,
        cause: None,
        clip: None,
        replay: Vec::new(),
        not_reproduced: None,
        executions: None,
        harm: None,
    }
}

/// A candidate without further information.
fn candidate(candidate: &Candidate, description: &Description) -> Finding {
    let title = title(&candidate.kind, description);
    Finding { scope: Some(candidate.scope), ..bare(&candidate.kind, title, description.clone()) }
}

/// The headline of a candidate, with the names of what it is about.
pub(crate) fn title(
    kind: &CandidateKind,
    Description { variables, accesses }: &Description,
) -> String {
    let variables: Vec<_> = variables.iter().map(Object::full_name).collect();
    let variables: Vec<_> = variables.iter().map(String::as_str).collect();
    let stuck = || accesses.iter().filter(|it| it.stuck);
    let waits = stuck().find(|it| matches!(it.action, Action::Wait | Action::Join));
    let wants = stuck().find(|it| matches!(it.action, Action::Lock | Action::LockShared));
    let awaited = waits.map(|it| it.variable.full_name());
    let lock = wants.map(|it| it.variable.full_name());
    let names = TitleNames {
        variables: &variables,
        waiter: waits.map(|it| it.thread.0.as_str()),
        awaited: awaited.as_deref(),
        lock: lock.as_deref(),
        are_calls: accesses.iter().all(|it| it.action == Action::Call),
    };
    norn_predict::title(kind, names)
}

/// A finding of a hunt.
pub(super) fn finding(found: &crate::Finding) -> Finding {
    let bare = Finding {
        harmful: found.is_harmful(),
        fingerprint: fingerprint(&found.bug()),
        instances: found.instances,
        stacks: found.stacks,
        source: found.source,
        remark: found.remark.as_ref().map(remark),
        at_stake: found.at_stake.clone(),
        unrecorded_sync: found.unrecorded_sync.clone(),
        ..candidate(&found.candidate, &found.description)
    };
    match &found.status {
        crate::Status::Confirmed(how) => confirmed(bare, how),
        crate::Status::NotReproducible(how, instead) => Finding {
            status: Status::NotReproducible,
            not_reproduced: Some((**instead).clone()),
            ..confirmed(bare, how)
        },
        crate::Status::Infeasible(why) => failed(bare, why),
        crate::Status::Unconfirmed(verdict) => {
            Finding { status: Status::Unconfirmed, verdict: Some(verdict.into()), ..bare }
        }
        crate::Status::Untried => bare,
    }
}

/// A property that is violated, or may be.
pub(super) fn violation(violation: &crate::Violation) -> Finding {
    let title = vocabulary::property_headline(&violation.property, &violation.parameters);
    let description = Description { variables: Vec::new(), accesses: violation.steps.clone() };
    Finding {
        fingerprint: fingerprint(&violation.bug()),
        parameters: violation.parameters.clone(),
        ..bare(&CandidateKind::Property(violation.property.clone()), title, description)
    }
}

/// Why a candidate of a prediction has neither a schedule nor a reason why there is none.
const NOT_EXAMINED: &str =
    "not examined: other candidates come first; `--schedules` examines more of them";

/// A candidate of a trace.
pub(super) fn prospect(prospect: &Prospect) -> Finding {
    let bare = Finding {
        fingerprint: fingerprint(&prospect.bug()),
        remark: prospect.remark.as_ref().map(remark),
        ..candidate(&prospect.candidate, &prospect.description)
    };
    match &prospect.witness {
        None => Finding { why: Some(NOT_EXAMINED.to_owned()), ..bare },
        Some(Ok(witness)) => Finding {
            schedule: Some(Schedule {
                engine: Some(witness.engine.to_string()),
                ..schedule(witness.grade, &prospect.turns)
            }),
            ..bare
        },
        Some(Err(why)) => failed(bare, why),
    }
}

/// Adds what the program did.
pub(super) fn confirmed(bare: Finding, how: &Confirmed) -> Finding {
    Finding {
        status: Status::Confirmed,
        consequence: Some(how.consequence.clone()),
        story: how.story.clone(),
        printed: how.printed.clone(),
        other_output: how.other_output,
        other_status: how.other_status,
        schedule: Some(witnessed(how)),
        interleaving: Some(how.interleaving.clone()),
        unordered: how.unordered.clone(),
        fix: how.fix.clone(),
        cause: how.cause.as_ref().map(cause),
        clip: Some(how.clip.display().to_string()),
        replay: replay(&how.clip),
        executions: Some(how.executions),
        ..bare
    }
}

/// Adds why there is no schedule.
pub(super) fn failed(bare: Finding, why: &Failure) -> Finding {
    let status = match why {
        Failure::Inconclusive => Status::Inconclusive,
        _ => Status::Infeasible,
    };
    Finding { status, why: Some(why.to_string()), ..bare }
}

/// The turns of a forced schedule are in its clip.
fn witnessed(how: &Confirmed) -> Schedule {
    let made = schedule(how.witness.grade, &[]);
    let grade = if how.perturbed { "perturbed".to_owned() } else { made.grade };
    Schedule { grade, switches: how.witness.turns.len(), ..made }
}

/// A schedule as threads by name, each with the index of the event before which its turn ends.
pub(super) fn schedule(grade: Grade, turns: &[(ThreadName, u64)]) -> Schedule {
    let turn = |(thread, until): &(ThreadName, u64)| Turn { thread: thread.clone(), until: *until };
    Schedule {
        grade: match grade {
            Grade::Sound => "sound".to_owned(),
            Grade::Speculative => "speculative".to_owned(),
        },
        engine: None,
        switches: turns.len(),
        turns: turns.iter().map(turn).collect(),
    }
}

fn remark(remark: &norn_predict::Remark) -> Remark {
    Remark {
        count: remark.count,
        early: remark.early,
        expected: remark.expected.map(|it| it.name().to_owned()),
        why: remark.expected.map(|it| it.to_string()),
    }
}

/// What is behind a failure.
pub(super) fn cause(it: &crate::Cause) -> Cause {
    Cause {
        class: it.kind.class(),
        kind: it.kind.name().to_owned(),
        name: vocabulary::bug(&it.kind),
        title: title(&it.kind, &it.description),
        variables: it.description.variables.clone(),
        accesses: it.description.accesses.clone(),
        order: it.order.clone(),
        recorded: it.recorded.clone(),
        fix: it.fix.clone(),
    }
}
