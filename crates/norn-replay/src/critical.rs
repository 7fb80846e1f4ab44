//! The critical events of a clip: those without which a run says nothing about the bug.
//!
//! They are the events of its claim; of a clip without a claim, the last event of each thread at which the
//! schedule stops that thread.

use norn_model::{Point, Segment, ThreadName, Until};
use norn_trace::EventIndex as _;

use crate::{Clip, SymbolizedTrace, claim::Places, points::plain};

/// A critical event, and whether a run reached it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalEvent {
    /// The thread.
    pub thread: ThreadName,
    /// The operation and its place.
    pub at: Point,
    /// Whether the thread got there.
    pub reached: bool,
}

/// The critical events of a clip, and which of them a run reached. How often the thread was there does not
/// matter: a fixed program may need fewer or more steps.
pub fn critical_events(clip: &Clip, symbolized: &SymbolizedTrace) -> Vec<CriticalEvent> {
    let mut places = Places::new(symbolized);
    let named = match &clip.claim {
        Some(claim) => {
            claim.events.iter().map(|it| (it.thread.clone(), it.at.point.clone())).collect()
        }
        None => last_stops(&clip.schedule.segments),
    };
    let event = |(thread, at): (ThreadName, Point)| {
        let reached = is_reached(&mut places, symbolized, &thread, &at);
        CriticalEvent { thread, at: plain(&at), reached }
    };
    named.into_iter().map(event).collect()
}

/// The last point at which the schedule stops each thread.
fn last_stops(segments: &[Segment]) -> Vec<(ThreadName, Point)> {
    let mut stops: Vec<(ThreadName, Point)> = Vec::new();
    for Segment { thread, until } in segments {
        let (Until::Event { at: Some(at), .. } | Until::Before(at) | Until::After(at)) = until
        else {
            continue;
        };
        stops.retain(|it| it.0 != *thread);
        stops.push((thread.clone(), at.point.clone()));
    }
    stops
}

fn is_reached(
    places: &mut Places<'_>,
    symbolized: &SymbolizedTrace,
    thread: &ThreadName,
    at: &Point,
) -> bool {
    let mut threads = symbolized.trace.threads().iter();
    let Some(id) = threads.find(|it| it.name == *thread).map(|it| it.id) else { return false };
    let wanted = plain(at);
    symbolized.trace.visit(id, 0, &mut |site| places.point(site) == wanted).is_some()
}

#[cfg(test)]
mod tests {
    use norn_model::Visit;

    use super::*;

    #[test]
    fn each_thread_has_its_last_stop() {
        let visit = |text: &str| text.parse::<Visit>().unwrap();
        let segment =
            |thread: &str, until| Segment { thread: ThreadName(thread.to_owned()), until };
        let segments = [
            segment("T0", Until::Before(visit("join"))),
            segment("T1", Until::After(visit("lock a.c:3"))),
            segment("T1", Until::Before(visit("lock a.c:4"))),
            segment("T1", Until::Blocks),
        ];
        let stops: Vec<_> =
            last_stops(&segments).iter().map(|it| format!("{} {}", it.0, it.1)).collect();
        assert_eq!(stops, ["T0 join", "T1 lock a.c:4"]);
    }
}
