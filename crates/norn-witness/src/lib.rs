//! From a candidate to a schedule that makes it happen, or the reason why there is none.
//!
//! An [`Engine`] proposes a schedule; [`Checker`], which shares no code with any engine, accepts and
//! grades it against the trace; [`minimise`] makes it short. [`Witnesses`] does all three.
//! A schedule is a list of [turns](Turn) from the start of the program to the last event of the
//! candidate. What comes after is nobody's business: the program runs freely there.

mod check;
mod engine;
mod exact;
mod fate;
mod heap;
mod hybrid;
mod impasse;
mod memory;
mod minimise;
mod script;
mod stage;
mod witness;
mod world;
mod writer;

pub use check::{Checker, Refusal, Rule};
pub use engine::{Engine, Infeasible, Proposals};
pub use exact::{Exact, Limits};
pub use hybrid::Hybrid;
pub use minimise::Minimiser;
pub use witness::{Decider, Engines, Failure, Grade, Turn, Witness, Witnesses, events};
