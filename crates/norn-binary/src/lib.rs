//! Reads the modules of the subject: ELF, symbols, DWARF.
//!
//! A trace contains numbers: the address of an instruction, the address of the accessed bytes. This
//! crate maps them back to the source: a function, a line, `table[2].next`. One [`Module`]
//! represents one file, an executable or a shared library.
//!
//! All addresses in the interface are *module-relative*: the link-time address, which is the
//! run-time address minus the load bias. [`Module::load_bias`] computes the bias from a line of
//! `/proc/PID/maps`.
//!
//! Debug information is written by many tools and damaged by some, so nothing fails after
//! [`Module::open`]: an unreadable section is treated as missing, and the result falls back from
//! lines to symbols, and from symbols to nothing.

mod arena;
mod call;
mod code_view;
mod copy;
mod debug_file;
mod demangle;
mod dwarf;
mod elf;
mod error;
mod frame_register;
mod frame_variable;
mod function;
mod instrument;
mod layout;
mod line;
mod local;
mod locked_operand;
mod module;
mod name;
mod object_type;
mod parameter;
mod path;
mod place;
mod pointee;
mod reach;
mod room;
mod rust_name;
mod rust_type;
mod scan;
mod scope;
mod split;
mod symbol;
mod sync_instruction;
mod transfer;
mod types;
mod unit;
mod value_type;
mod variable;
mod view;

pub use call::Call;
pub use code_view::{CodeFunction, CodeView};
pub use debug_file::DebugSearch;
pub use elf::{BuildId, Segment, TlsSegment};
pub use error::BinaryError;
pub use frame_register::FrameRegisters;
pub use function::{Entry as FunctionEntry, Import, is_named, recorded_name};
pub use instrument::{Instrumented, RUNTIME_NOTE};
pub use line::Frame;
pub use local::{CallSite, FramePart};
pub use locked_operand::first_locked_displacement;
pub use module::Module;
pub use object_type::{Argument, ObjectType, Pointee};
pub use parameter::Parameter;
pub use reach::Reach;
pub use rust_name::{TraitMethod, trait_method};
pub use symbol::{Symbol, source_name};
pub use sync_instruction::SyncInstruction;
pub use transfer::{Direction, SYSTEM_CALL, Transfer, Transfers, moves};
pub use variable::Variable;
