//! What a module of the subject says about itself: ELF, symbols, DWARF.
//!
//! A trace holds numbers: the address of an instruction, the address of the bytes it touched. This
//! crate turns them back into what a person wrote: a function, a line, `table[2].next`. One
//! [`Module`] stands for one file, an executable or a shared library.
//!
//! Every address that goes in or comes out is *module-relative*: the address the linker gave, which
//! is the address at run time minus the load bias. [`Module::load_bias`] finds the bias
//! from a line of `/proc/PID/maps`.
//!
//! Debug information is written by many tools and damaged by some, so nothing here fails after
//! [`Module::open`]: a section that cannot be read is a section that is not there, and the answer
//! falls back from lines to symbols, and from symbols to nothing.

mod arena;
mod call;
mod copy;
mod debug_file;
mod demangle;
mod dwarf;
mod elf;
mod error;
mod function;
mod instrument;
mod layout;
mod line;
mod local;
mod module;
mod name;
mod parameter;
mod path;
mod place;
mod room;
mod scan;
mod scope;
mod split;
mod symbol;
mod types;
mod unit;
mod value_type;
mod variable;
mod view;

pub use call::Call;
pub use debug_file::DebugSearch;
pub use elf::{BuildId, Segment, TlsSegment};
pub use error::BinaryError;
pub use function::{Entry as FunctionEntry, Import, is_named, recorded_name};
pub use instrument::{Instrumented, RUNTIME_NOTE};
pub use line::Frame;
pub use local::{CallSite, FramePart};
pub use module::Module;
pub use parameter::Parameter;
pub use symbol::{Symbol, source_name};
pub use variable::Variable;
