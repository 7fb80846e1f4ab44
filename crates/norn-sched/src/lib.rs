//! The scheduler of controlled runs: decides which thread runs next, and for how many events.
//!
//! [`Scheduler`] is a plain value. It contains every thread of the program as a task ([`TaskId`]),
//! the task that has the turn, what each task waits for, the virtual clock, and the strategy. It
//! makes no system call, holds no pointer and allocates nothing. It queries the outside through a
//! [`World`], and returns what the caller must do as a [`Decision`]. So the same world gives the
//! same decisions, and the tests drive the scheduler without any thread.
//!
//! The runtime holds one scheduler behind one lock, puts threads to sleep and wakes them.
//!
//! Each strategy is one file in `strategy/`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod arrival;
mod choose;
mod clock;
mod fairness;
mod handler;
mod interrupt;
mod limit;
mod look;
mod memory;
#[cfg(test)]
mod property;
mod rng;
mod run;
mod scheduler;
#[cfg(test)]
mod simulation;
mod spin;
mod strategy;
mod task;
mod tasks;
mod timer;
mod turn;
mod wait;
mod wake;
mod watch;
mod world;

pub use arrival::{Arrival, Asked};
pub use clock::since_start;
pub use look::TURN_PATIENCE;
pub use memory::{Memory, Object, Order};
pub use rng::{STEP, mix};
pub use scheduler::{NewThread, Scheduler};
pub use spin::is_fruitless;
pub use strategy::report::{Departure, FollowReport};
pub use task::{Event, Interruption, NEVER, TaskId};
pub use tasks::TASKS;
pub use timer::{TIMERS, TimerSetting};
pub use turn::{Decision, Grant, Verdict};
pub use wait::Wait;
pub use world::{Sleep, World};
