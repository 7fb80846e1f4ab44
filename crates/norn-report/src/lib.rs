//! The report of what a command found, the words for it, and the writers of its formats.
//!
//! A [`Report`] is one plain value: every command that finds something fills one in, and every
//! output format is written from it ([`writer`]). What is ranked, grouped, counted or shortened is
//! decided before a writer sees it, so all formats agree. Names of events, bug classes, verdicts and
//! consequences come from one place ([`vocabulary`]).
//!
//! The JSON form is versioned ([`SCHEMA`]) and has a published schema ([`schema`]).

mod report;
mod schema;
pub mod vocabulary;
pub mod writer;

pub use report::{
    Access, Address, AlsoSeen, Arrival, AtStake, AtomicOperation, Barrier, Batch, Block, BriefLine,
    BriefSection, Cause, CauseExperiment, Claimed, Command, Control, Death, Departure, Detail,
    Detour, EarlierUse, Ended, EventRow, ExitMeaning, ExitStatus, FailureCluster, FailureKind,
    Fault, Finding, Fix, FixSection, Harm, HeldLock, Holder, Inputs, InputsDiverged, Interleaving,
    LeftOut, Line, Localization, LockObjection, Misuse, NotReproduced, Note, Notice, Number,
    Object, ObjectMisuse, ObjectState, ObservedFailure, ObservedValue, Omissions, Parameter,
    Parting, Point, PredictedRuns, Print, Progress, Property, RankedPattern, RejectedLock, Remark,
    Report, Requested, Run, RunKind, Runner, Running, Schedule, ScoreInterval, Semaphore,
    SentSignal, SignalWait, Start, Status, Step, Story, Stuck, Summary, SuppressedBy, Suppression,
    Switch, Tool, Turn, Uncontrolled, Unordered, Unpredicted, UnrecordedOrder, UnrecordedSync,
    Unseen, UnseenReason, Update, Verdict, Waiter, Wakeup, Want, WeakOperation, Writing,
};
pub use schema::schema;
pub use vocabulary::Action;

/// The version of the JSON form. It grows when a reader of an older one could misread a report;
/// fields that are added do not change it.
pub const SCHEMA: u32 = 1;
