//! Properties of the user, and what was seen of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A property, and what was seen of it in the recorded run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Instances: combinations of values for its parameters.
    pub instances: usize,
    /// Its events, and how often each happened.
    pub events: BTreeMap<String, u64>,
    /// The events that never happened, in the order of the property.
    pub never: Vec<String>,
    /// Orders of events that would break it, before they were checked for feasibility.
    pub candidates: usize,
    /// Whether the search was given up before its end.
    pub incomplete: bool,
    /// What the search left out, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// What the property names and the program does not show.
    pub unseen: Vec<Unseen>,
}

/// What the search for violations of a property left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Choices among events that are alike.
    pub alike: u64,
    /// Orders at the same places.
    pub ways: u64,
    /// Whether the search was given up.
    pub steps: bool,
    /// Whether there were too many instances.
    pub instances: bool,
    /// Orders that were not tried.
    pub untried: usize,
    /// The same in words.
    pub text: String,
}

/// Something that a property names and that is not seen, or not always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unseen {
    /// The event of the property.
    pub event: String,
    /// The function, variable or mark as the property names it.
    pub name: String,
    /// Why.
    pub why: UnseenReason,
    /// The same in words.
    pub text: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Why something is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnseenReason {
    /// The program has no such function.
    Missing,
    /// The function is inlined everywhere.
    Inlined,
    /// Some calls of the function are inlined.
    PartlyInlined,
    /// The function was not built with norn.
    NotBuiltWithNorn,
    /// The function was never called.
    NotCalled,
    /// Calls of the function were not recorded.
    NotRecorded,
    /// A parameter is not passed in a register.
    ParameterGone,
    /// No such variable was used.
    NoVariable,
    /// No such mark was passed.
    NoMark,
}
