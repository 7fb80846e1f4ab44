//! The progress of a thread in its segment of a schedule.

use norn_abi::control::{ANYWHERE, Point, Segment, class, until};

use crate::{World, task::Task};

/// The progress of a segment's thread.
#[derive(Debug)]
pub(crate) struct Position {
    /// The index of the segment.
    pub(crate) segment: usize,
    /// Number of events at the segment's points so far.
    hits: u64,
    /// The event of the thread up to which they are counted.
    counted: u64,
    /// For [`until::AFTER`]: the segment ends when the thread has executed this many events; 0 if
    /// unknown.
    end: u64,
    /// Since when the segment's thread waits for an external event, in real time; 0 if it does not.
    pub(crate) waits: u64,
    /// How often the clock was advanced for it in this segment.
    pub(crate) naps: u32,
    /// Number of events that its thread had executed when the segment began; `None` before that.
    pub(crate) from: Option<u64>,
}

impl Position {
    /// At the beginning of a segment.
    pub(crate) const fn at(segment: usize) -> Position {
        Position { segment, hits: 0, counted: 0, end: 0, waits: 0, naps: 0, from: None }
    }

    /// Whether the thread has reached the end of the segment; `Some(false)` if it is at another
    /// event than expected.
    pub(crate) fn reached(
        &mut self,
        segment: &Segment,
        task: &Task,
        steps: u64,
        world: &dyn World,
    ) -> Option<bool> {
        match segment.until {
            until::EVENT if steps < segment.count => None,
            until::EVENT => {
                let anywhere = steps > segment.count || segment.points == 0;
                Some(anywhere || is_at(segment, task, world))
            }
            until::BEFORE | until::AFTER => {
                if self.end != 0 && steps >= self.end {
                    return Some(true);
                }
                if self.counted <= steps && !task.between && is_at(segment, task, world) {
                    self.counted = steps + 1;
                    self.hits += 1;
                    if self.hits == segment.count.max(1) {
                        if segment.until == until::BEFORE {
                            return Some(true);
                        }
                        self.end = steps + 1;
                    }
                }
                None
            }
            _ => None,
        }
    }
}

/// Whether the thread's next event is at one of the segment's points.
fn is_at(segment: &Segment, task: &Task, world: &dyn World) -> bool {
    let first = segment.point as usize;
    let points = world.points().get(first..first + segment.points as usize);
    points.unwrap_or_default().iter().any(|it| {
        let Point { module, class, offset } = *it;
        (class == class::ANY || class == task.class())
            && (offset == ANYWHERE
                || task.event.pc as u64 == world.module_start(module).wrapping_add(offset))
    })
}
