//! Names for what lies on stacks.
//!
//! A local variable is called by its own name if it is the first thread's, and `name of T0.1` if it
//! is another's: two threads in the same function have one each. What has no name is told by its
//! distance from the frame that it is in, which is the same in every run of a program.

use std::sync::{Arc, Mutex, PoisonError};

use norn_binary::{FramePart, Variable};
use norn_model::{SiteId, ThreadId};
use norn_trace::Trace;
use rustc_hash::FxHashMap;

use crate::{
    Modules,
    activation::{Activation, Activations},
};

/// An address on a stack, and what the owner of the stack is doing at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnStack {
    /// Whose stack.
    pub thread: ThreadId,
    /// The event that the thread has come to.
    pub index: u64,
    /// Where that is in the code.
    pub site: SiteId,
}

/// What lies on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// What it is called.
    pub name: String,
    /// The variable, if it is certain which one.
    pub variable: Option<Variable>,
}

/// Knows the frames of the threads that were asked for.
#[derive(Debug, Default)]
pub struct Locals {
    threads: Mutex<FxHashMap<ThreadId, Arc<Activations>>>,
}

impl Locals {
    /// What lies on a stack, as an access of `size` bytes sees it.
    pub fn at(
        &self,
        (trace, modules): (&Trace, &Modules),
        on: OnStack,
        addr: u64,
        size: u64,
    ) -> Local {
        let name = trace.thread(on.thread).map(|it| it.name.to_string());
        let owner = name.unwrap_or_else(|| on.thread.to_string());
        let threads = || self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let known = threads().get(&on.thread).cloned();
        let activations = known.unwrap_or_else(|| {
            let new = Arc::new(Activations::of(trace, modules, on.thread));
            threads().insert(on.thread, Arc::clone(&new));
            new
        });
        let pc = trace.site(on.site).map(|it| it.pc).filter(|_| !activations.partial);
        let Some(found) = find(&activations, modules, on.index, pc, (addr, size)) else {
            return Local { name: format!("stack of {owner}"), variable: None };
        };
        let name = match &found.variable {
            Some(it) if owner == "T0" => it.name.clone(),
            Some(it) => format!("{} of {owner}", it.name),
            None => format!("stack of {owner}, {} - {:#x}", found.function, found.below),
        };
        Local { name, variable: found.variable }
    }
}

/// A part of a frame.
struct Found {
    variable: Option<Variable>,
    function: String,
    /// How far below the frame address it is.
    below: u64,
}

/// The innermost frame above the address is the one that it is in. If a frame that is not known
/// lies in between, it may be that one's; then it is in no variable of this one.
fn find(
    activations: &Activations,
    modules: &Modules,
    index: u64,
    pc: Option<u64>,
    (addr, size): (u64, u64),
) -> Option<Found> {
    let mut call = pc;
    let mut certain = true;
    for activation in activations.during(index) {
        match activation.frame() {
            Some(frame) if frame > addr => {
                return Some(look(activation, modules, call, frame - addr, size))
                    .filter(|it| it.variable.is_some() || certain);
            }
            frame => certain &= frame.is_some(),
        }
        call = Some(activation.from);
    }
    None
}

fn look(
    activation: &Activation,
    modules: &Modules,
    call: Option<u64>,
    below: u64,
    size: u64,
) -> Found {
    let Activation { function, .. } = *activation;
    let made = |pc: &u64| modules.call_site(*pc).is_some_and(|it| it.function == function);
    let call = call.filter(made);
    let offset = i64::try_from(below).map_or(i64::MIN, |it| -it);
    let variable = modules.local(FramePart { function, call, offset, size });
    let frames = modules.frames(function + 1);
    let name = frames.last().and_then(|it| it.function.as_deref());
    Found { variable, function: name.unwrap_or("frame").to_owned(), below }
}
