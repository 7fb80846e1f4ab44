//! Many runs of one program, to find out why some of them fail.
//!
//! A [`Localizer`] takes the runs one after another, from traces ([`RecordedRun`]) or from the store
//! of a campaign that makes them under varied schedules ([`StoredEvidence`]), and ranks the
//! interleaving patterns that separate the failing runs from the passing ones. The analysis itself is
//! `norn-localize`, the store is `norn-store`.
//!
//! Hunts are shared in another way: a [`SharedFrontEnd`] lets others execute the program
//! ([`HuntWorker`]), and the hunt does not notice.

mod campaign;
mod code_site;
mod criteria;
mod error;
mod example;
mod experiment;
mod failure;
mod finished_run;
mod intervene;
mod localizer;
mod mutex;
mod predicted;
mod program;
mod recorded;
mod run_patterns;
mod section;
mod settings;
mod shared;
mod stored;
mod stored_evidence;
mod title;
mod variation;
mod worker;

pub use campaign::{Campaign, CampaignProgress, Conducted};
pub use code_site::CodeSite;
pub use criteria::Criteria;
pub use error::CampaignError;
pub use experiment::Experiment;
pub use failure::{Failure, RunOutcome};
pub use localizer::{Localizer, Origin, RunEvidence};
pub use predicted::Predict;
pub use program::fingerprint;
pub use recorded::RecordedRun;
pub use run_patterns::RunPatterns;
pub use settings::{Measured, Settings};
pub use shared::{HuntSettings, HuntWorker, SharedFrontEnd};
pub use stored_evidence::{Reproduce, StoredEvidence, run_name};
pub use variation::{Variation, Vary};
pub use worker::{is_dead, worker_name};
