//! Call stacks.

use norn_abi::Kind;
use norn_model::{Frame, ThreadId};

use crate::{chunk::Chunk, folder::Folder};

/// The call stacks of all events of the first thread, innermost frame first.
fn stacks(chunks: &[Chunk]) -> Vec<Vec<Frame>> {
    let trace = Folder::write(chunks).open();
    trace.events(ThreadId(0)).map(|it| trace.stack(it.stack).collect()).collect()
}

#[test]
fn calls_and_returns_move_the_stack() {
    use Frame::Call;
    let chunk = Chunk::new()
        .write(0x10, 1)
        .enter(1)
        .enter(2)
        .write(0x10, 1)
        .leave()
        .write(0x10, 1)
        .enter(3)
        .write(0x10, 1)
        .leave()
        .leave()
        .leave()
        .write(0x10, 1);
    let expected: [&[Frame]; 5] = [&[], &[Call(2), Call(1)], &[Call(1)], &[Call(3), Call(1)], &[]];
    assert_eq!(stacks(&[chunk]), expected);
}

#[test]
fn a_jump_removes_frames() {
    let chunk =
        Chunk::new().enter(1).enter(2).enter(3).sync(Kind::Unwind, 1, 1, &[]).write(0x10, 1);
    assert_eq!(stacks(&[chunk]), [[Frame::Call(1)]]);
}

#[test]
fn a_chunk_begins_with_its_stack() {
    use Frame::{Call, Unknown};
    let one = Chunk::of(0, 0).write(0x10, 1);
    let two = Chunk::of(0, 1).frames(&[1, 2], 2).write(0x10, 1).leave().write(0x10, 1);
    let deep =
        Chunk::of(0, 2).frames(&[1], 5000).enter(9).write(0x10, 1).leave().leave().write(0x10, 1);
    let expected: [&[Frame]; 5] = [
        &[],
        &[Call(2), Call(1)],
        &[Call(1)],
        &[Call(9), Unknown(8192), Call(1)],
        &[Unknown(8192), Call(1)],
    ];
    assert_eq!(stacks(&[one, two, deep]), expected);
}

#[test]
fn recursion_is_folded_but_in_backtraces() {
    use Frame::{Call, Unknown};
    let chunk = Chunk::new()
        .frames(&[1, 2, 2], 5)
        .enter(2)
        .enter(3)
        .enter(2)
        .write(0x10, 1)
        .sync(Kind::Unwind, 4, 1, &[])
        .write(0x10, 2)
        .leave()
        .enter(4)
        .write(0x10, 3);
    let trace = Folder::write(&[chunk]).open();
    let events: Vec<_> = trace.events(ThreadId(0)).collect();
    let stack = |at: usize| trace.stack(events[at].stack).collect::<Vec<_>>();
    let backtrace = |at: usize| trace.backtrace(events[at].id).unwrap();
    assert_eq!(stack(0), [Call(2), Call(1)]);
    assert_eq!(
        backtrace(0),
        [2, 3, 2]
            .map(Call)
            .into_iter()
            .chain([Unknown(2)])
            .chain([2, 2, 1].map(Call))
            .collect::<Vec<_>>()
    );
    assert_eq!(stack(1), [Unknown(1), Call(2), Call(1)]);
    assert_eq!(backtrace(1), [Unknown(1), Call(2), Call(2), Call(1)]);
    assert_eq!(stack(2), [Call(4), Call(2), Call(1)]);
    assert_eq!(backtrace(2), [Call(4), Call(2), Call(2), Call(1)]);
}

#[test]
fn equal_stacks_have_one_number() {
    let chunk = |thread| Chunk::of(thread, 0).child(0, thread).enter(1).enter(2).write(0x10, 1);
    let trace = Folder::write(&[chunk(0), chunk(1)]).open();
    let stack = |thread| trace.events(ThreadId(thread)).next().unwrap().stack;
    assert_eq!(stack(0), stack(1));
    assert_eq!(trace.stacks().len(), 3);
}
