//! Maps addresses to functions and lines, with all available compilers.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use norn_binary::{Frame, Module};
use subject::{Subject, clangs, line_of};

/// The chain of inlined calls at the mark in `innermost`, and the plain function.
fn check(compiler: &str, flags: &[&str]) {
    let subject = Subject::build(compiler, "frames.c", flags);
    let module = Module::open(&subject.path).unwrap();
    let context = format!("{compiler} {flags:?}");
    let frames = module.frames(subject.address("inner_mark"));
    let expected = [
        ("innermost", "frames.h", line_of("frames.h", "here: innermost"), true),
        ("middle", "frames.c", line_of("frames.c", "here: middle"), true),
        ("outer", "frames.c", line_of("frames.c", "here: outer"), false),
    ];
    let found: Vec<_> = frames.iter().map(summary).collect();
    assert_eq!(found, expected, "{context}");
    assert!(frames.iter().all(|frame| frame.column.is_some()), "{context}: {frames:?}");

    let frames = module.frames(subject.address("plain_mark"));
    let expected = ("plain", "frames.c", line_of("frames.c", "here: plain"), false);
    assert_eq!(frames.iter().map(summary).collect::<Vec<_>>(), [expected], "{context}");
    assert!(module.has_lines() && !module.is_stripped());
}

fn summary(frame: &Frame) -> (&str, &str, u32, bool) {
    let file = frame.file.as_deref().unwrap_or_default();
    assert!(file.starts_with('/'), "{file} is absolute");
    let name = file.rsplit('/').next().unwrap_or_default();
    let function = frame.function.as_deref().unwrap_or_default();
    (function, name, frame.line.unwrap_or_default(), frame.inlined)
}

#[test]
fn gcc_dwarf_5() {
    check("gcc", &["-O0", "-g", "-gdwarf-5"]);
    check("gcc", &["-O2", "-g", "-gdwarf-5"]);
}

#[test]
fn gcc_dwarf_4() {
    check("gcc", &["-O0", "-g", "-gdwarf-4"]);
    check("gcc", &["-O2", "-g", "-gdwarf-4"]);
}

#[test]
fn gcc_variants() {
    check("gcc", &["-O2", "-g", "-gz"]);
    check("gcc", &["-O2", "-g", "-gz=zlib-gnu"]);
    check("gcc", &["-O2", "-g", "-no-pie", "-static"]);
    check("gcc", &["-O2", "-g", "-shared", "-fPIC"]);
    check("gcc", &["-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"]);
    check("gcc", &["-O2", "-g", "-flto"]);
}

#[test]
fn clang() {
    for compiler in clangs("") {
        check(&compiler, &["-O0", "-g", "-gdwarf-5"]);
        check(&compiler, &["-O2", "-g", "-gdwarf-5"]);
        check(&compiler, &["-O2", "-g", "-gdwarf-4"]);
        check(&compiler, &["-O2", "-gline-tables-only"]);
    }
}

#[test]
fn split_dwarf() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        check("gcc", &["-O2", "-g", "-gsplit-dwarf", version]);
        for compiler in clangs("") {
            check(&compiler, &["-O2", "-g", "-gsplit-dwarf", version]);
        }
    }
}

#[test]
fn cpp_names() {
    let expected = [
        ("template_mark", &["bank::twice<int>"][..]),
        ("constructor_mark", &["bank::Account::Account"]),
        ("method_mark", &["bank::Account::deposit"]),
        ("hidden_mark", &["bank::(anonymous namespace)::hidden"]),
        (
            "lambda_mark",
            &[
                "main::{lambda(int)#1}::operator()",
                "main::{lambda}::operator()",
                "main::$_0::operator()",
            ],
        ),
    ];
    let gcc = ["g++".to_owned()];
    for (compiler, level) in gcc.iter().chain(&clangs("++")).flat_map(|c| [(c, "-O0"), (c, "-O2")])
    {
        let subject = Subject::build(compiler, "frames.cpp", &["-g", level]);
        let module = Module::open(&subject.path).unwrap();
        for (mark, names) in expected {
            let frames = module.frames(subject.address(mark));
            let name = frames[0].function.as_deref().unwrap();
            assert!(names.contains(&name), "{compiler} {level}: {name}");
        }
    }
}

#[test]
fn nowhere() {
    let subject = Subject::build("gcc", "frames.c", &["-g"]);
    let module = Module::open(&subject.path).unwrap();
    for address in [0, 1, u64::MAX, 1 << 40] {
        assert_eq!(module.frames(address), []);
    }
}

#[test]
fn many_threads() {
    let subject = Subject::build("gcc", "frames.c", &["-O2", "-g"]);
    let module = Module::open(&subject.path).unwrap();
    let code = module.segments().iter().find(|segment| segment.executable).unwrap();
    let addresses = code.address..code.address + code.memory_size;
    let all = || addresses.clone().map(|address| module.frames(address)).collect::<Vec<_>>();
    let alone = all();
    std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(all));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}
