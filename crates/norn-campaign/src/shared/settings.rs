//! The program of a shared hunt. What is searched for is not part of it: executions follow from their plans.

use norn_model::OsText;
use serde::{Deserialize, Serialize};

use crate::CampaignError;

/// The program of a shared hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HuntSettings {
    /// The program and its arguments.
    pub command: Vec<OsText>,
    /// The folder in which it is run, on all machines: traces name its files.
    pub directory: OsText,
    /// The [fingerprint](crate::fingerprint) of the program.
    pub build: Option<String>,
    /// The version of norn.
    pub norn: String,
}

impl HuntSettings {
    /// The settings of a stored hunt.
    pub fn parse(text: &str) -> Result<HuntSettings, CampaignError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The form in a store.
    pub fn text(&self) -> Result<String, CampaignError> {
        Ok(serde_json::to_string(self)?)
    }
}
