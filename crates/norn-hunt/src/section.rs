//! Critical sections of a thread: a thread that is held inside of one keeps others from their accesses.

use norn_model::{Event, LockEffect};

/// The outermost critical section around each event of a thread: the indices of its first and of its last
/// event; those of the event itself if there is none.
pub(crate) fn sections(events: &[Event]) -> Vec<(u64, u64)> {
    let mut sections: Vec<(u64, u64)> = Vec::with_capacity(events.len());
    let (mut depth, mut begin) = (0_u32, 0);
    for (at, event) in events.iter().enumerate() {
        let index = event.id.index;
        let lock = event.op.effect().lock();
        if let Some(LockEffect::Acquire { .. }) = lock {
            if depth == 0 {
                begin = at;
            }
            depth += 1;
        }
        let first = if depth == 0 { index } else { events[begin].id.index };
        sections.push((first, index));
        if let (Some(LockEffect::Release { .. }), 1..) = (lock, depth) {
            depth -= 1;
            if depth == 0 {
                sections[begin..].iter_mut().for_each(|it| it.1 = index);
            }
        }
    }
    if depth > 0
        && let Some(last) = events.last()
    {
        sections[begin..].iter_mut().for_each(|it| it.1 = last.id.index);
    }
    sections
}
