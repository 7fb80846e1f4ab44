//! Forced schedules: runs a subject so that a strategy or a schedule decides which thread runs next,
//! and determines the consequence.
//!
//! A [`norn_frontend::FrontEnd`] does the forcing. This crate starts the run ([`run`]), determines
//! its consequence ([`judge`]) and the reasons for it ([`story`]), fills in reports
//! ([`mod@report`]), and makes a clip that can be replayed ([`capture`], [`Clip`]). [`run_batch`]
//! repeats a run.

mod arrange;
mod batch;
mod calibrate;
mod capture;
mod check;
mod claim;
mod clip;
mod crash;
mod critical;
mod error;
mod failure;
mod fingerprint;
mod input;
mod judge;
mod label;
mod path;
mod points;
pub mod report;
mod run;
mod run_folder;
mod source_lines;
pub mod story;
mod symbolized_trace;

pub use arrange::arrange;
pub use batch::{Batch, BatchMode, Fingerprint, Hashes, RunKind, Tally, run_batch};
pub use calibrate::{Calibration, calibrate};
pub use capture::capture;
pub use check::Check;
pub use claim::{Claim, ClaimedEvent};
pub use clip::{Clip, Origin};
pub use critical::{CriticalEvent, critical_events};
pub use error::ReplayError;
pub use failure::failure_site;
pub use judge::verdict;
pub use path::{Detour, detour};
pub use points::point;
pub use run::{CompletedRun, process, run};
pub use run_folder::{RunFolder, RunFolders};
pub use source_lines::{Moved, is_source_file};
pub use symbolized_trace::SymbolizedTrace;
