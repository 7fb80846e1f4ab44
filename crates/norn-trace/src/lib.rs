//! Traces on disk: a folder with a description of the run and, per process, its chunks of events.
//!
//! The recorder uses [`Writer`]. [`Run`] opens a folder, and [`Trace`] reads the events of one
//! process. Reading never fails on damaged bytes: it returns the intact part and a list of the
//! damage.

mod backtrace;
mod bytes;
mod calls;
mod channel;
mod chunk;
mod chunk_file;
mod class;
mod collected;
mod copy;
mod count;
mod damage;
mod error;
mod event_index;
mod events;
pub mod file;
mod folder;
mod input;
mod last;
mod load;
mod module;
mod motion;
mod op;
mod open;
mod outcome;
mod part;
mod rapid;
mod run;
mod scan;
mod select;
mod site;
mod stream;
mod survey;
mod thread;
mod thread_part;
mod trace;
mod visit;
mod wake;

pub use class::{class_code, class_of};
pub use collected::{Collected, CollectedAccess, CollectedPattern};
pub use count::Counts;
pub use damage::{Damage, Flaw};
pub use error::TraceError;
pub use event_index::EventIndex;
pub use events::ChunkEvents;
pub use folder::{FORMAT, Lifetime, PROGRAM, REPORT, RUN, Writer, can_be_overwritten, is_ours};
pub use input::{Bytes, FILE as INPUTS, Fed, Got, Input, Inputs, Parted, Request};
pub use module::Module;
pub use motion::Motion;
pub use norn_abi::{Kind, signal};
pub use norn_model::Order;
pub use outcome::{
    Controlled, Follow, Found, Left, MemoryError, MemoryModel, Outcome, Signal, Strategy, Why,
};
pub use rapid::{Exported, Imported, Source, StdError, export_std, import_std};
pub use run::{Blocked, End, GoneParameter, Process, Run, Stop, StopReason, WantedFunctions};
pub use select::{Positions, Selection};
pub use site::Site;
pub use stream::Events;
pub use thread::Thread;
pub use thread_part::ThreadPart;
pub use trace::{Losses, Trace};
