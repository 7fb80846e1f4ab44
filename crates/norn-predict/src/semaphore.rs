//! The posts of a semaphore that must come before its waits.
//!
//! The n-th wait of a thread needs n posts, minus the initial value. Any posts will do; but if all
//! other threads together post too few, a minimum number of one thread's posts is required.

use norn_model::{Effect, SemaphoreEffect, Trace, memory_model::Clock};
use rustc_hash::FxHashMap;

use crate::outline::Outline;

/// All semaphores of a trace.
#[derive(Debug, Default)]
pub(crate) struct Semaphores(FxHashMap<u64, Semaphore>);

#[derive(Debug, Default)]
struct Semaphore {
    first: u64,
    /// By thread: the indices of its posts, in order.
    posts: Vec<(usize, Vec<u32>)>,
    /// By thread: the clocks of its posts so far.
    clocks: FxHashMap<usize, Vec<Clock>>,
    /// By thread: the number of its waits so far.
    waits: FxHashMap<usize, u64>,
}

impl Semaphores {
    /// Counts all posts.
    pub(crate) fn new(trace: &Trace, outlines: &[Outline]) -> Self {
        let mut all: FxHashMap<u64, Semaphore> = FxHashMap::default();
        for (thread, outline) in outlines.iter().enumerate() {
            for &index in &outline.sync_points {
                let event = &trace.threads[thread].events[index as usize];
                let Effect::Semaphore(effect) = event.op.effect() else { continue };
                match effect {
                    SemaphoreEffect::Post { semaphore } => {
                        all.entry(semaphore).or_default().will_post(thread, index);
                    }
                    SemaphoreEffect::Init { semaphore, value } => {
                        all.entry(semaphore).or_default().first = value;
                    }
                    SemaphoreEffect::Wait { .. } | SemaphoreEffect::Failed { .. } => {}
                }
            }
        }
        Semaphores(all)
    }

    /// Notes a post.
    pub(crate) fn post(&mut self, semaphore: u64, thread: usize, now: Clock) {
        if let Some(it) = self.0.get_mut(&semaphore) {
            it.clocks.entry(thread).or_default().push(now);
        }
    }

    /// The clocks that come before a wait.
    pub(crate) fn wait(&mut self, semaphore: u64, thread: usize, index: u32) -> Vec<&Clock> {
        self.0.get_mut(&semaphore).map_or(Vec::new(), |it| it.wait(thread, index))
    }
}

impl Semaphore {
    fn will_post(&mut self, thread: usize, index: u32) {
        match self.posts.last_mut() {
            Some((last, posts)) if *last == thread => posts.push(index),
            _ => self.posts.push((thread, vec![index])),
        }
    }

    fn wait(&mut self, thread: usize, index: u32) -> Vec<&Clock> {
        let waits = self.waits.entry(thread).or_default();
        *waits += 1;
        let needed = waits.saturating_sub(self.first);
        // A thread's own posts count only if they come before the wait.
        let useful = |(poster, posts): &(usize, Vec<u32>)| {
            if *poster == thread { posts.partition_point(|it| *it < index) } else { posts.len() }
        };
        let total: usize = self.posts.iter().map(useful).sum();
        let others = self.posts.iter().filter(|it| it.0 != thread);
        let clocks = others.filter_map(|it| {
            let without = total - useful(it);
            let of_this = usize::try_from(needed).unwrap_or(usize::MAX).saturating_sub(without);
            self.clocks.get(&it.0)?.get(of_this.checked_sub(1)?)
        });
        clocks.collect()
    }
}
