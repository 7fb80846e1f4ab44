//! Arbitrary bytes: the decoder reads them or stops, and never panics.

use norn_abi::codec::{Codec, Format};
use proptest::prelude::*;

use crate::{
    record::{Chunk, Thread},
    step::step,
};

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        values in any::<bool>(),
        global in any::<bool>(),
        codec in prop::sample::select(vec![Codec::V1, Codec::V2]),
        last_seq in any::<u64>(),
    ) {
        Chunk { bytes, last_seq }.read(Format { values, global, codec }, usize::MAX);
    }

    #[test]
    fn damaged_chunks_are_read_or_refused(
        values in any::<bool>(),
        global in any::<bool>(),
        steps in prop::collection::vec(step(), 1..100),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let format = Format { values, global, codec: Codec::V2 };
        for (mut chunk, _) in Thread::new(format, 2000).run(&steps, true) {
            chunk.bytes.push(0);
            for (at, byte) in &damage {
                let at = at.index(chunk.bytes.len());
                chunk.bytes[at] = *byte;
            }
            chunk.read(format, usize::MAX);
        }
    }
}
