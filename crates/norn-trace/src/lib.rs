//! Traces on disk: a folder with a description of the run and, per process, its chunks of events.
//!
//! [`Writer`] is what the recorder uses. [`Run`] opens a folder again, [`Trace`] reads the events
//! of one process. Reading never fails on damaged bytes: it returns what is whole and says what
//! is not.

mod chunk;
mod folder;
mod run;

pub use folder::{FORMAT, Writer};
pub use norn_model::Order;
pub use run::{Blocked, End, Process, Run, Stop, StopReason};
