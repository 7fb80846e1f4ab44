//! The exact call stack of one event, with every level of a recursion. The stacks stored for all
//! events are [folded](crate::calls).

use norn_abi::{Kind, Record};
use norn_model::{EventId, Frame, ThreadId};

use crate::{Trace, count::is_event, scan::Chunk};

impl Trace {
    /// The calls that led to an event, innermost first. Decodes its chunk up to the event.
    pub fn backtrace(&self, id: EventId) -> Option<Vec<Frame>> {
        let (at, mut events) = self.chunk_of(id)?;
        let chunk = &self.chunks[at];
        let mut frames = self.frames_at_start(chunk);
        let mut decoder = self.decoder(chunk);
        while let Some(record) = decoder.next_record().ok()? {
            match record {
                Record::Event { kind, .. } if is_event(kind) => {
                    if events == 0 {
                        frames.reverse();
                        return Some(frames);
                    }
                    events -= 1;
                }
                other => follow(&mut frames, &other),
            }
        }
        None
    }

    /// The open calls of a thread at the end of its trace, innermost first: those that led to the
    /// event that it was about to execute.
    pub fn last_calls(&self, thread: ThreadId) -> Vec<Frame> {
        let chunks = self.thread(thread).map_or(&[][..], |it| &self.chunks[it.chunks.clone()]);
        let Some(chunk) = chunks.last() else { return Vec::new() };
        let mut frames = self.frames_at_start(chunk);
        let mut decoder = self.decoder(chunk);
        while let Ok(Some(record)) = decoder.next_record() {
            follow(&mut frames, &record);
        }
        frames.reverse();
        frames
    }

    fn frames_at_start(&self, chunk: &Chunk) -> Vec<Frame> {
        let known = self.bytes[chunk.frames.clone()].as_chunks::<8>().0;
        let mut frames: Vec<_> =
            known.iter().map(|it| Frame::Call(u64::from_le_bytes(*it))).collect();
        let unknown = u64::from(chunk.header.depth).saturating_sub(known.len() as u64);
        if let Ok(unknown @ 1..) = u32::try_from(unknown) {
            frames.push(Frame::Unknown(unknown));
        }
        frames
    }
}

/// Applies a record that is not an event to the stack.
fn follow(frames: &mut Vec<Frame>, record: &Record<'_>) {
    match *record {
        Record::Leave => leave(frames),
        Record::Event { kind: Kind::Enter, addr, .. } => frames.push(Frame::Call(addr)),
        Record::Event { kind: Kind::Unwind, addr, .. } => unwind(frames, addr),
        Record::Event { .. } => {}
    }
}

fn leave(frames: &mut Vec<Frame>) {
    match frames.last_mut() {
        Some(Frame::Unknown(count @ 2..)) => *count -= 1,
        _ => drop(frames.pop()),
    }
}

fn unwind(frames: &mut Vec<Frame>, depth: u64) {
    let mut left = depth;
    for (at, frame) in frames.iter_mut().enumerate() {
        let here = match frame {
            Frame::Call(_) => 1,
            Frame::Unknown(count) => u64::from(*count),
        };
        if left < here {
            let partly = usize::from(left > 0);
            if let (Frame::Unknown(count), Ok(some @ 1..)) = (frame, u32::try_from(left)) {
                *count = some;
            }
            return frames.truncate(at + partly);
        }
        left -= here;
    }
}
