//! Headlines of findings and failures. The titles of predicted bugs stand beside the analyses.

use norn_model::{BugClass, Consequence};

use super::consequence;
use crate::{Cause, Finding, ObservedFailure, Parameter};

/// The title of a finding, and what it led to.
pub fn headline(finding: &Finding) -> String {
    let leads = news(finding).map_or_else(String::new, |it| format!(": {it}"));
    format!("{}{leads}", finding.title)
}

/// What a finding led to, if its title does not say so already.
pub fn news(finding: &Finding) -> Option<String> {
    led_to(finding.consequence.as_ref()?, finding.class, &finding.title)
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

/// The headline of a failure that was not predicted: what is behind it, if that is known, and the failure.
pub fn observed_headline(failure: &ObservedFailure) -> String {
    let Some(Cause { class, title, .. }) = &failure.cause else {
        return format!("seen under another schedule: {}", consequence(&failure.consequence));
    };
    let leads = led_to(&failure.consequence, *class, title);
    format!("{title}{}", leads.map_or_else(String::new, |it| format!(": {it}")))
}

/// The headline of a broken property, with what its parameters stand for.
pub fn property_headline(name: &str, parameters: &[Parameter]) -> String {
    let values = parameters.iter().map(|it| format!("{} = `{}`", it.name, it.value.name));
    let values = values.collect::<Vec<_>>().join(", ");
    let of = if values.is_empty() { String::new() } else { format!(" for {values}") };
    format!("property `{name}` violated{of}")
}
