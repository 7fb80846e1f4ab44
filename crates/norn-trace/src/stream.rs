//! The events of a thread, chunk after chunk.

use std::ops::Range;

use norn_model::Event;

use crate::{ChunkEvents, Trace};

/// The events of one thread.
#[derive(Debug)]
pub struct Events<'a> {
    trace: &'a Trace,
    chunks: Range<usize>,
    current: Option<Box<ChunkEvents<'a>>>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(trace: &'a Trace, chunks: Range<usize>) -> Self {
        Events { trace, chunks, current: None }
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self) -> Option<()> {
        let next = self.chunks.next()?;
        self.current = Some(Box::new(ChunkEvents::new(self.trace, next)));
        Some(())
    }

    /// The bytes that the last event read or wrote; see [`ChunkEvents::content`].
    pub fn content(&self) -> &'a [u8] {
        self.current.as_ref().map_or(&[], |it| it.content())
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(chunk) = &mut self.current
                && let Some(event) = chunk.next()
            {
                return Some(event);
            }
            self.open()?;
        }
    }

    /// Faster than iterating event by event.
    #[inline]
    fn fold<B, F: FnMut(B, Event) -> B>(self, init: B, mut f: F) -> B {
        let rest = self.current.into_iter().fold(init, |all, it| it.fold(all, &mut f));
        self.chunks.fold(rest, |all, at| ChunkEvents::new(self.trace, at).fold(all, &mut f))
    }
}
