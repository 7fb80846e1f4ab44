//! Brings a whole trace into memory, for analyses that go over it many times.

use norn_model as model;
use rayon::prelude::*;

use crate::{ChunkEvents, Trace};

impl Trace {
    /// All events in memory, decoded in parallel. Takes more than a hundred bytes an event: look
    /// at [`Trace::counts`] first.
    pub fn load(&self) -> model::Trace {
        let mut chunks: Vec<_> = self.par_chunks().map(collect).collect();
        let threads = self.threads().iter().map(|thread| {
            let parts = &mut chunks[thread.chunks.clone()];
            let mut events = Vec::with_capacity(parts.iter().map(Vec::len).sum());
            parts.iter_mut().for_each(|it| events.append(&mut std::mem::take(it)));
            let (id, name) = (thread.id, thread.name.clone());
            model::Thread { id, name, role: thread.role, parent: thread.parent, events }
        });
        model::Trace {
            order: self.order(),
            threads: threads.collect(),
            sites: self.sites().iter().map(|it| model::Site { pc: it.pc, place: None }).collect(),
            stacks: self.stacks().clone(),
            symbols: model::Symbols::default(),
        }
    }
}

fn collect(chunk: ChunkEvents<'_>) -> Vec<model::Event> {
    let mut events = Vec::with_capacity(chunk.len());
    chunk.for_each(|it| events.push(it));
    events
}
