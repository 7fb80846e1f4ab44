//! Forced schedules: runs a subject so that its threads go on as a strategy or a schedule says, and
//! says what came of it.
//!
//! The runtime inside the subject does the forcing; see [`norn_abi::control`]. This crate turns what
//! people write into what the runtime reads ([`plan`]), starts the run ([`run`]), tells what it led
//! to ([`judge`]) and why ([`story`]), and makes a clip of it that can be replayed ([`capture`], [`Clip`]).

mod capture;
mod class;
mod clip;
mod code;
mod error;
mod judge;
mod label;
mod name;
mod plan;
mod run;
mod scene;
pub mod story;

pub use capture::capture;
pub use clip::{Clip, Clock, Found, ModuleRef, PROGRAM};
pub use code::{Codes, program};
pub use error::ReplayError;
pub use judge::verdict;
pub use plan::plan;
pub use run::{Ran, run};
pub use scene::Scene;
