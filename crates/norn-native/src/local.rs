//! Names of local variables.
//!
//! A local variable of the main thread has its own name, one of another thread is `name of T0.1`:
//! two threads in the same function have one each. So do thread-local variables, which libc keeps at the end of
//! a thread's stack. Memory without a name is described by its
//! distance from its frame, which is the same in every run of a program.

use std::sync::{Arc, Mutex, PoisonError};

use norn_binary::FramePart;
use norn_frontend::{Local, ObjectType, OnStack, Variable};
use norn_model::ThreadId;
use norn_trace::Trace;
use rustc_hash::FxHashMap;

use crate::{
    activation::{Activation, Activations},
    modules::Modules,
    symbols::neutral,
};

/// The activations of the threads for which a name was requested.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    threads: Mutex<FxHashMap<ThreadId, Arc<Activations>>>,
}

impl Locals {
    /// The local variable at an address, as an access of `size` bytes sees it.
    pub(crate) fn at(
        &self,
        (trace, modules): (&Trace, &Modules),
        on: OnStack,
        addr: u64,
        size: u64,
    ) -> Local {
        let name = trace.thread(on.thread).map(|it| it.name.to_string());
        let owner = name.unwrap_or_else(|| on.thread.to_string());
        if let Some(found) = modules.thread_local(addr, size, on.end).map(neutral) {
            let name = format!("{} of {owner}", found.name);
            return Local { name, variable: Some(found), target: None };
        }
        let threads = || self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let known = threads().get(&on.thread).cloned();
        let activations = known.unwrap_or_else(|| {
            let new = Arc::new(Activations::of(trace, modules, on.thread));
            threads().insert(on.thread, Arc::clone(&new));
            new
        });
        let pc = trace.site(on.site).map(|it| it.pc).filter(|_| !activations.partial);
        let Some(found) = find(&activations, modules, on.index, pc, (addr, size)) else {
            return Local { name: format!("stack of {owner}"), variable: None, target: None };
        };
        let name = match &found.variable {
            Some(it) if owner == "T0" => it.name.clone(),
            Some(it) => format!("{} of {owner}", it.name),
            None => format!("stack of {owner}, {} - {:#x}", found.function, found.below),
        };
        Local { name, variable: found.variable, target: found.target }
    }
}

/// A part of a frame.
struct Found {
    variable: Option<Variable>,
    /// What the variable points to.
    target: Option<ObjectType>,
    function: String,
    /// The distance below the frame address.
    below: u64,
}

/// Finds the frame that contains an address: the innermost frame above it. If an activation with an
/// unknown frame is in between, the address may belong to that one; then only a variable is certain.
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
                return Some(describe(activation, modules, call, frame - addr, size))
                    .filter(|it| it.variable.is_some() || certain);
            }
            frame => certain &= frame.is_some(),
        }
        call = Some(activation.from);
    }
    None
}

fn describe(
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
    let part = FramePart { function, call, offset, size };
    let variable = modules.local(part).map(neutral);
    let target = variable.as_ref().and_then(|_| modules.local_target(part));
    let frames = modules.frames(function + 1);
    let name = frames.last().and_then(|it| it.function.clone());
    Found { variable, target, function: name.unwrap_or_else(|| "frame".to_owned()), below }
}
