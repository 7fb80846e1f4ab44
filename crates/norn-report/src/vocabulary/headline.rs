//! Headlines of findings and failures. The titles of predicted bugs stand beside the analyses.

use norn_model::{BugClass, Consequence};

use super::consequence;
use crate::{Cause, Finding, Line, ObservedFailure, Parameter};

/// The title of a finding, and what it led to.
pub fn headline(finding: &Finding) -> String {
    let leads = news(finding).map_or_else(String::new, |it| format!(": {it}"));
    format!("{}{leads}", title(finding))
}

/// The title of a finding by what happened, if that is more than was predicted.
pub fn title(finding: &Finding) -> &str {
    finding.cause.as_ref().map_or(&finding.title, |it| &it.title)
}

/// What a finding led to, if its title does not say so already.
pub fn news(finding: &Finding) -> Option<String> {
    let class = finding.cause.as_ref().map_or(finding.class, |it| it.class);
    led_to(finding.consequence.as_ref()?, class, title(finding))
}

/// What is announced of a line while the command runs: `bug 1: data race on x`.
pub fn announcement(line: &Line) -> Option<String> {
    match line {
        Line::Finding(it) => Some(format!("bug {}: {}", it.bug?, headline(it))),
        Line::Observed(it) if !it.known => {
            Some(format!("bug {}: {}", it.failure.bug?, observed_headline(&it.failure)))
        }
        Line::Observed(_) | Line::Update(_) | Line::Start(_) | Line::Progress(_) | Line::End(_) => {
            None
        }
    }
}

fn led_to(consequence: &Consequence, class: BugClass, title: &str) -> Option<String> {
    let text = super::consequence(consequence);
    let is_news = match consequence {
        Consequence::None => false,
        Consequence::Deadlock => class != BugClass::Deadlock,
        _ => !title.starts_with(&text),
    };
    is_news.then_some(text)
}

/// What the cause of a failure that was not predicted led to, if its title does not say so already.
pub fn observed_news(failure: &ObservedFailure) -> Option<String> {
    let Cause { class, title, .. } = failure.cause.as_ref()?;
    led_to(&failure.consequence, *class, title)
}

/// The headline of a failure that was not predicted: what is behind it, if that is known, and the failure.
pub fn observed_headline(failure: &ObservedFailure) -> String {
    let Some(Cause { title, .. }) = &failure.cause else {
        return format!("seen under another schedule: {}", consequence(&failure.consequence));
    };
    let leads = observed_news(failure);
    format!("{title}{}", leads.map_or_else(String::new, |it| format!(": {it}")))
}

/// The headline of a broken property, with what its parameters stand for.
pub fn property_headline(name: &str, parameters: &[Parameter]) -> String {
    let values = parameters.iter().map(|it| format!("{} = `{}`", it.name, it.value.name));
    let values = values.collect::<Vec<_>>().join(", ");
    let of = if values.is_empty() { String::new() } else { format!(" for {values}") };
    format!("property `{name}` violated{of}")
}
