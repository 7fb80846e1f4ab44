//! The merged order of all events, and its independence of the order in the file.

use insta::assert_snapshot;
use norn_abi::Kind;

use crate::{
    chunk::{Chunk, PC},
    folder::{Folder, read, show},
};

#[test]
fn accesses_come_right_after_what_orders_them() {
    let one = Chunk::of(0, 0)
        .sync(Kind::Begin, 0, 1, &[0])
        .write(0x10, 1)
        .sync(Kind::Acquire, 0x20, 5, &[0])
        .write(0x10, 2);
    let two = Chunk::of(1, 0)
        .child(0, 1)
        .sync(Kind::Begin, 0, 3, &[0])
        .write(0x10, 3)
        .sync(Kind::Acquire, 0x30, 4, &[0])
        .write(0x10, 4)
        .sync(Kind::End, 0, 6, &[]);
    assert_snapshot!(read(&[one, two]), @r"
    T0 begin
    T0 w 0x10 1
    T0.1 begin
    T0.1 w 0x10 3
    T0.1 acq 0x30
    T0.1 w 0x10 4
    T0 acq 0x20
    T0 w 0x10 2
    T0.1 end
    ");
}

#[test]
fn the_last_events_are_in_the_same_order() {
    let one = |index: u32, from: u64| {
        let chunk = Chunk::of(0, index).after(from);
        chunk.write(0x10, 1).sync(Kind::Yield, 0, from + 2, &[]).write(0x10, 2)
    };
    let two = Chunk::of(1, 0).child(0, 1).sync(Kind::Begin, 0, 3, &[0]).write(0x10, 3);
    let trace = Folder::write(&[one(0, 0), one(1, 2), one(2, 4), two]).open();
    for most in 1..=10 {
        let last: Vec<_> = trace.merged_last(most).collect();
        let is_last = |id| last.iter().any(|it| it.id == id);
        let expected: Vec<_> = trace.merged().filter(|it| is_last(it.id)).collect();
        assert_eq!(last, expected);
        for thread in trace.threads() {
            let count = last.iter().filter(|it| it.id.thread == thread.id).count() as u64;
            assert!(count >= most.min(thread.events), "{count} of {most}");
        }
    }
    assert_eq!(trace.merged_last(1).count(), 5);
}

#[test]
fn the_first_events_are_a_prefix_of_the_run() {
    let one = |from: u64| {
        let chunk = if from == 0 { Chunk::of(0, 0) } else { Chunk::of(0, 1) };
        chunk.sync(Kind::Yield, 0, from + 1, &[]).write(0x10, 1).write(0x10, 2)
    };
    let two = Chunk::of(1, 0).child(0, 1).sync(Kind::Begin, 0, 3, &[0]).write(0x10, 3);
    let trace = Folder::write(&[one(0), one(4), two]).open();
    let lengths = |most: u64| -> Vec<usize> {
        trace.load_first(most).threads.iter().map(|it| it.events.len()).collect()
    };
    assert_eq!(lengths(2), [2, 0]);
    assert_eq!(lengths(4), [3, 1]);
    assert_eq!(lengths(7), [5, 2]);
    assert_eq!(trace.load_first(8), trace.load());
    assert_eq!(trace.load_first(7).threads[0].events, trace.load().threads[0].events[..5]);
}

#[test]
fn a_chunk_comes_after_its_missing_predecessors() {
    let one = Chunk::of(0, 0).sync(Kind::Begin, 0, 1, &[0]).sync(Kind::Yield, 0, 9, &[]);
    let two = Chunk::of(1, 3).child(0, 1).after(5).write(0x10, 1);
    assert_snapshot!(read(&[one, two]), @r"
    T0 begin
    T0.1 w 0x10 1
    T0 yield
    ! process 0, offset 0x7d, chunk 3 of thread t1: 3 chunks before are missing
    ");
}

#[test]
fn a_global_order_is_kept() {
    let write = |chunk: Chunk, value, seq| chunk.access_at(PC, 10, 0x10, Some(value), Some(seq));
    let one = write(write(Chunk::of(0, 0).global(), 1, 1), 2, 4);
    let two = write(write(Chunk::of(1, 0).child(0, 1).global(), 3, 2), 4, 3);
    assert_snapshot!(read(&[one, two]), @r"
    order global
    T0 w 0x10 1
    T0.1 w 0x10 3
    T0.1 w 0x10 4
    T0 w 0x10 2
    ");
}

#[test]
fn turns_order_plain_accesses() {
    let one = Chunk::of(0, 0)
        .sync(Kind::Begin, 0, 1, &[0])
        .write(0x10, 1)
        .sync(Kind::Turn, 2, 6, &[])
        .write(0x10, 2)
        .write(0x10, 3)
        .sync(Kind::Turn, 4, 9, &[])
        .sync(Kind::Yield, 0, 10, &[]);
    let two = Chunk::of(1, 0)
        .child(0, 1)
        .sync(Kind::Turn, 0, 3, &[])
        .sync(Kind::Begin, 0, 4, &[0])
        .write(0x10, 4)
        .sync(Kind::Turn, 2, 8, &[])
        .enter(0x40)
        .write(0x10, 5);
    assert_snapshot!(read(&[one, two]), @r"
    T0 begin
    T0 w 0x10 1
    T0.1 begin
    T0.1 w 0x10 4
    T0 w 0x10 2
    T0 w 0x10 3
    T0.1 w 0x10 5
    T0 yield
    ");
}

#[test]
fn a_turn_may_be_the_last_of_its_chunk() {
    let one = [
        Chunk::of(0, 0).write(0x10, 1).sync(Kind::Turn, 1, 6, &[]),
        Chunk::of(0, 1).after(6).enter(0x40),
        Chunk::of(0, 2).after(6).write(0x10, 2).write(0x10, 3),
    ];
    let two = Chunk::of(1, 0)
        .child(0, 1)
        .sync(Kind::Turn, 0, 3, &[])
        .write(0x10, 4)
        .sync(Kind::Turn, 1, 7, &[])
        .write(0x10, 5);
    let [first, second, third] = one;
    let order = read(&[first.clone(), second, third.clone(), two.clone()]);
    assert_snapshot!(order, @r"
    T0 w 0x10 1
    T0.1 w 0x10 4
    T0 w 0x10 2
    T0 w 0x10 3
    T0.1 w 0x10 5
    ");
    assert_snapshot!(read(&[first, third, two]), @r"
    T0 w 0x10 1
    T0 w 0x10 2
    T0 w 0x10 3
    T0.1 w 0x10 4
    T0.1 w 0x10 5
    ! process 0, offset 0x7c, chunk 2 of thread t0: the chunk before is missing
    ");
}

#[test]
fn threads_are_named_after_their_creators() {
    let begin = |chunk: Chunk, seq| chunk.sync(Kind::Begin, 0, seq, &[0]);
    let text = read(&[
        begin(Chunk::of(0, 0), 1),
        begin(Chunk::of(1, 0).child(0, 1), 2),
        begin(Chunk::of(2, 0).child(1, 1), 3),
        begin(Chunk::of(3, 0).foreign(), 4),
        begin(Chunk::of(4, 0).handler(2), 5),
        begin(Chunk::of(5, 0).handler(4), 6),
        begin(Chunk::of(6, 0).child(0, 2), 7),
        begin(Chunk::of(8, 0).child(7, 2), 8),
        begin(Chunk::of(9, 0).foreign(), 9),
    ]);
    assert_snapshot!(text, @r"
    T0 begin
    T0.1 begin
    T0.1.1 begin
    F1 begin
    T0.1.1! begin
    T0.1.1!! begin
    T0.2 begin
    t7.2 begin
    F2 begin
    ");
}

#[test]
fn the_order_of_chunks_in_the_file_does_not_matter() {
    let chunk = |thread, index| {
        let mut chunk =
            Chunk::of(thread, index).child(0, thread).frames(&[7 + u64::from(thread)], 1);
        for at in 0..20 {
            let pc = PC + u64::from(thread * 7 + index * 3 + at) % 11;
            chunk = chunk.enter(pc + 100).access_at(pc, 2, 0x10, Some(1), None);
        }
        chunk
    };
    let mut chunks: Vec<_> = (0..12).map(|it| chunk(it % 3, it / 3)).collect();
    let one = Folder::write(&chunks).open();
    chunks.reverse();
    let other = Folder::write(&chunks).open();
    assert!(one.damage().is_empty());
    assert_eq!(one.sites(), other.sites());
    assert_eq!(one.stacks(), other.stacks());
    assert_eq!(one.load(), other.load());
    assert_eq!(show(&one), show(&other));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| Folder::write(&chunks).open().load()), one.load());
}

#[test]
fn timeouts_happen_between_events() {
    let one = Chunk::of(0, 0)
        .sync(Kind::Begin, 0, 1, &[0])
        .sync(Kind::Expired, 1, 4, &[])
        .sync(Kind::Turn, 1, 5, &[])
        .write(0x10, 1);
    let two = Chunk::of(1, 0)
        .child(0, 1)
        .sync(Kind::Begin, 0, 2, &[0])
        .sync(Kind::Sleep, 1000, 3, &[])
        .sync(Kind::Expired, 0, 6, &[])
        .sync(Kind::Turn, 2, 7, &[])
        .write(0x10, 2);
    let trace = Folder::write(&[two, one]).open();
    let expired: Vec<_> = trace.expired().iter().map(|(seq, thread)| (*seq, thread.0)).collect();
    assert_eq!(expired, [(4, 1), (6, 0)]);
    assert_snapshot!(show(&trace), @r"
    T0 begin
    T0.1 begin
    T0.1 sleep 1000
    T0 w 0x10 1
    T0.1 w 0x10 2
    ");
}
