//! Headlines of findings and failures. The titles of predicted bugs stand beside the analyses.

use norn_model::{BugClass, Consequence};

use super::consequence;
use crate::{Finding, ObservedFailure, Parameter};

/// The title of a finding, and what it led to.
pub fn headline(finding: &Finding) -> String {
    let leads = news(finding).map_or_else(String::new, |it| format!(": {it}"));
    format!("{}{leads}", finding.title)
}

/// What a finding led to, if its title does not say so already.
pub fn news(finding: &Finding) -> Option<String> {
    let led_to = finding.consequence.as_ref()?;
    let text = consequence(led_to);
    let is_news = match led_to {
        Consequence::None => false,
        Consequence::Deadlock => finding.class != BugClass::Deadlock,
        _ => !finding.title.starts_with(&text),
    };
    is_news.then_some(text)
}

/// The headline of a failure that was not predicted.
pub fn observed_headline(failure: &ObservedFailure) -> String {
    format!("seen under another schedule: {}", consequence(&failure.consequence))
}

/// The headline of a broken property, with what its parameters stand for.
pub fn property_headline(name: &str, parameters: &[Parameter]) -> String {
    let values = parameters.iter().map(|it| format!("{} = `{}`", it.name, it.value.name));
    let values = values.collect::<Vec<_>>().join(", ");
    let of = if values.is_empty() { String::new() } else { format!(" for {values}") };
    format!("property `{name}` violated{of}")
}
