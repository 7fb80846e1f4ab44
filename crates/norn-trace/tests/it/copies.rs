//! Copies whose hooks run before the copy.

use insta::assert_snapshot;
use norn_abi::Kind;

use crate::{
    chunk::{Chunk, PC},
    folder::{Folder, read, show},
};

const BYTES: &[u8] = &[1, 2, 3, 4, 5, 6];

#[test]
fn a_block_write_without_content_takes_that_of_the_next_read() {
    let chunk = Chunk::new()
        .sync(Kind::Begin, 0, 1, &[0])
        .block(Kind::RangeWrite, 0x10, Some(6), &[])
        .block(Kind::RangeRead, 0x20, Some(6), BYTES)
        .block(Kind::RangeWrite, 0x10, Some(7), &[])
        .block(Kind::RangeRead, 0x20, Some(6), BYTES)
        .block(Kind::RangeWrite, 0x10, Some(6), &[])
        .write(0x30, 1)
        .block(Kind::RangeRead, 0x20, Some(6), BYTES);
    assert_snapshot!(read(&[chunk]), @r"
    T0 begin
    T0 w 0x10:6 0x60504030201
    T0 r 0x20:6 0x60504030201
    T0 w 0x10:7
    T0 r 0x20:6 0x60504030201
    T0 w 0x10:6
    T0 w 0x30 1
    T0 r 0x20:6 0x60504030201
    ");
}

#[test]
fn the_next_read_may_be_in_the_next_chunk() {
    let one = Chunk::of(0, 0).block(Kind::RangeWrite, 0x10, Some(6), &[]);
    let two = Chunk::of(0, 1).block(Kind::RangeRead, 0x20, Some(6), BYTES);
    let three = Chunk::of(0, 3).block(Kind::RangeRead, 0x20, Some(6), BYTES);
    assert_snapshot!(read(&[one.clone(), two]), @r"
    T0 w 0x10:6 0x60504030201
    T0 r 0x20:6 0x60504030201
    ");
    assert_snapshot!(read(&[one, three]), @r"
    T0 w 0x10:6
    T0 r 0x20:6 0x60504030201
    ! process 0, offset 0x58, chunk 3 of thread t0: 2 chunks before are missing
    ");
}

#[test]
fn a_small_copy_is_recognized_from_the_code() {
    let (write, read) = (PC + 16, PC + 32);
    let chunk = Chunk::new()
        .access_at(write, 10, 0x10, Some(1), None)
        .access_at(read, 2, 0x20, Some(2), None)
        .access_at(write, 10, 0x10, Some(3), None)
        .access_at(read + 1, 2, 0x20, Some(4), None)
        .access_at(write + 1, 10, 0x10, Some(5), None)
        .access_at(read, 2, 0x20, Some(6), None)
        .access_at(write, 10, 0x10, Some(7), None);
    let next = Chunk::of(0, 1).access_at(read, 2, 0x20, Some(8), None);
    let folder = Folder::write(&[chunk, next]);
    let mut trace = folder.open();
    trace.learn_copies(|a, b| (a, b) == (write, read));
    assert_snapshot!(show(&trace), @r"
    T0 w 0x10 2
    T0 r 0x20 2
    T0 w 0x10 3
    T0 r 0x20 4
    T0 w 0x10 5
    T0 r 0x20 6
    T0 w 0x10 8
    T0 r 0x20 8
    ");
}
