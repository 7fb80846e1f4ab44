//! The vocabulary of Norn: threads, sites, events, candidates, schedules, verdicts and
//! consequences.
//!
//! Plain data: nothing here reads files, depends on a file format or starts threads, so every stage
//! can use it without depending on another one. [`Trace`] is a whole run in memory; [`text`] is the
//! notation of traces in tests; [`Effect`] is the meaning of an event for an analysis.
#![deny(clippy::wildcard_enum_match_arm)]

mod bug;
mod cancel;
mod candidate;
mod channel;
mod condition;
mod descriptor;
mod effect;
mod event;
mod explanation;
mod field;
mod function_pattern;
mod glob;
mod handler;
mod held;
mod held_index;
mod ids;
mod kind;
mod location;
pub mod memory_model;
mod merge;
mod name;
mod op;
mod op_table;
mod operand;
mod os_text;
mod point;
mod potential_failure;
mod printable;
mod schedule;
mod semaphore;
mod spelling;
mod stack;
mod symbol;
pub mod text;
mod trace;
mod value_type;
mod verdict;

pub use bug::{BugId, FailureSite};
pub use cancel::Cancel;
pub use candidate::{Access, Apart, Candidate, Scope, Step};
pub use channel::Channels;
pub use condition::{Comparison, Condition, Expression, Operator, ReadValues};
pub use descriptor::{descriptor_number, descriptor_object};
pub use effect::{
    AnnotationEffect, BarrierEffect, BlockEffect, ChannelEffect, ConditionEffect, Effect,
    LockEffect, MemoryAccess, ObjectEffect, OnceEffect, SemaphoreEffect, ThreadEffect,
};
pub use event::{Event, Op, Order};
pub use explanation::Explanation;
pub use field::{Field, Operand};
pub use function_pattern::FunctionPattern;
pub use glob::{Glob, normalize_name};
pub use handler::Handlers;
pub use held::Held;
pub use held_index::HeldIndex;
pub use ids::{EventId, NameId, SiteId, StackId, ThreadId, ThreadName};
pub use kind::{BugClass, CandidateKind};
pub use location::Location;
pub use merge::{Merged, Start, Stream};
pub use name::Names;
pub use norn_window::granule;
pub use op::OpKind;
pub use operand::{AtomicOp, LockMode, Object, Ordering, Outcome, RmwOp, Value, WokenBy};
pub use os_text::OsText;
pub use point::{Class, Code, Line, Point, PointError, Visit};
pub use potential_failure::{CriticalRead, PotentialFailure, PotentialFailureKind};
pub use printable::{excerpt, is_printable, printable};
pub use schedule::{Schedule, Segment, Until, UntilError};
pub use semaphore::mutexes;
pub use spelling::closest;
pub use stack::{Frame, Stacks};
pub use symbol::Symbols;
pub use trace::{Role, Site, Thread, Trace};
pub use value_type::{ValueKind, ValueType, truncated};
pub use verdict::{
    Arrival, CONSEQUENCES, Consequence, Departure, Limit, MemoryFault, Misuse, Obstacle, VERDICTS,
    Verdict,
};
