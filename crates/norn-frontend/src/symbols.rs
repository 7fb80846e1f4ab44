//! Symbolization: from the numbers of a trace to the names in the source.

use std::{fmt::Debug, path::Path, path::PathBuf, sync::Arc};

use norn_model::{Condition, Location, Object, PotentialFailure, ValueType};
use norn_trace::{Module, Trace};

use crate::OnStack;

/// Symbolizes one trace.
///
/// A *site* is the number that the trace has for a place in the code. It lies in a module, which
/// the trace lists: a file of code, with the range of its numbers.
pub trait Symbols: Debug + Send + Sync {
    /// The source locations of a site: the function, and the functions into which it was inlined,
    /// innermost first. A location without a function and a file has only its module.
    fn frames(&self, pc: u64) -> Arc<[Location]>;

    /// The module that contains an address.
    fn module(&self, addr: u64) -> Option<&Module>;

    /// The owner of a frame.
    fn owner(&self, frame: &Location) -> Owner;

    /// Whether a frame is an operation of an atomic variable, such as `std::atomic<int>::load`, as
    /// opposed to a function of a library that uses atomic variables for itself.
    fn is_atomic_operation(&self, frame: &Location) -> bool;

    /// Whether a frame is an operation that accesses memory in a way that the language calls volatile.
    fn is_volatile_operation(&self, _frame: &Location) -> bool {
        false
    }

    /// What the language writes between a pointer and a member of what it points to.
    fn member_operator(&self) -> &'static str {
        "->"
    }

    /// Whether a frame belongs to the libraries that come with the language, as opposed to other ones.
    fn is_of_language(&self, _frame: &Location) -> bool {
        false
    }

    /// Whether a frame belongs to a part of the language's library that synchronises threads, and that is
    /// prepared for any order of them.
    fn is_synchronisation(&self, _frame: &Location) -> bool {
        false
    }

    /// Whether an address is in a static variable of a library without hooks, such as the one of C++.
    fn is_in_library(&self, _addr: u64) -> bool {
        false
    }

    /// Whether a frame is left out where a frame of the program follows: functions of the language's
    /// library through which every access goes.
    fn is_folded(&self, _frame: &Location) -> bool {
        false
    }

    /// The global variable at an address, as an access of `size` bytes sees it.
    fn variable(&self, addr: u64, size: u64) -> Option<Variable>;

    /// The objects that an operation accesses, by the types that the code has for its address. The
    /// operation is given by its site and callers, innermost first.
    fn accessed_objects(&self, stack: &[u64], operation: Operation) -> Vec<Pointee>;

    /// The type of what the pointer at an address points to, if it is in a global variable.
    fn pointer_target(&self, addr: u64) -> Option<ObjectType>;

    /// The part of `count` consecutive objects of a type that an access touches: `.head`, `[2].next`, or
    /// nothing if it is all of them.
    fn part_of(&self, of: &ObjectType, count: u64, offset: u64, size: u64) -> Variable;

    /// The local variable at an address, as an access of `size` bytes sees it.
    fn local(&self, trace: &Trace, on: OnStack, addr: u64, size: u64) -> Local;

    /// The size of a synchronisation object, which distinguishes a variable from its first member.
    fn object_size(&self, class: Object) -> u64;

    /// Whether the write and the read with these sites, one after the other, are one copy of memory
    /// from the read address to the written one.
    fn is_copy(&self, write: u64, read: u64) -> bool;

    /// The file of the program that the command of the run starts, if it still exists.
    fn program(&self) -> Option<&Path>;

    /// Identifies the build of a module.
    fn build(&self, module: &Path) -> Option<String>;

    /// A summary of each module.
    fn modules(&self) -> Vec<ModuleSummary>;

    /// Whether there is code that may synchronise threads without being recorded: inline assembly,
    /// or a library that was not built by `norn cc`.
    fn has_unrecorded_sync(&self) -> bool;

    /// Unrecorded synchronisation that a thread may have executed between two consecutive events.
    fn unrecorded_sync(&self, gap: Gap<'_>) -> Option<UnrecordedSync>;

    /// Whether a site is in code of the program or of a library other than those of the languages.
    fn is_program_code(&self, site: u64) -> bool;

    /// A call of libc between two events of a thread in program code, or during one of them, that may have
    /// moved data in this direction without being recorded.
    fn unrecorded_transfer(&self, gap: Gap<'_>, direction: Direction) -> Option<UnrecordedSync>;

    /// The places in recorded code where the program can visibly fail and the reads that decide
    /// whether it does, by ascending address. There are at least the reads up to this number of dependence
    /// steps. Computed on the first call.
    fn potential_failures(&self, distance: u32) -> Arc<[PotentialFailure]>;

    /// When a potential failure happens: a condition on what the reads at sites saw, if it is known. The
    /// failure was found with this distance.
    fn failure_condition(&self, failure: &PotentialFailure, distance: u32) -> Option<Condition>;
}

/// The code between two consecutive events of a thread, by their sites.
#[derive(Clone, Copy, Debug)]
pub struct Gap<'a> {
    /// The site of the earlier event.
    pub after: u64,
    /// The calls that led to it, by their return addresses, innermost first.
    pub callers: &'a [u64],
    /// The site of the later event; 0 if the thread has no further event.
    pub before: u64,
    /// The calls that led to the later event.
    pub before_callers: &'a [u64],
}

/// An instruction that may synchronise threads without being recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecordedSync {
    /// The instruction, as in assembly: `lock xadd`.
    pub instruction: String,
    /// Its source, innermost first. Without debug information, only its function or module.
    pub frames: Vec<Location>,
}

/// Which way data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Out of the thread.
    Send,
    /// To the thread.
    Receive,
}

/// The owner of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The program of the user.
    Program,
    /// A library of the system or of the language.
    Library,
    /// The part of Norn that is inside the program.
    Runtime,
}

/// How an operation gets the address of what it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// A read of memory.
    Read,
    /// A write to memory, or an atomic operation.
    Write,
    /// A call of a library function, which gets it as this argument, from 0.
    Call(u8),
}

/// The type of an object in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectType {
    /// The number that the front end has for it.
    pub id: u32,
    /// Its name: `bank::Account`.
    pub name: Arc<str>,
    /// Its size in bytes, not zero.
    pub size: u64,
    /// Who declares it; none if it is no record but a number or a pointer.
    pub record_of: Option<Owner>,
}

/// An object into which an address points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// The type of the object.
    pub object: ObjectType,
    /// The distance of the address from its beginning; unknown for an element of an array.
    pub distance: Option<u64>,
}

/// A variable, or the part of one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The full path to the part: `bank::accounts[2].balance`.
    pub name: String,
    /// The offset of the part in the variable.
    pub offset: u64,
    /// The type of the part, if it has no members.
    pub value_type: Option<ValueType>,
}

/// What is at an address on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name; where it is on the stack, if no variable is known to be there.
    pub name: String,
    /// The variable, if it is certain which one.
    pub variable: Option<Variable>,
    /// The type of what it points to, if it is a pointer.
    pub target: Option<ObjectType>,
}

/// One line of `norn info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSummary {
    /// Its file.
    pub path: PathBuf,
    /// Whether its memory accesses are recorded, if that can be determined.
    pub instrumented: Option<bool>,
    /// What is known of it.
    pub state: ModuleState,
}

/// What is known of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleState {
    /// Functions, files and lines.
    Lines,
    /// Function names only: there is no debug information.
    Symbols,
    /// Exported names at most: it is stripped.
    Stripped,
    /// Nothing: the file is gone, or is no module.
    Unreadable,
}
