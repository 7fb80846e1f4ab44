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

#[test]
fn parts_of_a_thread_have_their_visits_and_ends() {
    let trace = trace();
    let loaded = trace.load();
    let divisions: [&[u64]; 6] = [&[3], &[4, 4, 7], &[1, 2, 3, 4, 5, 6, 7], &[7], &[0, 6], &[2, 9]];
    for thread in &loaded.threads {
        for ends in divisions {
            let mut visited = 0;
            trace.visit_parts(thread.id, ends, &mut |at, part| {
                assert_eq!(at, visited);
                visited += 1;
                let from = at.checked_sub(1).map_or(0, |it| ends[it]);
                let event = |index: u64| loaded.event(id(thread.id.0, index)).copied();
                assert_eq!(part.next, event(ends[at]));
                let last = ends[at].checked_sub(1).filter(|it| *it >= from);
                assert_eq!(part.last, last.and_then(event));
                let events = (from..ends[at]).filter_map(event);
                assert_eq!(
                    part.visits().map(|it| it.1).sum::<u64>(),
                    events.clone().count() as u64
                );
                for (site, times) in part.visits() {
                    assert_eq!(events.clone().filter(|it| it.site == site).count() as u64, times);
                }
            });
            assert_eq!(visited, ends.len());
        }
    }
}

#[test]
fn an_event_without_a_number_has_that_of_the_last_one() {
    let trace = trace();
    let numbers = |thread, count| (0..count).map(move |it| (thread, it));
    let all = numbers(0, 7).chain(numbers(1, 2));
    let all: Vec<_> = all.filter_map(|it| trace.number_at(ThreadId(it.0), it.1)).collect();
    assert_eq!(all, [1, 1, 1, 2, 2, 2, 3, 4, 4]);
}
