//! The places of crashes. Symbolization reads debug information, and many runs crash at the same
//! place: each is symbolized once.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use norn_frontend::{FrontEnd, Recording};
use norn_model::Location;
use norn_trace::Trace;

use crate::{SymbolizedTrace, run::process};

/// Source locations, by module and offset there.
#[derive(Debug, Default)]
pub(crate) struct Crashes(Mutex<BTreeMap<(PathBuf, u64), Option<Location>>>);

impl Crashes {
    /// The source location of a place in a run that has left a trace.
    pub(crate) fn site(
        &self,
        front_end: &dyn FrontEnd,
        trace: &Path,
        recording: &Recording,
        pc: u64,
    ) -> Option<Location> {
        let process = process(recording);
        let opened = Trace::open(trace, process).ok()?;
        let module = opened.modules().iter().rev().find(|it| (it.start..it.end).contains(&pc))?;
        let place = (module.path.clone(), pc - module.start);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = || SymbolizedTrace::open(front_end, trace, process).ok()?.location(pc);
        known.entry(place).or_insert_with(name).clone()
    }
}
