//! Likely invariants: what held at the reads of shared memory in all passing runs.
//!
//! After Ernst et al. (*The Daikon system for dynamic detection of likely invariants*, 2007) and its use by
//! ConSeq (Zhang et al., ASPLOS 2011, Section 5.2): if another order of the threads lets a read see a value that
//! breaks what always held, that order is worth trying, even if no assertion checks it.
//!
//! A [`Learner`] takes the [samples](sample) of one run after the other. Each family of invariants is one file; it
//! keeps what still holds, and proposes a [`Property`] at the end. The [text form](text) is made
//! for people: they delete what holds only by chance, and add what they know.

mod array_sum;
mod constant;
mod equality;
mod invariant;
mod learner;
mod monotone;
mod non_zero;
mod one_of;
mod ordering;
mod range;
mod sample;
pub mod text;

pub use invariant::{Direction, Invariant, Operand, Property, ReadPoint, Support};
pub use learner::Learner;
pub use sample::{Names, read_point};
