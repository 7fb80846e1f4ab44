//! The headline of a violated property. Those of predicted bugs stand beside the analyses.

use crate::Parameter;

/// The headline of a broken property, with what its parameters stand for.
pub fn property_headline(name: &str, parameters: &[Parameter]) -> String {
    let values = parameters.iter().map(|it| format!("{} = `{}`", it.name, it.value.name));
    let values = values.collect::<Vec<_>>().join(", ");
    let of = if values.is_empty() { String::new() } else { format!(" for {values}") };
    format!("property `{name}` violated{of}")
}
