//! Campaigns: from one passing run to bugs that the program itself confirms.
//!
//! A run is recorded ([`base`]); the anomalies that other orders of its events allow are predicted;
//! for each candidate a schedule is computed and forced on the real program ([`attempt`]). A
//! candidate is confirmed when the program reaches its last event as scheduled ([`confirm`]). A run
//! with new coverage is a trace to predict from as well, so that bugs behind other bugs are found.
//! At intervals, and at the end, some runs are made without a prediction: mutations of earlier runs
//! ([`guide`]) and random schedules ([`explore`]). A failure there is observed, and as real as a
//! confirmed one. All of this is one loop ([`campaign`]); hunts
//! for anomalies ([`hunt`]) and checks of properties ([`check`]) differ in where candidates come
//! from and in how a run is judged.

mod atomic_set;
mod attempt;
mod base;
mod campaign;
mod check;
mod claim;
mod confirm;
mod continuation;
mod danger;
mod dependence;
mod describe;
mod diagnose;
mod engine;
mod executor;
mod explore;
mod finding;
mod fix;
mod forecast;
mod foreign;
mod group;
mod guide;
mod handover;
mod hunt;
mod identity;
mod imported;
mod interleaving;
mod learn;
mod library_sync;
mod news;
mod observe;
mod omission;
mod options;
mod outlook;
mod overwrite;
mod perturbation;
mod predicted;
mod ranking;
pub mod report;
mod reproduce;
mod section;
mod shorten;
mod source;
mod source_key;
mod sparse;
mod stable_name;
mod switch;
mod unrecorded_sync;
mod unseen;
mod violation;
mod whole;
mod woken;

pub use base::Base;
pub use check::{Check, Checked, check};
pub use describe::Description;
pub use diagnose::Cause;
pub use finding::{Confirmed, Finding, Status};
pub use forecast::{Forecast, Foreseen, forecast};
pub use hunt::{Hunt, hunt};
pub use imported::imported_outlook;
pub use learn::{Learnt, learn};
pub use news::{Listener, News, Phase, Stage};
pub use norn_report::Access;
pub use norn_witness::{Engines, Failure};
pub use observe::Observed;
pub use omission::Omissions;
pub use options::{CandidateSource, Options};
pub use outlook::{Outlook, Prospect, Schedules, outlook};
pub use predicted::predicted_clips;
pub use stable_name::stable;
pub use unseen::{Unseen, Why};
pub use violation::{Harm, State, Violation};
