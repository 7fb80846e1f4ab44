//! Random actions of a thread.

use norn_abi::{
    Kind, Shape,
    codec::{TEXT, key, slot},
    lane::Content,
};
use proptest::{prelude::*, sample::select};

/// One action of a thread.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A load or store of up to 8 bytes; a store leaves `value` behind, and another thread may
    /// overwrite it with `meddled` before the thread's next event.
    Access { kind: Kind, pc: usize, offset: usize, value: u64, meddled: Option<u64> },
    /// A load or store of 16 bytes.
    Wide { kind: Kind, pc: usize, offset: usize, value: u128 },
    /// A read or write of a block.
    Range { kind: Kind, pc: usize, offset: usize, len: usize, fill: u8, content: Content },
    /// A function is entered.
    Enter { call: usize, pc: usize },
    /// A function is left.
    Leave,
    /// Any event with a sequence number and arguments.
    Sync { kind: Kind, pc: usize, addr: usize, args: [u64; 3] },
    /// A module.
    Text { addr: usize, arg: u64, text: Vec<u8> },
    /// Pending writes must not be read back any more.
    Forget,
}

/// The memory that the steps work on: two pages, so that accesses can straddle their border.
pub(crate) const MEMORY: usize = 8192;

/// Any step.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => access(),
        2 => wide(),
        3 => range(),
        3 => (number(), pc()).prop_map(|(call, pc)| Step::Enter { call, pc }),
        3 => Just(Step::Leave),
        4 => (select(sync_kinds()), pc(), number(), any::<[u64; 3]>())
            .prop_map(|(kind, pc, addr, args)| Step::Sync { kind, pc, addr, args }),
        1 => (number(), any::<u64>(), text())
            .prop_map(|(addr, arg, text)| Step::Text { addr, arg, text }),
        1 => Just(Step::Forget),
    ]
}

fn access() -> impl Strategy<Value = Step> {
    let kind = (0..3u16, 0..2u16, 0..4u16)
        .prop_map(|(class, write, log2)| access_kind(class << 4 | write << 3 | log2));
    (kind, pc(), offset(), value(), prop::option::weighted(0.2, value())).prop_map(
        |(kind, pc, offset, value, meddled)| Step::Access { kind, pc, offset, value, meddled },
    )
}

fn access_kind(code: u16) -> Kind {
    Kind::from_code(code).expect("the code of an access")
}

fn wide() -> impl Strategy<Value = Step> {
    let kind =
        (0..3u16, 0..2u16).prop_map(|(class, write)| access_kind(class << 4 | write << 3 | 4));
    (kind, pc(), offset(), any::<u128>()).prop_map(|(kind, pc, offset, value)| Step::Wide {
        kind,
        pc,
        offset,
        value,
    })
}

fn range() -> impl Strategy<Value = Step> {
    let content = select(vec![Content::None, Content::Now, Content::Later]);
    let kind = select(vec![Kind::RangeRead, Kind::RangeWrite]);
    (kind, pc(), offset(), 1..100usize, any::<u8>(), content).prop_map(
        |(kind, pc, offset, len, fill, content)| {
            let content = match (kind, content) {
                (Kind::RangeRead, Content::Later) => Content::Now,
                _ => content,
            };
            Step::Range { kind, pc, offset, len, fill, content }
        },
    )
}

/// A small set, so that loops form; some of them share a slot.
fn pc() -> impl Strategy<Value = usize> {
    let competing = (0x40_0000usize..).filter(|&pc| slot(key(pc, Kind::Read4)) == 7).take(4);
    select((0x40_1000..0x40_1008).chain(competing).collect::<Vec<_>>())
}

/// Close together and far apart, also across the page boundary.
fn offset() -> impl Strategy<Value = usize> {
    prop_oneof![0..64usize, 4080..4100usize, (0..500usize).prop_map(|it| it * 8)]
}

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..4u64,
        any::<u64>(),
        // Values of different sizes with the same lower half.
        (0..4u64).prop_map(|it| it << 32 | 1),
        any::<f32>().prop_map(|it| f64::from(it).to_bits()),
    ]
}

fn number() -> impl Strategy<Value = usize> {
    prop_oneof![0..16usize, 0x7f00_0000_0000..0x7f00_0000_1000usize, any::<usize>()]
}

/// Mostly short, sometimes longer than the maximum.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::collection::vec(any::<u8>(), 0..40),
        1 => any::<u8>().prop_map(|byte| vec![byte; TEXT + 100]),
    ]
}

fn sync_kinds() -> Vec<Kind> {
    Kind::ALL.iter().copied().filter(|it| matches!(it.shape(), Shape::Sync(_))).collect()
}
