//! The C++ memory model: which events of one run happen before which.
//!
//! Two questions must be kept apart. *Can the events happen in this order?* is about values, and an
//! engine or the checker answers it: on this machine every run is sequentially consistent, and a load
//! sees the last store whatever its memory order is. *Does one event happen before the other?* is
//! about the memory orders that the program asked for, and is answered here, after C++20
//! \[intro.races\]:
//!
//! - An operation that acquires and reads a value of a *release sequence* comes after the operation
//!   that releases and heads the sequence, and after all that this thread did before. A sequence is a
//!   store followed by read-modify-writes of any thread. Any other store ends it, even one of the same
//!   thread: that rule of C++11 is gone.
//! - A fence that releases makes each later atomic write of its thread the head of a sequence, for all
//!   that came before the fence; a fence that acquires comes after what earlier relaxed reads of its
//!   thread would have acquired.
//! - `seq_cst` is acquire and release: its single total order adds nothing to happens-before. `consume`
//!   is acquire, as in every compiler. A relaxed operation orders nothing.
//!
//! Locks, conditions, threads and the other operations on synchronisation objects order as usual
//! ([`HappensBefore`]). Plain accesses never do.
//!
//! The checker and the oracle of the tests have implementations of their own, so that a mistake here
//! cannot hide in them.

mod atomic;
mod barrier;
mod clock;
mod happens_before;

pub use atomic::AtomicClocks;
pub use barrier::Barriers;
pub use clock::{Clock, ClockHistory, Clocks};
pub use happens_before::{AtomicEdges, Edges, HappensBefore};
