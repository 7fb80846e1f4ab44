//! Maps addresses to variables and their parts, with all available compilers.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod subject;

use norn_binary::Module;
use subject::{Subject, clangs, is_installed, line_of};

/// Symbol, offset, size of the access, and the expected name.
type Case = (&'static str, u64, u64, &'static str);

const C: &[Case] = &[
    ("counter", 0, 4, "counter"),
    ("counter", 2, 1, "counter"),
    ("buf", 12, 4, "buf[3]"),
    ("buf", 0, 32, "buf"),
    ("buf", 8, 8, "buf[2..3]"),
    ("buf", 30, 1, "buf[7]"),
    ("grid", 20, 4, "grid[1][2]"),
    ("grid", 12, 12, "grid[1]"),
    ("grid", 4, 8, "grid[0][1..2]"),
    ("grid", 8, 8, "grid[0..1]"),
    ("pointer", 0, 8, "pointer"),
    ("handlers", 8, 8, "handlers[1]"),
    ("account", 0, 8, "account.id"),
    ("account", 8, 4, "account.balance"),
    ("account", 16, 4, "account.where.y"),
    ("account", 12, 8, "account.where"),
    ("account", 8, 8, "account.{balance, where}"),
    ("account", 23, 1, "account.name[3]"),
    ("account", 0, 40, "account"),
    ("table", 2 * 16 + 8, 8, "table[2].next"),
    ("table", 16, 4, "table[1].key"),
    ("table", 16, 16, "table[1]"),
    ("table", 20, 2, "table[1]"),
    ("word", 0, 4, "word.whole"),
    ("word", 2, 2, "word.half[1]"),
    ("word", 3, 1, "word.byte[3]"),
    ("cell", 0, 8, "cell.both"),
    ("cell", 4, 4, "cell.hi"),
    ("flags", 0, 1, "flags.{ready, mode, level}"),
    ("flags", 1, 1, "flags.level"),
    ("flags", 0, 4, "flags.{ready, mode, level}"),
    ("flags", 4, 4, "flags.after"),
    ("outer", 0, 4, "outer.a"),
    ("outer", 8, 4, "outer.c"),
    ("outer", 4, 8, "outer.{b, c}"),
    ("outer", 0, 16, "outer"),
    ("outer", 12, 4, "outer.d"),
    ("padded", 0, 1, "padded.tag"),
    ("padded", 4, 1, "padded"),
    ("padded", 8, 8, "padded.value"),
    ("message", 0, 4, "message.length"),
    ("message", 6, 1, "message.text[2]"),
    ("wide", 4, 8, "wide.{b, c}"),
    ("wide", 4, 16, "wide.{b..e}"),
    ("origin", 4, 4, "origin.y"),
    ("fixed", 0, 4, "fixed.x"),
    ("hits", 0, 4, "hits"),
    ("hidden", 4, 4, "hidden.y"),
    ("id", 0, 4, "next_id::id"),
    ("last", 8, 4, "next_id::last[1].x"),
];

const C_THREAD_LOCAL: &[Case] = &[("depth", 0, 4, "depth"), ("here", 4, 4, "here.y")];

const CPP: &[Case] = &[
    ("_ZN4bank4rateE", 0, 4, "bank::rate"),
    ("_ZN4bank7Account5totalE", 0, 4, "bank::Account::total"),
    ("_ZN4bank7Account6openedE", 0, 4, "bank::Account::opened"),
    ("_ZN4bank6sharedE", 8, 4, "bank::shared.kind"),
    ("_ZN4bank6sharedE", 16, 8, "bank::shared.weight"),
    ("_ZN4bank6sharedE", 24, 4, "bank::shared.balance"),
    ("_ZN4bank4hitsE", 0, 4, "bank::hits"),
    ("_ZN4bank4doneE", 0, 1, "bank::done"),
    ("_ZN4bank5slotsE", 8, 4, "bank::slots[2]"),
    ("_ZN4bank4pairE", 0, 4, "bank::pair.first"),
    ("_ZN4bank4pairE", 8, 8, "bank::pair.second"),
    ("_ZN4bank4lockE", 0, 4, "bank::lock.__data.__lock"),
    ("_ZN4bank4bothE", 4, 4, "bank::both.second.kind"),
    ("_ZN4bank4bothE", 0, 8, "bank::both"),
    ("_ZN4bank6HolderIsE5valueE", 0, 2, "bank::Holder<short>::value"),
    ("_ZN4bank12_GLOBAL__N_16secretE", 0, 4, "bank::(anonymous namespace)::secret"),
    ("_ZZN4bank7Account4nextEvE2id", 0, 4, "bank::Account::next::id"),
    ("_ZZN4bank6ticketEvE6number", 0, 4, "bank::ticket::number"),
];

fn check_all(subject: &Subject, context: &str, memory: &[Case], thread_local: &[Case]) {
    let module = Module::open(&subject.path).unwrap();
    let mut wrong = Vec::new();
    for (symbol, offset, size, expected) in memory {
        let found = module.variable(subject.address(symbol) + offset, *size);
        let name = found.as_ref().map(|variable| variable.name.as_str());
        if name != Some(expected) {
            wrong.push(format!("{symbol}+{offset} size {size}: {name:?}, not {expected}"));
        }
        assert!(found.is_none_or(|v| v.offset == *offset && !v.is_thread_local), "{symbol}");
    }
    for (symbol, offset, size, expected) in thread_local {
        let found = module.tls_variable(subject.address(symbol) + offset, *size);
        let name = found.as_ref().map(|variable| variable.name.as_str());
        if name != Some(expected) {
            wrong.push(format!("{symbol}+{offset} size {size}: {name:?}, not {expected}"));
        }
        assert!(found.is_none_or(|v| v.offset == *offset && v.is_thread_local), "{symbol}");
    }
    assert!(wrong.is_empty(), "{context}\n{}", wrong.join("\n"));
}

fn check_c(compiler: &str, flags: &[&str]) {
    let subject = Subject::build(compiler, "data.c", flags);
    check_all(&subject, &format!("{compiler} {flags:?}"), C, C_THREAD_LOCAL);
}

fn check_cpp(compiler: &str, flags: &[&str]) {
    let flags: Vec<_> = ["-std=c++17"].iter().chain(flags).copied().collect();
    let subject = Subject::build(compiler, "data.cpp", &flags);
    let level = [("_ZN4bank5levelE", 0, 4, "bank::level")];
    check_all(&subject, &format!("{compiler} {flags:?}"), CPP, &level);
}

#[test]
fn c_with_gcc() {
    for level in ["-O0", "-O2"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            check_c("gcc", &[level, "-g", version]);
        }
    }
}

#[test]
fn c_with_gcc_variants() {
    check_c("gcc", &["-g", "-gz"]);
    check_c("gcc", &["-g", "-no-pie", "-static"]);
    check_c("gcc", &["-g", "-shared", "-fPIC"]);
    check_c("gcc", &["-g", "-gdwarf-4", "-fdebug-types-section"]);
    check_c("gcc", &["-g", "-gdwarf-5", "-fdebug-types-section"]);
    check_c("gcc", &["-g", "-gdwarf-4", "-gstrict-dwarf"]);
}

#[test]
fn c_with_split_dwarf() {
    check_c("gcc", &["-g", "-gdwarf-4", "-gsplit-dwarf"]);
    check_c("gcc", &["-g", "-gdwarf-5", "-gsplit-dwarf"]);
    for compiler in clangs("") {
        check_c(&compiler, &["-g", "-gdwarf-4", "-gsplit-dwarf"]);
        check_c(&compiler, &["-g", "-gdwarf-5", "-gsplit-dwarf"]);
    }
}

#[test]
fn c_with_clang() {
    for compiler in clangs("") {
        for level in ["-O0", "-O1"] {
            for version in ["-gdwarf-4", "-gdwarf-5"] {
                check_c(&compiler, &[level, "-g", version]);
            }
        }
    }
}

#[test]
fn cpp_with_gcc() {
    check_cpp("g++", &["-O0", "-g", "-gdwarf-5"]);
    check_cpp("g++", &["-O2", "-g", "-gdwarf-5"]);
    check_cpp("g++", &["-O0", "-g", "-gdwarf-4"]);
    check_cpp("g++", &["-O0", "-g", "-gdwarf-5", "-fdebug-types-section"]);
}

#[test]
fn cpp_with_clang() {
    for compiler in clangs("++") {
        check_cpp(&compiler, &["-O0", "-g", "-gdwarf-5"]);
        check_cpp(&compiler, &["-O0", "-g", "-gdwarf-4"]);
    }
}

#[test]
fn link_time_optimisation() {
    check_c("gcc", &["-O1", "-g", "-flto"]);
}

#[test]
fn dwarf_package() {
    let subject = Subject::build("gcc", "data.c", &["-g", "-gdwarf-4", "-gsplit-dwarf"]);
    if is_installed("dwp") {
        subject.run("dwp", &["-e", "subject"]);
        remove_split_units(&subject);
        check_all(&subject, "dwp", C, C_THREAD_LOCAL);
    }
}

#[test]
fn lost_split_units_leave_symbols() {
    let subject = Subject::build("gcc", "data.c", &["-g", "-gsplit-dwarf"]);
    remove_split_units(&subject);
    let cases = [("buf", 12, 4, "buf+0xc"), ("counter", 0, 4, "counter")];
    check_all(&subject, "without .dwo", &cases, &[("here", 4, 4, "here+0x4")]);
}

fn remove_split_units(subject: &Subject) {
    for entry in std::fs::read_dir(subject.directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "dwo") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn declaration_and_size() {
    let subject = Subject::build("gcc", "data.c", &["-g"]);
    let module = Module::open(&subject.path).unwrap();
    let address = subject.address("account");
    let variable = module.variable(address + 8, 4).unwrap();
    assert_eq!((variable.symbol.as_str(), variable.address), ("account", address));
    assert_eq!((variable.offset, variable.size), (8, 40));
    assert_eq!(variable.line, Some(line_of("data.c", "struct account account USED;")));
    assert!(variable.file.unwrap().ends_with("/tests/programs/data.c"));

    let local = module.variable(subject.address("id"), 4).unwrap();
    assert!(local.symbol.starts_with("id."), "{}", local.symbol);
    assert_eq!(local.line, Some(line_of("data.c", "static int id USED;")));

    // The flexible array ends where the symbol ends, not where its type does.
    assert_eq!(module.variable(subject.address("message"), 1).unwrap().size, 12);
}

#[test]
fn between_variables() {
    let subject = Subject::build("gcc", "data.c", &["-g"]);
    let module = Module::open(&subject.path).unwrap();
    for address in [0, u64::MAX, subject.address("main")] {
        assert_eq!(module.variable(address, 8), None);
    }
    assert_eq!(module.tls_variable(module.tls().unwrap().memory_size, 1), None);
}

#[test]
fn without_debug_information() {
    let subject = Subject::build("g++", "data.cpp", &["-std=c++17"]);
    let cases = [
        ("_ZN4bank6sharedE", 0, 8, "bank::shared"),
        ("_ZN4bank6sharedE", 24, 4, "bank::shared+0x18"),
        ("_ZZN4bank7Account4nextEvE2id", 0, 4, "bank::Account::next::id"),
    ];
    check_all(&subject, "no -g", &cases, &[("_ZN4bank5levelE", 0, 4, "bank::level")]);
}
