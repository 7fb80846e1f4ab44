//! Debug information in the file, compressed, in a separate file, or missing.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use std::fs;
use std::path::Path;

use norn_binary::{BinaryError, DebugSearch, Module};
use subject::{Subject, is_installed};

/// The remaining information about a mark in an inlined function and about a member.
fn known(path: &Path, search: &DebugSearch, mark: u64) -> (Vec<String>, Option<u32>) {
    let module = Module::open_with(path, search).unwrap();
    let frames = module.frames(mark);
    let names = frames.iter().filter_map(|frame| frame.function.as_deref().map(str::to_owned));
    (names.collect(), frames.first().and_then(|frame| frame.line))
}

fn nowhere() -> DebugSearch {
    DebugSearch { roots: Vec::new() }
}

const INLINED: [&str; 3] = ["innermost", "middle", "outer"];

#[test]
fn compressed_sections() {
    let plain = Subject::build("gcc", "frames.c", &["-O2", "-g"]);
    let mark = plain.address("inner_mark");
    for format in ["zlib", "zlib-gnu", "zstd"] {
        let subject = plain.copy();
        subject.run("objcopy", &[&format!("--compress-debug-sections={format}"), "subject"]);
        assert_eq!(known(&subject.path, &nowhere(), mark).0, INLINED, "{format}");
    }
}

#[test]
fn stripped() {
    let subject = Subject::build("gcc", "frames.c", &["-O2", "-g", "-rdynamic"]);
    let mark = subject.address("inner_mark");

    subject.run("strip", &["--strip-debug", "subject"]);
    let module = Module::open(&subject.path).unwrap();
    assert!(!module.has_lines() && !module.is_stripped());
    assert_eq!(known(&subject.path, &nowhere(), mark), (vec!["outer".to_owned()], None));
    assert_eq!(&*module.symbol(mark).unwrap().name, "outer");

    // The exported names stay.
    subject.run("strip", &["subject"]);
    let module = Module::open(&subject.path).unwrap();
    assert!(!module.has_lines() && module.is_stripped());
    assert_eq!(known(&subject.path, &nowhere(), mark).0, ["outer"]);
}

#[test]
fn stripped_of_all_names() {
    let subject = Subject::build("gcc", "frames.c", &["-O2", "-g", "-static"]);
    let mark = subject.address("inner_mark");
    subject.run("strip", &["subject"]);
    let module = Module::open(&subject.path).unwrap();
    assert!(!module.has_lines() && module.is_stripped());
    assert_eq!(module.frames(mark), []);
    assert_eq!(module.symbol(mark), None);
}

fn split_debug_file(subject: &Subject) {
    subject.run("objcopy", &["--only-keep-debug", "subject", "subject.debug"]);
    subject.run("strip", &["subject"]);
}

#[test]
fn debug_link() {
    let subject = Subject::build("gcc", "frames.c", &["-O2", "-g", "-Wl,--build-id=none"]);
    let mark = subject.address("inner_mark");
    split_debug_file(&subject);
    subject.run("objcopy", &["--add-gnu-debuglink=subject.debug", "subject"]);
    let module = Module::open(&subject.path).unwrap();
    assert!(module.has_lines() && !module.is_stripped());
    assert!(module.debug_file().unwrap().ends_with("subject.debug"));
    assert_eq!(known(&subject.path, &nowhere(), mark).0, INLINED);

    fs::create_dir(subject.file(".debug")).unwrap();
    fs::rename(subject.file("subject.debug"), subject.file(".debug/subject.debug")).unwrap();
    assert_eq!(known(&subject.path, &nowhere(), mark).0, INLINED);

    // The debug file of another build has another checksum.
    let other = Subject::build("gcc", "frames.c", &["-O0", "-g", "-Wl,--build-id=none"]);
    fs::copy(&other.path, subject.file(".debug/subject.debug")).unwrap();
    assert_eq!(Module::open(&subject.path).unwrap().debug_file(), None);
}

#[test]
fn debug_file_by_build_id() {
    let subject = Subject::build("gcc", "data.c", &["-g", "-Wl,--build-id"]);
    let address = subject.address("account");
    split_debug_file(&subject);
    let id = Module::open(&subject.path).unwrap().build_id().unwrap().to_string();
    assert_eq!(id.len(), 40);
    let directory = subject.file("root/.build-id").join(&id[..2]);
    fs::create_dir_all(&directory).unwrap();
    fs::rename(subject.file("subject.debug"), directory.join(format!("{}.debug", &id[2..])))
        .unwrap();
    let search = DebugSearch { roots: vec![subject.file("root")] };
    let module = Module::open_with(&subject.path, &search).unwrap();
    assert_eq!(module.variable(address + 8, 4).unwrap().name, "account.balance");
    assert!(module.tls_variable(8, 4).unwrap().name.starts_with("here"));
}

#[test]
fn supplementary_file() {
    if !is_installed("dwz") {
        return;
    }
    let build = |program| {
        let subject = Subject::build("gcc", program, &["-O1", "-g"]);
        fs::copy(&subject.path, subject.file("second")).unwrap();
        subject.run("dwz", &["-m", "common.dwz", "subject", "second"]);
        subject
    };
    let data = build("data.c");
    let module = Module::open(&data.path).unwrap();
    let variable = module.variable(data.address("account") + 8, 4).unwrap();
    assert_eq!(variable.name, "account.balance");
    let code = build("frames.c");
    assert_eq!(known(&code.path, &nowhere(), code.address("inner_mark")).0, INLINED);
}

#[test]
fn segments_and_bias() {
    let subject = Subject::build("gcc", "data.c", &["-g"]);
    let module = Module::open(&subject.path).unwrap();
    let segments = module.segments();
    assert!(
        segments.iter().any(|s| s.executable && !s.writable && s.contains(subject.address("main")))
    );
    assert!(segments.iter().any(|s| s.writable && s.contains(subject.address("counter"))));
    for segment in segments {
        let address = module.address_of_file_offset(segment.file_offset);
        assert_eq!(address, Some(segment.address));
    }
    assert_eq!(module.address_of_file_offset(u64::MAX), None);
    assert_eq!(module.tls().unwrap().memory_size, 16);
}

/// The bias of this very process, from its own map, by the address of one of its functions.
#[test]
fn load_bias() {
    let path = std::env::current_exe().unwrap();
    let module = Module::open(&path).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps
        .lines()
        .find(|line| line.contains(" r-xp ") && line.ends_with(path.to_str().unwrap()))
        .unwrap();
    let fields: Vec<_> = line.split([' ', '-']).collect();
    let number = |field: usize| u64::from_str_radix(fields[field], 16).unwrap();
    let (start, offset) = (number(0), number(4));
    let bias = module.load_bias(start, offset).unwrap();
    let here = load_bias as fn() as usize as u64;
    let frames = module.frames(here - bias);
    // Line tables alone name a function without its module.
    let function = frames.last().unwrap().function.as_deref().unwrap();
    assert_eq!(function.rsplit("::").next(), Some("load_bias"));
}

#[test]
fn invalid_modules_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Module::open(&path).unwrap_err()
    };
    assert!(matches!(open(b""), BinaryError::NotElf { .. }));
    assert!(matches!(open(b"#!/bin/sh\n"), BinaryError::NotElf { .. }));
    assert!(matches!(open(b"\x7fELF"), BinaryError::Damaged { .. }));
    assert!(matches!(open(b"\x7fELF\x01\x01"), BinaryError::Unsupported { .. }));
    assert!(matches!(open(b"\x7fELF\x02\x02"), BinaryError::Unsupported { .. }));
    assert!(matches!(Module::open(directory.path()).unwrap_err(), BinaryError::Open { .. }));
    let missing = Module::open(directory.path().join("missing")).unwrap_err();
    assert!(matches!(missing, BinaryError::Open { .. }));

    let object = Subject::build("gcc", "frames.c", &["-c"]);
    let error = Module::open(&object.path).unwrap_err();
    assert!(matches!(error, BinaryError::Unsupported { found: "an object file", .. }));
}
