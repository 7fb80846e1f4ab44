//! Damaged files: intact parts are read, and damage is reported.

use insta::assert_snapshot;
use norn_abi::Kind;
use proptest::prelude::*;

use crate::{
    chunk::Chunk,
    folder::{Folder, show},
};

/// Two threads with two chunks each, in the order in which they filled up.
fn four() -> [Chunk; 4] {
    [
        Chunk::of(0, 0).sync(Kind::Fork, 1, 1, &[]).write(0x10, 1),
        Chunk::of(1, 0).child(0, 1).sync(Kind::Begin, 0, 2, &[0]).write(0x10, 2),
        Chunk::of(1, 1).child(0, 1).after(2).write(0x10, 3).sync(Kind::End, 0, 3, &[]),
        Chunk::of(0, 1).after(1).write(0x10, 4).sync(Kind::Join, 1, 4, &[]),
    ]
}

/// The offsets of the chunks.
fn offsets() -> Vec<usize> {
    four()
        .iter()
        .scan(0, |at, chunk| {
            let begin = *at;
            *at += 64 + chunk.bytes.len();
            Some(begin)
        })
        .collect()
}

fn changed(change: impl FnOnce(&mut Vec<u8>)) -> String {
    show(&Folder::write(&four()).change(change).open())
}

#[test]
fn whole() {
    assert_snapshot!(changed(|_| {}), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ");
}

#[test]
fn cut_off() {
    assert_snapshot!(changed(|bytes| bytes.truncate(bytes.len() - 3)), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    ! process 0, offset 0x175, chunk 1 of thread t0: the file ends inside of a chunk; 3 bytes lost
    ! process 0, offset 0x1de, chunk 1 of thread t0: unreadable record: record is cut off; 16 bytes lost
    ");
    assert_snapshot!(changed(|bytes| bytes.truncate(offsets()[3] + 10)), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    ! process 0, offset 0x175: no chunk where one should begin; 10 bytes lost
    ");
    assert_snapshot!(changed(Vec::clear), @"");
}

#[test]
fn an_invalid_header() {
    assert_snapshot!(changed(|bytes| bytes[offsets()[1]] = 0), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0x7c: no chunk where one should begin; 125 bytes lost
    ! process 0, offset 0xf9, chunk 1 of thread t1: the chunk before is missing
    ");
}

#[test]
fn a_wrong_length() {
    assert_snapshot!(changed(|bytes| bytes[offsets()[1] + 8] += 100), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0x7c, chunk 0 of thread t1: wrong checksum
    ");
    assert_snapshot!(changed(|bytes| bytes[offsets()[1] + 8] -= 10), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0x7c, chunk 0 of thread t1: wrong checksum
    ! process 0, offset 0xe6, chunk 0 of thread t1: unreadable record: record is cut off; 9 bytes lost
    ! process 0, offset 0xef: no chunk where one should begin; 10 bytes lost
    ");
}

#[test]
fn a_wrong_byte() {
    assert_snapshot!(changed(|bytes| bytes[offsets()[2] + 64] = 0xff), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0 join T0.1
    ! process 0, offset 0xf9, chunk 1 of thread t1: wrong checksum
    ! process 0, offset 0x139, chunk 1 of thread t1: unreadable record: unknown head byte; 60 bytes lost
    ");
    assert_snapshot!(changed(|bytes| bytes[offsets()[2] - 1] = 0xff), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0x7c, chunk 0 of thread t1: wrong checksum
    ");
}

#[test]
fn garbage_between_and_after_chunks() {
    let change = |bytes: &mut Vec<u8>| {
        let at = offsets()[2];
        bytes.splice(at..at, *b"NRNc is not a chunk");
        bytes.extend([0; 4096]);
    };
    assert_snapshot!(changed(change), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0xf9: no chunk where one should begin; 19 bytes lost
    ! process 0, offset 0x204: no chunk where one should begin; 4096 bytes lost
    ");
}

#[test]
fn a_missing_chunk() {
    let [one, _, two, three] = four();
    assert_snapshot!(show(&Folder::write(&[one, two, three]).open()), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0x7c, chunk 1 of thread t1: the chunk before is missing
    ");
}

#[test]
fn a_duplicate_chunk() {
    let [one, two, three, four] = four();
    let folder = Folder::write(&[one.clone(), two, three, four, one]);
    assert_snapshot!(show(&folder.open()), @r"
    T0 fork T0.1
    T0 w 0x10 1
    T0 w 0x10 4
    T0.1 begin
    T0.1 w 0x10 2
    T0.1 w 0x10 3
    T0.1 end
    T0 join T0.1
    ! process 0, offset 0x1f1, chunk 0 of thread t0: a chunk of this number was there already; 60 bytes lost
    ");
}

#[test]
fn invalid_records_with_a_valid_checksum() {
    let mut chunk = Chunk::new().write(0x10, 1);
    chunk.bytes.extend([0xc0, 1, 2, 3]);
    assert_snapshot!(show(&Folder::write(&[chunk]).open()), @r"
    T0 w 0x10 1
    ! process 0, offset 0x5e, chunk 0 of thread t0: unreadable record: unknown head byte; 4 bytes lost
    ");
}

#[test]
fn a_frame_count_beyond_the_chunk() {
    let mut chunk = Chunk::new().frames(&[1, 2, 3], 3).write(0x10, 1);
    chunk.bytes.truncate(20);
    chunk.header.frames = 2;
    assert_snapshot!(show(&Folder::write(&[chunk]).open()), @"! process 0, offset 0x50, chunk 0 of thread t0: unreadable record: undefined site; 4 bytes lost");
}

proptest! {
    /// Whatever happens to the bytes, the decoded events are a subset of the original ones, or
    /// belong to chunks that are reported as damaged.
    #[test]
    fn undamaged_chunks_stay_as_they_are(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let before = Folder::write(&four()).open();
        let folder = Folder::write(&four()).change(|bytes| {
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        });
        let after = folder.open();
        show(&after);
        if after.damage().is_empty() {
            prop_assert!(before.merged().eq(after.merged()));
        }
    }
}
