//! Damaged files give less information or an error, and never a panic.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use std::fs;
use std::sync::LazyLock;

use norn_binary::{DebugSearch, Module};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use subject::Subject;

/// Small files, so that most of their bytes matter.
static SUBJECTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let small = ["-O1", "-g", "-nostdlib", "-static", "-Wl,-e,main,-z,noseparate-code"];
    let variants: [&[&str]; 4] =
        [&["-gdwarf-5"], &["-gdwarf-4"], &["-gz"], &["-gdwarf-4", "-fdebug-types-section"]];
    let programs = ["frames.c", "data.c"];
    let build = |program, variant: &[&str]| {
        fs::read(Subject::build("gcc", program, &[&small, variant].concat()).path).unwrap()
    };
    variants.iter().flat_map(|v| programs.map(|program| build(program, v))).collect()
});

/// Runs all queries for addresses all over the module.
fn ask_everything(bytes: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged");
    fs::write(&path, bytes).unwrap();
    let nowhere = DebugSearch { roots: Vec::new() };
    let Ok(module) = Module::open_with(&path, &nowhere) else { return };
    let _ = (module.build_id(), module.is_stripped(), module.has_lines(), module.instrumented());
    for segment in module.segments() {
        let _ = module.address_of_file_offset(segment.file_offset);
        for step in 0..64 {
            let offset = (segment.memory_size / 64).max(1).wrapping_mul(step);
            let address = segment.address.wrapping_add(offset);
            let _ = (module.frames(address), module.symbol(address));
            let _ = module.variable(address, step);
        }
    }
    for offset in 0..16 {
        let _ = module.tls_variable(offset, 4);
    }
    let _ = (module.frames(u64::MAX), module.variable(u64::MAX, u64::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn flipped_bytes(which: Index, flips in vec((any::<Index>(), any::<u8>()), 1..24)) {
        let mut bytes = which.get(&SUBJECTS).clone();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= value;
        }
        ask_everything(&bytes);
    }

    #[test]
    fn truncated(which: Index, length: Index) {
        let bytes = which.get(&SUBJECTS);
        ask_everything(&bytes[..length.index(bytes.len())]);
    }
}

#[test]
fn undamaged() {
    SUBJECTS.iter().for_each(|bytes| ask_everything(bytes));
}
