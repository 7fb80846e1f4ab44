//! The story of a failure: what happened and why, as data. Who prints it is the command.
//!
//! A run leaves a trace, what each thread was blocked in, and what the runtime found. One pass over
//! the trace ([`past`]) gathers what led to the end; [`guide`] names it; and for each kind of failure
//! there is a file that says what matters of it.

mod death;
mod guide;
mod last;
mod look;
mod memory;
mod past;
mod running;
pub mod size;
mod stuck;
mod wait;

use norn_model::Consequence;
use serde::Serialize;

pub use self::{
    death::{Death, Fault},
    guide::{Place, Step, Thing},
    last::{Moment, moments},
    look::{Look, Writing},
    memory::{Block, Misuse},
    running::{Runner, Running},
    stuck::{Holder, Stuck, Waiter, Want},
    wait::{Barrier, Notice, Semaphore, Wakeup},
};
use self::{guide::Guide, past::Past};
use crate::Ran;

/// What happened, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Story {
    /// The kind of failure, and what there is to say about it.
    #[serde(flatten)]
    pub plot: Plot,
    /// The last events before it.
    pub last: Vec<Moment>,
}

/// The kinds of failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plot {
    /// Nobody can go on.
    Stuck(Stuck),
    /// Some go on and get nowhere.
    Running(Running),
    /// Memory was used wrongly.
    Misuse(Misuse),
    /// The program died.
    Death(Death),
}

/// Tells how a run came to fail; none if it did not, or if its status is all that there is to say.
pub fn story(ran: &Ran) -> Option<Story> {
    let outcome = &ran.recording.run.controlled.as_ref()?.outcome;
    if matches!(ran.consequence, Consequence::None | Consequence::Exit(_) | Consequence::Check(_)) {
        return None;
    }
    let scene = ran.scene().ok()??;
    let (past, memory) = Past::of(&scene.trace);
    let guide = Guide { scene, memory };
    let plot = match &ran.consequence {
        Consequence::Deadlock => Plot::Stuck(stuck::tell(&guide, &past)),
        Consequence::Livelock | Consequence::Hang(_) => Plot::Running(running::tell(&guide, &past)),
        Consequence::Memory(fault) => Plot::Misuse(memory::tell(&guide, *fault, outcome)?),
        consequence => Plot::Death(death::tell(&guide, &past, consequence, outcome)),
    };
    Some(Story { plot, last: last::tell(&guide, &past) })
}
