//! The documentation of the format agrees with the code.

use norn_abi::{
    Kind, Shape,
    arena::{CHUNK, CHUNK_FRAMES},
    codec::{
        BITS, BITS_V1, CELLS, CELLS_V1, CONTENT, NEAR, RECENTS, SITES, cell, cell_v1, key, recent,
        slot,
    },
};
use norn_trace::FORMAT;

const DOCUMENT: &str = include_str!("../../../../docs/trace-format.md");

#[test]
fn every_kind_is_described() {
    for kind in Kind::ALL {
        let shape = match kind.shape() {
            Shape::Sync(count) => format!("sync({count})"),
            shape => format!("{shape:?}").to_lowercase(),
        };
        let row = format!("| {} | {:#x} | {shape} |", kind.name(), kind.code());
        assert!(DOCUMENT.contains(&row), "{row}");
    }
    let rows = DOCUMENT.lines().filter(|it| it.contains("| 0x")).count();
    assert_eq!(rows, Kind::ALL.len());
}

#[test]
fn the_numbers_are_right() {
    assert!(DOCUMENT.contains(&format!("Format {FORMAT}.")));
    assert!(DOCUMENT.contains(&format!("at\nmost {CHUNK} bytes")));
    assert!(DOCUMENT.contains(&format!("at most `depth` and {CHUNK_FRAMES}")));
    assert!(DOCUMENT.contains(&format!("There are {SITES} slots")));
    assert!(DOCUMENT.contains(&format!("slot = (pc ^ kind * 0x25) & {}", SITES - 1)));
    assert!(DOCUMENT.contains(&format!("{CELLS} **cells**")));
    assert!(DOCUMENT.contains(&format!("(address >> log2) & {}", CELLS - 1)));
    assert!(DOCUMENT.contains(&format!("(address >> 2) & {}", CELLS_V1 - 1)));
    assert!(DOCUMENT.contains(&format!("{RECENTS} **recent values**")));
    assert!(DOCUMENT.contains(&format!("at most {CONTENT} bytes")));
    let row = |widths: &[u8], last: &str| {
        let widths: Vec<_> = widths.iter().take(7).map(u8::to_string).collect();
        format!("| bytes | {} | {last}", widths.join(" | "))
    };
    assert!(DOCUMENT.contains(&row(&NEAR, "damage")));
    assert!(DOCUMENT.contains(&row(&BITS, "none")));
    assert!(DOCUMENT.contains(&row(&BITS_V1, "none")));
}

#[test]
fn the_formulas_are_right() {
    for (pc, kind) in [(0x40_1234, Kind::Read4), (0x7fff_1234_5678, Kind::Acquire)] {
        let expected = (pc ^ (usize::from(kind.code()) * 0x25)) & (SITES - 1);
        assert_eq!(slot(key(pc, kind)), expected);
        assert_eq!(cell(pc, 3), (pc >> 3) & (CELLS - 1));
        assert_eq!(cell_v1(pc), (pc >> 2) & (CELLS_V1 - 1));
        let product = (pc as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert_eq!(recent(pc as u64) as u64, product / (1 << 56));
    }
}
