//! Property violations, for people and for programs.

use std::io::{self, Write};

use norn_hunt::{Check, Checked, Confirmed, Failure, Forecast, Foreseen, Harm, State, Violation};
use norn_model::Consequence;
use serde_json::{Value, json};

use crate::{bound, interleaving, story, unseen};

/// For people: what the program did, then what it might do.
pub(crate) fn text(out: &mut impl Write, check: &Check) -> anyhow::Result<()> {
    let real = check.violations.iter().filter(|it| it.is_real());
    for (number, violation) in real.enumerate() {
        write!(out, "{}. ", number + 1)?;
        title(out, violation)?;
        steps(out, violation)?;
        match &violation.state {
            State::Observed(clip) => {
                writeln!(out, "   the recorded run does that")?;
                writeln!(out, "   again: norn replay {}\n", clip.display())?;
            }
            State::Confirmed(how) => confirmed(out, how, violation.harm.as_ref())?,
            State::Infeasible(_) | State::Spoiled | State::Unconfirmed(_) | State::Untried => {}
        }
    }
    for it in &check.observed {
        writeln!(out, "seen under another schedule: {}", it.consequence)?;
        writeln!(out, "   again: norn replay {}\n", it.clip.display())?;
    }
    check.rules.iter().try_for_each(|it| seen(out, it))?;
    summary(out, check)
}

fn confirmed(out: &mut impl Write, how: &Confirmed, harm: Option<&Harm>) -> io::Result<()> {
    if how.consequence != Consequence::None {
        writeln!(out, "   then: {}", how.consequence)?;
    }
    interleaving::text(out, &how.interleaving)?;
    if how.other_output {
        writeln!(out, "   the program prints something else than in the recorded run")?;
    }
    if let Some(story) = &how.story {
        story::tell(out, story)?;
    }
    writeln!(out, "   again: norn replay {}", how.clip.display())?;
    if let Some(harm) = harm {
        writeln!(out, "   it can lead to: {}", harm.consequence)?;
        if let Some(story) = &harm.story {
            story::tell(out, story)?;
        }
        writeln!(out, "   again: norn replay {}", harm.clip.display())?;
    }
    writeln!(out)
}

fn title(out: &mut impl Write, violation: &Violation) -> io::Result<()> {
    let parameters = violation.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let of = if parameters.is_empty() { String::new() } else { format!(", {parameters}") };
    writeln!(out, "{} is broken{of}", violation.property)
}

fn steps(out: &mut impl Write, violation: &Violation) -> io::Result<()> {
    let width = violation.steps.iter().map(|it| it.event.len()).max().unwrap_or(0);
    for step in &violation.steps {
        let mut calls = step.access.calls.iter();
        let place = calls.next().map_or("?", |it| it.as_str());
        let (thread, event) = (&step.access.thread, &step.event);
        writeln!(out, "   {thread:6} {event:width$}  {}  {place}", step.action)?;
        if !step.access.locks.is_empty() {
            writeln!(out, "          {:width$}  holding {}", "", step.access.locks.join(", "))?;
        }
    }
    Ok(())
}

/// What was not seen of a property, which a person might have expected to be.
fn seen(out: &mut impl Write, property: &Checked) -> io::Result<()> {
    let never = property.events.iter().filter(|it| it.1 == 0).map(|it| it.0.as_str());
    let never: Vec<_> = never.collect();
    if !never.is_empty() {
        writeln!(out, "{}: never seen in the recorded run: {}", property.name, never.join(", "))?;
    }
    unseen::text(out, property)?;
    if let Some(line) = bound::words(property) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn summary(out: &mut impl Write, check: &Check) -> anyhow::Result<()> {
    let count = |f: fn(&State) -> bool| check.violations.iter().filter(|it| f(&it.state)).count();
    let observed = count(|it| matches!(it, State::Observed(_)));
    let confirmed = count(|it| matches!(it, State::Confirmed(_)));
    let undecided = count(is_undecided);
    let infeasible = count(|it| matches!(it, State::Infeasible(_) | State::Spoiled)) - undecided;
    let unconfirmed = count(|it| matches!(it, State::Unconfirmed(_)));
    let untried = count(|it| matches!(it, State::Untried));
    let instances: usize = check.rules.iter().map(|it| it.instances).sum();
    writeln!(
        out,
        "{} properties with {instances} instances in {} events of {} threads: {observed} violations \
         recorded, {confirmed} confirmed; {infeasible} infeasible, {unconfirmed} not confirmed, \
         {untried} not tried; {} executions",
        check.rules.len(),
        check.base.events,
        check.base.threads,
        check.executions,
    )?;
    if undecided > 0 {
        writeln!(out, "{undecided} more are undecided: nothing was found within the limits")?;
    }
    if check.refused > 0 {
        writeln!(out, "{} functions could not be made to show their calls", check.refused)?;
    }
    if check.left_out > 0 {
        writeln!(out, "{} events at the end of the run were too many to look at", check.left_out)?;
    }
    if check.base.consequence.is_failure() {
        writeln!(out, "no run passed: the last one led to: {}", check.base.consequence)?;
    }
    if untried > 0 {
        writeln!(out, "hint: --budget sets how many executions there may be")?;
    }
    Ok(())
}

/// Whether nobody knows if there is a schedule.
fn is_undecided(state: &State) -> bool {
    matches!(state, State::Infeasible(Failure::Inconclusive))
}

/// For programs.
pub(crate) fn json(out: &mut impl Write, check: &Check) -> anyhow::Result<()> {
    let observed = check.observed.iter().map(
        |it| json!({ "consequence": it.consequence, "clip": it.clip, "executions": it.executions }),
    );
    let value = json!({
        "events": check.base.events,
        "threads": check.base.threads,
        "consequence": check.base.consequence,
        "executions": check.executions,
        "sources": check.sources,
        "events_left_out": check.left_out,
        "functions_refused": check.refused,
        "properties": check.rules.iter().map(property).collect::<Vec<_>>(),
        "violations": check.violations.iter().map(violation).collect::<Vec<_>>(),
        "observed": observed.collect::<Vec<_>>(),
    });
    Ok(writeln!(out, "{value:#}")?)
}

fn property(property: &Checked) -> Value {
    let events: serde_json::Map<_, _> =
        property.events.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
    json!({
        "name": property.name,
        "instances": property.instances,
        "events": events,
        "candidates": property.candidates,
        "incomplete": property.bounds.steps || property.bounds.instances,
        "left_out": bound::json(property),
        "unseen": property.unseen.iter().map(unseen::json).collect::<Vec<_>>(),
    })
}

fn violation(violation: &Violation) -> Value {
    let parameters: serde_json::Map<_, _> =
        violation.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let steps = violation.steps.iter().map(|it| {
        json!({
            "event": it.event,
            "thread": it.access.thread,
            "action": it.action,
            "calls": it.access.calls,
            "locks": it.access.locks,
        })
    });
    let mut value = json!({
        "property": violation.property,
        "parameters": parameters,
        "steps": steps.collect::<Vec<_>>(),
        "harm": violation.harm.as_ref().map(|it| {
            json!({ "consequence": it.consequence, "story": it.story, "clip": it.clip })
        }),
    });
    if let (Some(all), Value::Object(more)) = (value.as_object_mut(), state(&violation.state)) {
        all.extend(more);
    }
    value
}

fn state(state: &State) -> Value {
    match state {
        State::Observed(clip) => json!({ "status": "observed", "clip": clip }),
        State::Confirmed(it) => json!({
            "status": "confirmed",
            "consequence": it.consequence,
            "story": it.story,
            "other_output": it.other_output,
            "grade": it.grade(),
            "switches": it.witness.turns.len(),
            "interleaving": interleaving::json(&it.interleaving),
            "clip": it.clip,
            "executions": it.executions,
        }),
        State::Infeasible(why) => {
            let status = if is_undecided(state) { "undecided" } else { "infeasible" };
            json!({ "status": status, "why": why.to_string() })
        }
        State::Spoiled => json!({ "status": "infeasible", "why": SPOILED }),
        State::Unconfirmed(verdict) => json!({ "status": "unconfirmed", "verdict": verdict }),
        State::Untried => json!({ "status": "untried" }),
    }
}

const SPOILED: &str = "in each schedule something comes in between that the property allows";

/// What other orders of a trace would break, for people.
pub(crate) fn forecast(out: &mut impl Write, forecast: &Forecast) -> anyhow::Result<()> {
    for violation in &forecast.observed {
        title(out, violation)?;
        steps(out, violation)?;
        writeln!(out, "   the recorded run does that\n")?;
    }
    for Foreseen { violation, grade, turns } in &forecast.predicted {
        title(out, violation)?;
        steps(out, violation)?;
        match (grade, &violation.state) {
            (Some(grade), _) => {
                let turns = turns.iter().map(|(thread, until)| format!("{thread}:{until}"));
                let turns = turns.collect::<Vec<_>>().join(" ");
                writeln!(out, "   schedule ({grade:?}): {turns}\n")?;
            }
            (None, State::Infeasible(why)) => writeln!(out, "   {why}\n")?,
            (None, _) => writeln!(out, "   {SPOILED}\n")?,
        }
    }
    forecast.properties.iter().try_for_each(|it| seen(out, it))?;
    if forecast.left_out > 0 {
        writeln!(
            out,
            "{} events at the end of the run were too many to look at",
            forecast.left_out
        )?;
    }
    let possible = forecast.predicted.iter().filter(|it| it.grade.is_some()).count();
    let (count, observed) = (forecast.predicted.len(), forecast.observed.len());
    writeln!(
        out,
        "{observed} violations recorded; {count} candidates, {possible} with a schedule; `norn check` \
         tries them"
    )?;
    Ok(())
}

/// The same for programs.
pub(crate) fn forecast_json(out: &mut impl Write, forecast: &Forecast) -> anyhow::Result<()> {
    let predicted = forecast.predicted.iter().map(|it| {
        let mut value = violation(&it.violation);
        value["grade"] = json!(it.grade);
        value["schedule"] = json!(it.turns);
        if it.grade.is_some() {
            value["status"] = json!("predicted");
        }
        value
    });
    let observed = forecast.observed.iter().map(|it| {
        let mut value = violation(it);
        value["status"] = json!("observed");
        value
    });
    let value = json!({
        "properties": forecast.properties.iter().map(property).collect::<Vec<_>>(),
        "events_left_out": forecast.left_out,
        "observed": observed.collect::<Vec<_>>(),
        "predicted": predicted.collect::<Vec<_>>(),
    });
    Ok(writeln!(out, "{value:#}")?)
}
