//! Forced schedules: runs a subject so that its threads go on as a strategy or a schedule says, and
//! says what came of it.
//!
//! The runtime inside the subject does the forcing; see [`norn_abi::control`]. This crate turns what
//! people write into what the runtime reads ([`plan`]), starts the run ([`run`]), tells what it led
//! to ([`judge`]) and why ([`story`]), fills in reports ([`mod@report`]), and makes a clip of it that can be replayed ([`capture`],
//! [`Clip`]). [`many`] does so many times over.

mod arrange;
mod calibrate;
mod capture;
mod check;
mod class;
mod clip;
mod code;
mod crash;
mod error;
mod failure;
mod fingerprint;
mod input;
mod judge;
mod label;
mod many;
mod name;
mod path;
mod plan;
mod points;
pub mod report;
mod run;
mod scene;
pub mod story;

pub use arrange::arrange;
pub use calibrate::calibrate;
pub use capture::capture;
pub use check::Check;
pub use clip::{Clip, Clock, Found, ModuleRef, PROGRAM, Timeouts};
pub use code::{Codes, program};
pub use error::ReplayError;
pub use failure::failure_site;
pub use input::{Call, Inputs};
pub use judge::verdict;
pub use many::{Goal, Kind, Many, Picture, Print, Tally, many};
pub use path::{Detour, detour};
pub use plan::plan;
pub use run::{Ran, process, run, run_with};
pub use scene::Scene;
