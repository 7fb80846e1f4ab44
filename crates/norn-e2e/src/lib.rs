//! The end-to-end kit: shared by tests and measurements of the whole tool.
//!
//! [`process`] runs a command to its end or to a time limit, [`tool`] says whether an optional tool is
//! installed, [`subject`] lists the programs in `subjects/` with what their heads announce, and
//! [`hunt`] reads the JSON report of a hunt and compares it with the announcement, [`schema`] validates
//! reports, [`localize`] compares rankings with the true causes, [`interrupt`] interrupts commands and looks
//! for what they leave behind, [`browser`] opens pages, and [`postgres`] starts servers. Tests of the command use it, and so do
//! `cargo xtask scoreboard` and the tests of other crates that need a
//! compiler.
#![allow(clippy::unwrap_used, reason = "a kit for tests: what goes wrong here fails the test")]

pub mod browser;
mod disposition;
pub mod hunt;
pub mod interrupt;
pub mod localize;
pub mod postgres;
pub mod process;
pub mod schema;
pub mod subject;
pub mod tool;
