//! The seam between the tool and the programs that it runs.
//!
//! A [`FrontEnd`] launches a subject ([`Launch`]), lets it follow a [`Plan`], writes its events as a
//! trace, and symbolizes that trace ([`Symbols`]). Prediction, witnesses, campaigns and reports use
//! nothing else: they know no file format of programs, no debug information and no layout of a
//! threading library. `norn-native` is the front end for ELF programs.

mod error;
mod heap_name;
mod heap_type;
mod inputs;
mod interrupt;
mod launch;
mod memory;
mod plan;
mod pointers;
mod recording;
mod rust_name;
mod symbols;

use std::fmt::Debug;

use norn_trace::Trace;

pub use error::FrontEndError;
pub use heap_name::{HeapName, HeapNames};
pub use heap_type::HeapTypes;
pub use inputs::{Call, Inputs};
pub use interrupt::{Interrupt, SIGNALS, note};
pub use launch::{Collect, Delays, Launch, Streams};
pub use memory::{Memory, OnStack, Region};
pub use norn_model::Cancel;
pub use plan::{After, Clock, Guide, ModuleRef, PROGRAM, Plan, Timeouts};
pub use recording::{Cut, FailureMessage, Recording};
pub use symbols::{
    Direction, Gap, Local, ModuleState, ModuleSummary, ObjectType, Operation, Owner, Pointee,
    Symbols, UnrecordedSync, Variable,
};

/// Runs the programs of one platform.
pub trait FrontEnd: Debug + Send + Sync {
    /// Runs a subject to its end, by the plan if there is one, and writes its trace.
    fn run(&self, launch: &Launch) -> Result<Recording, FrontEndError>;

    /// Number of runs that it can make at a time, if that is not for its user to decide. It may change.
    fn capacity(&self) -> Option<usize> {
        None
    }

    /// Opens the symbols of a trace. Traces of one program usually share most of them, so a front
    /// end keeps what takes long to load.
    fn symbols(&self, trace: &Trace) -> Box<dyn Symbols>;
}
