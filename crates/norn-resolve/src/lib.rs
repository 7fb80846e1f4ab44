//! From the numbers of a trace to what a person wrote: sites to source lines, addresses to
//! variables, heap blocks and stacks.
//!
//! [`Modules`] knows the files that were mapped and answers for code and globals. [`Memory`] is
//! fed the events of a trace in order and knows what an address belongs to at that time. [`Locals`]
//! knows the frames on the stacks.

mod activation;
mod local;
mod memory;
mod modules;

pub use local::{Local, Locals, OnStack};
pub use memory::{Memory, Place};
pub use modules::{Mapped, ModuleState, ModuleSummary, Modules};
pub use norn_binary::{Frame, Reading, Variable};
