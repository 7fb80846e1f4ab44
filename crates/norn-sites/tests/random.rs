//! Code that no compiler wrote: random bytes as function bodies, and damaged functions.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod compiled;

use std::{fs, ops::Range, sync::OnceLock};

use compiled::one;
use norn_binary::Module;
use norn_sites::{FailureSites, Options};
use proptest::prelude::*;

/// A program, and where its code is in the file.
fn program() -> &'static (Vec<u8>, Range<usize>) {
    static PROGRAM: OnceLock<(Vec<u8>, Range<usize>)> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = one(folder.path(), "sites.c");
        let module = Module::open(&path).unwrap();
        let code = module.segments().iter().find(|it| it.executable).unwrap();
        let start = usize::try_from(code.file_offset).unwrap();
        let size = usize::try_from(code.file_size).unwrap();
        (fs::read(&path).unwrap(), start..start + size)
    })
}

fn analyse(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    fs::write(&path, bytes).unwrap();
    let module = Module::open(&path).unwrap();
    let sites = FailureSites::find(&module, &Options::default()).sites;
    assert!(sites.is_sorted_by_key(|it| (it.pc, it.kind)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_as_functions(seed in proptest::collection::vec(any::<u8>(), 256..4096)) {
        let (bytes, code) = program();
        let mut bytes = bytes.clone();
        // The stubs at the begin stay, so that some calls are those of hooks.
        let middle = code.start + code.len() / 4;
        let random = seed.iter().cycle();
        bytes[middle..code.end].iter_mut().zip(random).for_each(|(to, from)| *to = *from);
        analyse(&bytes);
    }

    #[test]
    fn damaged_functions(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..64)) {
        let (bytes, code) = program();
        let mut bytes = bytes.clone();
        for (at, byte) in damage {
            bytes[code.start + at.index(code.len())] = byte;
        }
        analyse(&bytes);
    }
}
