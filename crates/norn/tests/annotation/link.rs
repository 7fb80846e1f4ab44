//! Programs that refer to every entry point can be linked, and the list of entry points is complete.

use std::{collections::BTreeSet, fs, process::Command};

use norn_e2e::{process, tool};

use crate::{entry_point::ENTRY_POINTS, kit::norn};

/// Groups of functions that are not provided: of the instrumentation for coverage, and of programs that
/// make system calls without libc.
const OTHERS: [&str; 5] = [
    "__sanitizer_cov_",
    "__sancov_",
    "__sanitizer_syscall_",
    "__sanitizer_weak_hook_",
    "__sanitizer_netbsd_",
];

/// A program that keeps the address of every entry point, and fails if one is missing at run time.
fn source() -> String {
    let declared = ENTRY_POINTS.iter().map(|it| format!("extern char {it}[];\n"));
    let listed = ENTRY_POINTS.iter().map(|it| format!("    {it},\n"));
    let (declared, listed) = (declared.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
    format!(
        "{}char *volatile all[] = {{\n{}}};\nint main(void) {{\n    \
         for (unsigned i = 0; i < sizeof all / sizeof *all; i++)\n        \
         if (!all[i]) return 1;\n    return 0;\n}}\n",
        declared.concat(),
        listed.concat()
    )
}

#[test]
fn every_entry_point_is_linked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prog.c"), source()).unwrap();
    for compiler in tool::installed(["gcc", "clang-14", "clang-19"]) {
        for flags in [&[][..], &["-static"]] {
            let words = [&["cc", "-pthread", "prog.c", "-o", "prog"], flags].concat();
            let mut command = norn(folder.path(), words);
            command.env("NORN_CC", compiler);
            let ran = process::run(command);
            assert_eq!(ran.code, Some(0), "{compiler} {flags:?}: {}", ran.stderr);
            let ran = process::run(norn(folder.path(), ["record", "./prog"]));
            assert_eq!(ran.code, Some(0), "{compiler} {flags:?}: {ran:?}");
        }
    }
}

/// The list contains what the installed library of gcc exports.
#[test]
fn the_list_is_complete() {
    let mut ask = Command::new("gcc");
    ask.arg("-print-file-name=libtsan.so");
    let library = process::run(ask).stdout.trim().to_owned();
    if !library.starts_with('/') {
        return tool::untested("libtsan is not installed");
    }
    let mut list = Command::new("nm");
    list.args(["-D", "--defined-only", &library]);
    let ran = process::run(list);
    let public = ["__tsan_", "__sanitizer_", "Annotate", "WTFAnnotate", "RunningOn", "Valgrind"];
    let names = ran.stdout.lines().filter_map(|it| it.split_whitespace().nth(2));
    let names = names.filter(|it| public.iter().any(|part| it.starts_with(part)));
    let names = names.filter(|it| !OTHERS.iter().any(|part| it.starts_with(part)));
    let known: BTreeSet<&str> = ENTRY_POINTS.iter().copied().collect();
    let missing: Vec<_> = names.filter(|it| !known.contains(it)).collect();
    assert!(ran.stdout.contains("__tsan_read4"), "{library} exports nothing");
    assert!(missing.is_empty(), "{missing:?}");
}
