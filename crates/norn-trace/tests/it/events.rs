//! The events that records decode to.

use insta::assert_snapshot;
use norn_abi::Kind;
use norn_model::{EventId, Op, ThreadId};

use crate::{
    chunk::{Chunk, PC},
    folder::{Folder, read},
};

#[test]
#[expect(clippy::too_many_lines, reason = "a line for each kind")]
fn every_kind_is_an_event_or_part_of_one() {
    let mut chunk = Chunk::new();
    for (seq, &kind) in (1..).zip(Kind::ALL) {
        chunk = match kind.shape() {
            norn_abi::Shape::Sync(count) => {
                chunk.sync(kind, 0x10, seq, &[3, 2, 1][..usize::from(count)])
            }
            norn_abi::Shape::Range => chunk.block(kind, 0x10, Some(2), &[1, 2]),
            norn_abi::Shape::Bare => chunk.enter(0x10),
            norn_abi::Shape::Text if kind == Kind::Name => chunk.name(0x10, seq, "f\0a"),
            norn_abi::Shape::Text => chunk.module(0x10, 0x20, seq, "/lib"),
            norn_abi::Shape::Access(_) | norn_abi::Shape::Wide => chunk,
        };
    }
    assert_snapshot!(read(&[chunk]), @r"
    T0 r 0x10:2 513
    T0 w 0x10:2 513
    T0 begin 0x10 3
    T0 end
    T0 fork t16
    T0 join t16
    T0 detach t16
    T0 cancel t16
    T0 handler 16
    T0 return
    T0 acq 0x10 write
    T0 rel 0x10 write
    T0 acqfail 0x10 write 2
    T0 waitrel 0x10
    T0 wait 0x10 0x3
    T0 wake 0x3 0x10 error 2
    T0 signal 0x10
    T0 broadcast 0x10
    T0 arrive 0x10
    T0 pass 0x10 serial
    T0 post 0x10
    T0 down 0x10
    T0 downfail 0x10 3
    T0 oncebegin 0x10
    T0 onceend 0x10
    T0 oncedone 0x10
    T0 load 0x10:8 2 relaxed
    T0 store 0x10:8 2 relaxed
    T0 exchange 0x10:8 2 1 relaxed
    T0 cas 0x10:8 2 1 relaxed
    T0 casfail 0x10:8 2 1 relaxed
    T0 fence
    T0 after 0x10
    T0 before 0x10
    T0 wait 0x10 0x3 timed
    T0 down 0x10 timed
    T0 send 0x1 0 3
    T0 receive 0x1 0 3
    T0 ready 0x1 0 1
    T0 notready 16
    T0 receive 0x1 0 3 timed
    T0 alloc 0x10 3
    T0 free 0x10
    T0 map 0x10 3
    T0 unmap 0x10 3
    T0 init 0x10 cond 2
    T0 destroy 0x10 cond
    T0 use 0x10 cond
    T0 call f(3, 2, 1, 3, 2, 1)
    T0 return f -> 3
    T0 mark  16
    T0 region begin
    T0 region end
    T0 sleep 16
    T0 yield
    T0 procfork 16
    T0 exec
    T0 exit 16
    T0 abort
    ");
}

#[test]
fn functions_have_names_and_parameters() {
    let chunks = [
        Chunk::of(0, 0).sync(Kind::Call, 7, 1, &[1, 2, 0]).sync(Kind::Return, 7, 2, &[0, 0]),
        Chunk::of(1, 0).name(7, 3, "add\0a\0b").name(9, 4, "auth").sync(Kind::Mark, 5, 5, &[9]),
    ];
    assert_snapshot!(read(&chunks), @r"
    T0 call add(1, 2)
    T0 return add
    T0.1 mark auth 5
    ");
}

#[test]
fn accesses_of_all_sizes() {
    let mut chunk = Chunk::new().sync(Kind::Begin, 0, 1, &[0]);
    for class in 0..3 {
        for log2 in 0..4 {
            chunk = chunk.access(class << 4 | log2, 0x10, Some(0x1122_3344_5566_7788));
            chunk = chunk.access(class << 4 | 8 | log2, 0x10, None);
        }
    }
    let bytes: Vec<_> = (1..17).collect();
    chunk =
        chunk.block(Kind::Read16, 0x20, None, &bytes).block(Kind::VolatileWrite16, 0x20, None, &[]);
    assert_snapshot!(read(&[chunk]), @r"
    T0 begin
    T0 r 0x10:1 136
    T0 w 0x10:1
    T0 r 0x10:2 30600
    T0 w 0x10:2
    T0 r 0x10 0x55667788
    T0 w 0x10
    T0 r 0x10:8 0x1122334455667788
    T0 w 0x10:8
    T0 r 0x10:1 136 volatile
    T0 w 0x10:1 volatile
    T0 r 0x10:2 30600 volatile
    T0 w 0x10:2 volatile
    T0 r 0x10 0x55667788 volatile
    T0 w 0x10 volatile
    T0 r 0x10:8 0x1122334455667788 volatile
    T0 w 0x10:8 volatile
    T0 r 0x10:1 136
    T0 w 0x10:1
    T0 r 0x10:2 30600
    T0 w 0x10:2
    T0 r 0x10 0x55667788
    T0 w 0x10
    T0 r 0x10:8 0x1122334455667788
    T0 w 0x10:8
    T0 r 0x20:16 0x100f0e0d0c0b0a090807060504030201
    T0 w 0x20:16 volatile
    ");
}

#[test]
fn blocks_have_values_if_they_are_short() {
    let long: Vec<_> = (0..64).collect();
    let chunk = Chunk::new()
        .sync(Kind::Begin, 0, 1, &[0])
        .block(Kind::RangeRead, 0x10, Some(3), &[1, 2, 3])
        .block(Kind::RangeWrite, 0x10, Some(16), &[0xff; 16])
        .block(Kind::RangeRead, 0x10, Some(17), &[0xff; 17])
        .block(Kind::RangeRead, 0x10, Some(64), &long)
        .block(Kind::RangeWrite, 0x10, Some(1 << 40), &[]);
    let folder = Folder::write(&[chunk]);
    let trace = folder.open();
    assert_snapshot!(crate::folder::show(&trace), @r"
    T0 begin
    T0 r 0x10:3 0x30201
    T0 w 0x10:16 0xffffffffffffffffffffffffffffffff
    T0 r 0x10:17
    T0 r 0x10:64
    T0 w 0x10:1099511627776
    ");
    let mut events = trace.events(ThreadId(0));
    assert!(events.any(|it| matches!(it.op, Op::Read { size: 64, .. })));
    assert_eq!(events.content(), long);
}

#[test]
fn locks_of_all_kinds() {
    let mut chunk = Chunk::new();
    let mut seq = 0;
    for class in [0, 1, 2, 3, 8, 16 + 3, 32] {
        seq += 3;
        chunk = chunk
            .sync(Kind::Acquire, 0x10, seq, &[class])
            .sync(Kind::Release, 0x10, seq + 1, &[if class == 2 { 3 } else { class & 3 }])
            .sync(Kind::AcquireFailed, 0x10, seq + 2, &[class, 16]);
    }
    assert_snapshot!(read(&[chunk]), @r"
    T0 acq 0x10
    T0 rel 0x10
    T0 acqfail 0x10 16
    T0 acq 0x10 spin
    T0 rel 0x10 spin
    T0 acqfail 0x10 spin 16
    T0 acq 0x10 read
    T0 rel 0x10 read
    T0 acqfail 0x10 read 16
    T0 acq 0x10 write
    T0 rel 0x10 write
    T0 acqfail 0x10 write 16
    T0 acq 0x10 tried
    T0 rel 0x10
    T0 acqfail 0x10 tried 16
    T0 acq 0x10 write timed
    T0 rel 0x10 write
    T0 acqfail 0x10 write timed 16
    T0 acq 0x10 ownerdied
    T0 rel 0x10
    T0 acqfail 0x10 ownerdied 16
    ");
}

#[test]
fn a_read_write_lock_is_released_as_it_was_taken() {
    let (read_mode, write_mode) = (2, 3);
    let one = Chunk::of(0, 0)
        .sync(Kind::Acquire, 0x10, 1, &[read_mode])
        .sync(Kind::Acquire, 0x10, 2, &[read_mode])
        .sync(Kind::Acquire, 0x20, 3, &[write_mode]);
    let two = Chunk::of(0, 1).after(3).sync(Kind::Release, 0x10, 4, &[write_mode]).sync(
        Kind::Release,
        0x20,
        5,
        &[write_mode],
    );
    let three = Chunk::of(0, 2).after(5).sync(Kind::Release, 0x10, 6, &[write_mode]).sync(
        Kind::Release,
        0x10,
        7,
        &[write_mode],
    );
    assert_snapshot!(read(&[one, two, three]), @r"
    T0 acq 0x10 read
    T0 acq 0x10 read
    T0 acq 0x20 write
    T0 rel 0x10 read
    T0 rel 0x20 write
    T0 rel 0x10 read
    T0 rel 0x10 write
    ");
}

#[test]
fn atomics_of_16_bytes_have_their_other_halves() {
    let wide = 4 | 5 << 3;
    let one = Chunk::of(0, 0)
        .sync(Kind::AtomicLoad, 0x10, 1, &[wide, 1])
        .sync(Kind::HighHalves, 0x10, 2, &[2, 0])
        .sync(Kind::AtomicRmw, 0x10, 3, &[wide | 1 << 6, 3, 4])
        .sync(Kind::HighHalves, 0x10, 4, &[5, 6])
        .sync(Kind::AtomicCas, 0x10, 5, &[wide, 7, 8]);
    let two = Chunk::of(0, 1).after(5).sync(Kind::HighHalves, 0x10, 6, &[9, 10]).sync(
        Kind::AtomicStore,
        0x10,
        7,
        &[wide, 1],
    );
    assert_snapshot!(read(&[one, two]), @r"
    T0 load 0x10:16 0x20000000000000001
    T0 add 0x10:16 0x50000000000000003 0x60000000000000004
    T0 cas 0x10:16 0x90000000000000007 0xa0000000000000008
    T0 store 0x10:16 1
    ");
}

#[test]
fn a_failed_exchange_has_the_ordering_of_failure() {
    let order = |success: u64, failure: u64| success << 3 | failure << 10;
    let chunk = Chunk::new()
        .sync(Kind::AtomicCas, 0x10, 1, &[2 | order(4, 2), 0, 1])
        .sync(Kind::AtomicCasFailed, 0x10, 2, &[2 | order(4, 2), 1, 0])
        .sync(Kind::AtomicCasFailed, 0x10, 3, &[4 | order(5, 2), 1, 0])
        .sync(Kind::HighHalves, 0x10, 4, &[0, 0]);
    assert_snapshot!(read(&[chunk]), @r"
    T0 cas 0x10 0 1 acqrel
    T0 casfail 0x10 1 0 acquire
    T0 casfail 0x10:16 1 0 acquire
    ");
}

#[test]
fn waits_are_ended_by_signals_in_between() {
    let wait =
        |chunk: Chunk, seq: u64, until: u64, result: u64| {
            chunk
                .sync(Kind::WaitRelease, 0x10, seq, &[])
                .sync(Kind::Wait, 0x20, seq + 1, &[0x10])
                .sync(Kind::WaitAcquire, 0x10, until, &[0x20, result])
        };
    let mut waiter = Chunk::of(1, 0).sync(Kind::Begin, 0, 1, &[0]);
    for (seq, until, result) in [
        (10, 19, 0),
        (20, 29, 0),
        (30, 39, 0),
        (40, 49, 0),
        (50, 59, 110),
        (60, 69, 4),
        (70, 79, 125),
    ] {
        waiter = wait(waiter, seq, until, result);
    }
    let signals = Chunk::of(0, 0)
        .sync(Kind::Signal, 0x20, 9, &[])
        .sync(Kind::Signal, 0x20, 12, &[])
        .sync(Kind::Signal, 0x30, 13, &[])
        .sync(Kind::Signal, 0x20, 22, &[])
        .sync(Kind::Broadcast, 0x20, 23, &[])
        .sync(Kind::Broadcast, 0x20, 32, &[])
        .sync(Kind::Signal, 0x20, 33, &[])
        .sync(Kind::Signal, 0x20, 62, &[]);
    let text = read(&[signals, waiter]);
    let wakes: Vec<_> = text.lines().filter(|it| it.contains("wake")).collect();
    assert_snapshot!(wakes.join("\n"), @r"
    T0.1 wake 0x20 0x10 by T0:1
    T0.1 wake 0x20 0x10 any 2
    T0.1 wake 0x20 0x10 by T0:5
    T0.1 wake 0x20 0x10
    T0.1 wake 0x20 0x10 timeout
    T0.1 wake 0x20 0x10 timeout
    T0.1 wake 0x20 0x10 error 125
    ");
}

#[test]
fn modules_sites_and_counts() {
    let chunk = Chunk::new()
        .module(0x40_0000, 0x41_0000, 1, "/bin/program")
        .sync(Kind::Begin, 0, 2, &[0])
        .access_at(PC + 8, 10, 0x10, None, None)
        .access_at(PC, 2, 0x10, None, None)
        .enter(0x40_2000)
        .access_at(PC, 10, 0x10, None, None)
        .access_at(PC, 2, 0x10, None, None)
        .leave();
    let folder = Folder::write(&[chunk]);
    let trace = folder.open();
    assert_eq!(trace.modules()[0].path.to_str(), Some("/bin/program"));
    let sites: Vec<_> = trace.sites().iter().map(|it| (it.pc, it.kind)).collect();
    assert_eq!(
        sites,
        [(PC, Kind::Read4), (PC, Kind::Write4), (PC, Kind::Begin), (PC + 8, Kind::Write4)]
    );
    let counts = trace.counts();
    assert_eq!((counts.events, counts.accesses, counts.calls), (5, 4, 1));
    assert_eq!(counts.of(Kind::Read4), 2);
    let last = EventId { thread: ThreadId(0), index: 4 };
    assert_eq!(trace.site(trace.event(last).unwrap().site), Some(trace.sites()[0]));
    assert_eq!(trace.event(EventId { index: 5, ..last }), None);
}
