//! Loading some events of a trace, and finding events by the visits to their places.

use norn_abi::Kind;
use norn_model::{Event, EventId, Op, ThreadId};
use norn_trace::{EventIndex, Trace};

use crate::{chunk::Chunk, folder::Folder};

/// Two threads, the first one with two chunks.
fn trace() -> Trace {
    let one = Chunk::of(0, 0).sync(Kind::Begin, 0, 1, &[0]).write(0x10, 1).write(0x20, 1).sync(
        Kind::Acquire,
        0x80,
        2,
        &[0],
    );
    let more = Chunk::of(0, 1).write(0x10, 2).write(0x20, 2).sync(Kind::Release, 0x80, 3, &[0]);
    let two = Chunk::of(1, 0).child(0, 1).sync(Kind::Begin, 0, 4, &[0]).write(0x10, 3);
    Folder::write(&[one, more, two]).open()
}

fn id(thread: u32, index: u64) -> EventId {
    EventId { thread: ThreadId(thread), index }
}

/// Everything but the writes of one variable.
fn without(addr: u64) -> impl Fn(&Event) -> bool + Copy {
    move |event| !matches!(event.op, Op::Write { addr: at, .. } if at == addr)
}

#[test]
fn selected_events_are_numbered_without_gaps() {
    let trace = trace();
    let selection = trace.select(u64::MAX, |_, _| without(0x20)).unwrap();
    let lengths: Vec<_> = selection.trace.threads.iter().map(|it| it.events.len()).collect();
    assert_eq!(lengths, [5, 2]);
    let positions = &selection.positions;
    for thread in &selection.trace.threads {
        for (event, index) in thread.events.iter().zip(0..) {
            assert_eq!(event.id, id(thread.id.0, index));
            let recorded = positions.recorded(event.id);
            assert_eq!(positions.loaded(recorded), Some(event.id));
            assert_eq!(trace.event(recorded).map(|it| it.op), Some(event.op));
        }
    }
    assert_eq!(positions.loaded(id(0, 2)), None);
    assert_eq!(positions.before(id(0, 3)), 2);
    assert_eq!(positions.executed(ThreadId(0), 2), 2);
    assert_eq!(positions.executed(ThreadId(0), 3), 4);
}

#[test]
fn a_selection_of_everything_is_the_trace() {
    let trace = trace();
    let selection = trace.select(u64::MAX, |_, _| |_: &Event| true).unwrap();
    assert_eq!(selection.trace, trace.load());
}

#[test]
fn more_events_than_allowed_are_not_loaded() {
    let trace = trace();
    assert!(trace.select(8, |_, _| without(0x20)).is_some());
    assert_eq!(trace.select(6, |_, _| without(0x20)), None);
}

#[test]
fn visits_are_counted_over_chunks() {
    let trace = trace();
    let loaded = trace.load();
    for thread in &loaded.threads {
        for event in &thread.events {
            let (site, index) = (event.site, event.id.index);
            let is_there = &mut |it| it == site;
            let visits = trace.visits(thread.id, 0..index, is_there);
            assert_eq!(visits, loaded.visits(thread.id, 0..index, is_there));
            assert_eq!(trace.visit(thread.id, visits, is_there), Some(*event));
            assert_eq!(loaded.visit(thread.id, visits, is_there), Some(*event));
        }
        assert_eq!(trace.last_event(thread.id), thread.events.last().copied());
    }
}
