//! What all runs of a campaign have in common. It lives in the store, so that workers need not be
//! given the command again.

use std::time::Duration;

use norn_frontend::Launch;
use norn_model::OsText;
use norn_replay::Check;
use norn_trace::Bytes;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::{CampaignError, Criteria, Vary};

/// What all runs of a campaign have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The program and its arguments.
    pub command: Vec<OsText>,
    /// The [fingerprint](crate::fingerprint) of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The command that checks the output of a run.
    pub check: Option<String>,
    /// The pattern in the output of failing runs.
    pub fail_regex: Option<String>,
    /// Whether a run fails if its output differs from that of the first one.
    pub fail_on_output_change: bool,
    /// The number of events after which a run ends as not finished.
    pub max_steps: u64,
    /// The number of seconds after which it does.
    pub timeout: Option<u64>,
    /// The size in bytes at which the recording of a run stops.
    pub max_size: u64,
    /// Whether the values of memory accesses are recorded.
    pub values: bool,
    /// Number of slots of each window.
    pub window: usize,
    /// Whether runs that are not controlled observe all accesses, also at frequent sites.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observe_all: bool,
    /// How the runs differ.
    #[serde(default)]
    pub vary: Vary,
    /// What a first run measured.
    pub measured: Measured,
}

/// What a first run measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The approximate number of events of the program.
    pub events: u64,
    /// Its standard output, if others are compared with it.
    pub stdout: Option<Bytes>,
}

impl Settings {
    /// The settings of a stored campaign.
    pub fn parse(text: &str) -> Result<Settings, CampaignError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The form in a store.
    pub fn text(&self) -> Result<String, CampaignError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Whether the user asked for the same in both.
    pub fn is_same_request(&self, other: &Settings) -> bool {
        let bare =
            |it: &Settings| Settings { measured: Measured::default(), build: None, ..it.clone() };
        bare(self) == bare(other)
    }

    /// Whether both are about the same build of the program, as far as that is known.
    pub fn is_same_build(&self, build: Option<&str>) -> bool {
        self.build.as_deref().zip(build).is_none_or(|(one, other)| one == other)
    }

    /// Whether runs of both may be compared. The number of events may differ: it only tunes PCT.
    pub fn agrees(&self, other: &Settings) -> bool {
        self.is_same_request(other)
            && self.is_same_build(other.build.as_deref())
            && self.measured.stdout == other.measured.stdout
    }

    /// What counts as a failure.
    pub fn criteria(&self) -> Result<Criteria, CampaignError> {
        let timeout = self.timeout.map(Duration::from_secs);
        let expected = self.measured.stdout.clone().filter(|_| self.fail_on_output_change);
        Ok(Criteria {
            check: self.check.clone().map(|command| Check { command, timeout }),
            fail_regex: self.fail_regex.as_deref().map(Regex::new).transpose()?,
            expected_output: expected.map(|it| it.0),
        })
    }

    /// What all runs have in common, on top of what the tool decides.
    pub fn launch(&self, launch: Launch) -> Launch {
        Launch {
            command: self.command.iter().map(|it| it.0.clone()).collect(),
            values: self.values,
            max_size: self.max_size,
            timeout: self.timeout.map(Duration::from_secs),
            ..launch
        }
    }
}
