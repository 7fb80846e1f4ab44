//! The versions of the coding: chunks of the first one stay readable, and the second one stores values
//! that move, and sites that alternate, in one byte.

use norn_abi::{
    Kind,
    codec::{Codec, Format, key, slot, zigzag},
};

use crate::{
    record::{Chunk, Seen, Thread},
    step::Step,
};

const PC: usize = 0x40_1000;

fn format(codec: Codec) -> Format {
    Format { values: true, global: false, codec }
}

/// The definition of a site and its first event, up to the value, by hand.
fn first(kind: Kind, pc: usize, addr: u64, value_code: u8) -> Vec<u8> {
    let key = key(pc, kind);
    let slot = u16::try_from(slot(key)).unwrap().to_le_bytes();
    let mut bytes = vec![0x81];
    bytes.extend(slot);
    bytes.extend(key.to_le_bytes());
    bytes.push(0x40 | 6 << 3 | value_code);
    bytes.extend(slot);
    bytes.extend(zigzag(addr.cast_signed()).to_le_bytes());
    bytes
}

fn values(seen: &[Seen]) -> Vec<Option<u64>> {
    let value = |it: &Seen| match it {
        Seen::Event { value, .. } => *value,
        Seen::Leave => None,
    };
    seen.iter().map(value).collect()
}

#[test]
fn the_first_version_has_values_of_six_bytes_and_one_cell_for_all_sizes() {
    let mut bytes = first(Kind::Write8, PC, 0x5000, 4);
    bytes.extend([1, 2, 3, 4, 5, 6]);
    bytes.extend(first(Kind::Read4, PC + 8, 0x5000, 0));
    let chunk = Chunk { bytes, last_seq: 0 };
    let (seen, fault) = chunk.read(format(Codec::V1), usize::MAX);
    assert_eq!(fault, None);
    assert_eq!(values(&seen), [Some(0x0605_0403_0201), Some(0x0403_0201)]);
}

#[test]
fn the_first_version_has_one_slot_for_each_site_and_one_successor() {
    let mut moved = first(Kind::Read4, PC, 0x5000, 0);
    moved[1] ^= 1;
    let mut second = first(Kind::Read4, PC, 0x5000, 0);
    second.push(0xc0);
    for (bytes, why) in [(moved, "definition of an impossible site"), (second, "unknown head byte")]
    {
        let (_, fault) = Chunk { bytes, last_seq: 0 }.read(format(Codec::V1), usize::MAX);
        assert_eq!(fault.map(|it| it.why), Some(why));
    }
}

fn access(kind: Kind, pc: usize, offset: usize, value: u64) -> Step {
    Step::Access { kind, pc, offset, value, meddled: None }
}

/// Runs the steps three times; returns how many bytes the third time took.
fn again(steps: &[Step]) -> usize {
    let len = |times: usize| {
        let steps: Vec<_> = std::iter::repeat_n(steps, times).flatten().cloned().collect();
        let mut chunks = Thread::new(format(Codec::V2), 4000).run(&steps, true);
        let (chunk, expected) = chunks.remove(0);
        assert_eq!(chunk.read(format(Codec::V2), usize::MAX), (expected, None));
        chunk.bytes.len()
    };
    len(3) - len(2)
}

#[test]
fn a_value_that_moves_takes_one_byte() {
    let [one, other] = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    // Each record has a head byte; that of a write to a new value also has the value's index.
    let steps = [
        access(Kind::Write8, PC, 0, one),
        access(Kind::Write8, PC + 8, 8, other),
        access(Kind::Write8, PC + 16, 0, other),
        access(Kind::Write8, PC + 24, 8, one),
    ];
    assert_eq!(again(&steps), 8);
}

#[test]
fn a_site_that_alternates_takes_no_bytes_for_its_slot() {
    let read = |pc| access(Kind::Read4, pc, 0, 0);
    // Either of two sites follows the first one.
    let steps = [read(PC), read(PC + 8), read(PC), read(PC + 16)];
    assert_eq!(again(&steps), 4);
}

#[test]
fn a_longer_value_in_the_cell_with_the_same_lower_bytes_predicts_a_shorter_one() {
    // The cells of 8 bytes at 128 and of 4 bytes at 64 are the same.
    let steps = [
        access(Kind::Write8, PC, 128, 5 << 32 | 0x0123_4567),
        access(Kind::Write4, PC + 8, 64, 0x0123_4567),
        access(Kind::Write4, PC + 16, 4, 0x0123_4567),
        access(Kind::Read8, PC + 24, 128, 0),
    ];
    assert!(again(&steps) > 0);
}
