//! Decoding returns what was recorded.

use norn_abi::codec::{Codec, Format};
use proptest::prelude::*;

use crate::{record::Thread, step::step};

fn format() -> impl Strategy<Value = Format> {
    (any::<bool>(), any::<bool>()).prop_map(|(values, global)| Format {
        values,
        global,
        codec: Codec::V2,
    })
}

proptest! {
    #[test]
    fn chunks_decode_to_what_was_recorded(
        format in format(),
        room in 20..2000usize,
        settled in any::<bool>(),
        steps in prop::collection::vec(step(), 0..200),
    ) {
        for (chunk, expected) in Thread::new(format, room).run(&steps, settled) {
            let (seen, fault) = chunk.read(format, usize::MAX);
            prop_assert_eq!(fault, None);
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn loops_decode_to_what_was_recorded(
        format in format(),
        body in prop::collection::vec(step(), 1..12),
        times in 1..60usize,
    ) {
        let steps: Vec<_> = std::iter::repeat_n(body, times).flatten().collect();
        for (chunk, expected) in Thread::new(format, 1000).run(&steps, true) {
            prop_assert_eq!(chunk.read(format, usize::MAX), (expected, None));
        }
    }

    #[test]
    fn a_cut_chunk_decodes_to_its_beginning(
        format in format(),
        steps in prop::collection::vec(step(), 1..60),
        cut in any::<prop::sample::Index>(),
    ) {
        for (chunk, expected) in Thread::new(format, 2000).run(&steps, true) {
            let cut = cut.index(chunk.bytes.len() + 1);
            let (seen, fault) = chunk.read(format, cut);
            prop_assert_eq!(&seen[..], &expected[..seen.len()]);
            prop_assert!(fault.is_none_or(|it| it.offset < cut));
        }
    }
}
