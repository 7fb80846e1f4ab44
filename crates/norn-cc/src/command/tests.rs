//! Tests that map command lines to command lines.
//!
//! `[hooks]` stands for the arguments that every call that compiles gets, and `[dynamic]` or
//! `[static]` for the runtime. The first test of each family shows them in full.

use std::fs;

use super::*;

fn check(family: Family, line: &str) -> String {
    let compiler = Compiler::new(vec!["CC".into()], family);
    let arguments: Vec<OsString> = line.split_ascii_whitespace().map(OsString::from).collect();
    let command = command_line(&compiler, &arguments, &RuntimeDir::imaginary("RT"));
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn full(family: Family, line: &str) -> String {
    check(family, line).replace(" -", "\n-")
}

const ABBREVIATIONS: [(&str, &str); 6] = [
    ("-g -BRT/ -specs=RT/norn-instrument.specs -isystem RT/", "[hooks]"),
    ("-specs=RT/norn-dynamic.specs", "[dynamic]"),
    ("-specs=RT/norn-static.specs", "[static]"),
    (
        "-fsanitize=thread -fno-sanitize-link-runtime -mllvm -tsan-instrument-read-before-write=1 \
         -mllvm -tsan-distinguish-volatile=1 -fpatchable-function-entry=18,16 \
         -isystem RT/",
        "[hooks]",
    ),
    (
        "RT/norn-dynamic.o -Xlinker --dynamic-list=RT/norn-exports.list \
         -Wl,--push-state,--as-needed,-ldl,-lpthread,--pop-state",
        "[dynamic]",
    ),
    ("RT/norn-static.o @RT/norn-wraps.rsp", "[static]"),
];

/// The abbreviated command line for each of `lines`, which must be the same for both families.
fn brief(lines: &str) -> String {
    let brief = |family, line| {
        let mut text = check(family, line);
        for (long, short) in ABBREVIATIONS {
            text = text.replace(long, short);
        }
        text.replace("--start-no-unused-arguments -g ", "")
            .replace(" --end-no-unused-arguments", "")
    };
    let mut text = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (gcc, clang) = (brief(Family::Gcc, line), brief(Family::Clang, line));
        assert_eq!(gcc, clang);
        text += &gcc;
        text += "\n";
    }
    text
}

#[test]
fn gcc_in_full() {
    insta::assert_snapshot!(full(Family::Gcc, "-c a.c"), @r"
        CC
        -g
        -BRT/
        -specs=RT/norn-instrument.specs
        -isystem RT/
        -c a.c
        ");
    insta::assert_snapshot!(full(Family::Gcc, "a.c -o a"), @r"
        CC
        -g
        -BRT/
        -specs=RT/norn-instrument.specs
        -isystem RT/
        -specs=RT/norn-dynamic.specs a.c
        -o a
        ");
    insta::assert_snapshot!(full(Family::Gcc, "-static a.c"), @r"
        CC
        -g
        -BRT/
        -specs=RT/norn-instrument.specs
        -isystem RT/
        -specs=RT/norn-static.specs
        -static a.c
        ");
}

#[test]
fn clang_in_full() {
    insta::assert_snapshot!(full(Family::Clang, "-c a.c"), @r"
        CC
        --start-no-unused-arguments
        -g
        -fsanitize=thread
        -fno-sanitize-link-runtime
        -mllvm
        -tsan-instrument-read-before-write=1
        -mllvm
        -tsan-distinguish-volatile=1
        -fpatchable-function-entry=18,16
        -isystem RT/
        --end-no-unused-arguments
        -c a.c
        ");
    insta::assert_snapshot!(full(Family::Clang, "a.c -o a"), @r"
        CC
        --start-no-unused-arguments
        -g
        -fsanitize=thread
        -fno-sanitize-link-runtime
        -mllvm
        -tsan-instrument-read-before-write=1
        -mllvm
        -tsan-distinguish-volatile=1
        -fpatchable-function-entry=18,16
        -isystem RT/ RT/norn-dynamic.o
        -Xlinker
        --dynamic-list=RT/norn-exports.list
        -Wl,--push-state,--as-needed,-ldl,-lpthread,--pop-state
        --end-no-unused-arguments a.c
        -o a
        ");
    insta::assert_snapshot!(full(Family::Clang, "-static a.c"), @r"
        CC
        --start-no-unused-arguments
        -g
        -fsanitize=thread
        -fno-sanitize-link-runtime
        -mllvm
        -tsan-instrument-read-before-write=1
        -mllvm
        -tsan-distinguish-volatile=1
        -fpatchable-function-entry=18,16
        -isystem RT/ RT/norn-static.o @RT/norn-wraps.rsp
        --end-no-unused-arguments
        -static a.c
        ");
}

#[test]
fn clang_with_other_sanitizers() {
    insta::assert_snapshot!(full(Family::Clang, "-fsanitize=undefined -c a.c"), @r"
        CC
        --start-no-unused-arguments
        -g
        -Xclang
        -fsanitize=thread
        -mllvm
        -tsan-instrument-read-before-write=1
        -mllvm
        -tsan-distinguish-volatile=1
        -fpatchable-function-entry=18,16
        -isystem RT/
        --end-no-unused-arguments
        -fsanitize=undefined
        -c a.c
        ");
    let without = "-fsanitize=undefined -fno-sanitize=thread -c a.c";
    insta::assert_snapshot!(full(Family::Clang, without), @r"
        CC
        --start-no-unused-arguments
        -g
        -isystem RT/
        --end-no-unused-arguments
        -fsanitize=undefined
        -fno-sanitize=thread
        -c a.c
        ");
}

#[test]
fn executables_get_the_runtime() {
    let lines = "
        a.c
        a.c b.o libc.a -o a -lm
        -O2 a.c -g0 -fno-sanitize=thread
        -MD -MF a.d a.c
        -x c - -o a
        -xc++ main
        -no-pie a.o
        -pie -rdynamic a.o
        -static a.o
        -static-pie a.o
        --static a.o
        -static-libgcc -static-libstdc++ a.o
        -Wl,-Bstatic -lfoo -Wl,-Bdynamic a.o
        -nostdlib crt1.o a.o -lc
        -nostartfiles a.o
        -l:main.a -o a
        -### a.c
        a.c config.h
        -Wl,--no-undefined a.o
    ";
    insta::assert_snapshot!(brief(lines), @r"
        CC [hooks] [dynamic] a.c
        CC [hooks] [dynamic] a.c b.o libc.a -o a -lm
        CC [hooks] [dynamic] -O2 a.c -g0 -fno-sanitize=thread
        CC [hooks] [dynamic] -MD -MF a.d a.c
        CC [hooks] [dynamic] -x c - -o a
        CC [hooks] [dynamic] -xc++ main
        CC [hooks] [dynamic] -no-pie a.o
        CC [hooks] [dynamic] -pie -rdynamic a.o
        CC [hooks] [static] -static a.o
        CC [hooks] [static] -static-pie a.o
        CC [hooks] [static] --static a.o
        CC [hooks] [dynamic] -static-libgcc -static-libstdc++ a.o
        CC [hooks] [dynamic] -Wl,-Bstatic -lfoo -Wl,-Bdynamic a.o
        CC [hooks] [dynamic] -nostdlib crt1.o a.o -lc
        CC [hooks] [dynamic] -nostartfiles a.o
        CC [hooks] [dynamic] -l:main.a -o a
        CC [hooks] [dynamic] -### a.c
        CC [hooks] [dynamic] a.c config.h
        CC [hooks] [dynamic] -Wl,--no-undefined a.o
        ");
}

#[test]
fn parts_get_hooks_only() {
    let lines = "
        -c a.c
        -c a.c b.c
        -S a.c -o a.s
        -E a.c
        -E -dM -
        -M a.c
        -MM a.c
        -fsyntax-only a.c
        --compile a.c
        -c a.S
        -r a.o b.o -o ab.o
        -Wl,-r -nostdlib a.o b.o -o ab.o
        -Xlinker --relocatable a.o
        -c a.c -static -shared -lm -Wl,-z,now
        a.h
        -x c-header a.inc -o a.gch
        -x c++-header a -x none
        -nostdlib -static start.o kernel.o
        -nodefaultlibs a.o
    ";
    insta::assert_snapshot!(brief(lines), @r"
        CC [hooks] -c a.c
        CC [hooks] -c a.c b.c
        CC [hooks] -S a.c -o a.s
        CC [hooks] -E a.c
        CC [hooks] -E -dM -
        CC [hooks] -M a.c
        CC [hooks] -MM a.c
        CC [hooks] -fsyntax-only a.c
        CC [hooks] --compile a.c
        CC [hooks] -c a.S
        CC [hooks] -r a.o b.o -o ab.o
        CC [hooks] -Wl,-r -nostdlib a.o b.o -o ab.o
        CC [hooks] -Xlinker --relocatable a.o
        CC [hooks] -c a.c -static -shared -lm -Wl,-z,now
        CC [hooks] a.h
        CC [hooks] -x c-header a.inc -o a.gch
        CC [hooks] -x c++-header a -x none
        CC [hooks] -nostdlib -static start.o kernel.o
        CC [hooks] -nodefaultlibs a.o
        ");
}

#[test]
fn shared_libraries_get_no_runtime() {
    let lines = "
        -shared a.o -o liba.so
        -shared -nostdlib crti.o a.o -lc -Wl,-soname -Wl,liba.so.1
        --shared -static-libgcc a.o
        -Wl,-shared a.o
        -shared -Wl,-z,defs a.o
        -shared -Wl,-z -Wl,defs a.o
        -shared -z defs a.o
        -shared -Xlinker --no-undefined a.o
        -shared -Wl,--no-undefined,--as-needed a.o
    ";
    insta::assert_snapshot!(brief(lines), @r"
        CC [hooks] -shared a.o -o liba.so
        CC [hooks] -shared -nostdlib crti.o a.o -lc -Wl,-soname -Wl,liba.so.1
        CC [hooks] --shared -static-libgcc a.o
        CC [hooks] -Wl,-shared a.o
        CC [hooks] -shared -Wl,-z,defs a.o -Wl,--unresolved-symbols=ignore-all
        CC [hooks] -shared -Wl,-z -Wl,defs a.o -Wl,--unresolved-symbols=ignore-all
        CC [hooks] -shared -z defs a.o -Wl,--unresolved-symbols=ignore-all
        CC [hooks] -shared -Xlinker --no-undefined a.o -Wl,--unresolved-symbols=ignore-all
        CC [hooks] -shared -Wl,--no-undefined,--as-needed a.o -Wl,--unresolved-symbols=ignore-all
        ");
}

#[test]
fn questions_stay_as_they_are() {
    let lines = "
        -v
        -V
        -qversion
        --version
        --help
        -dumpmachine
        -print-prog-name=ld
        -print-file-name=libtsan.so
        -O2 -o a
        -include a.h -I dir -MF a.d -o a -T a.ld -x c++ --param k=v -arch x
        -cc1 -emit-obj a.c
        -cc1as a.s
    ";
    insta::assert_snapshot!(brief(lines), @r"
        CC -v
        CC -V
        CC -qversion
        CC --version
        CC --help
        CC -dumpmachine
        CC -print-prog-name=ld
        CC -print-file-name=libtsan.so
        CC -O2 -o a
        CC -include a.h -I dir -MF a.d -o a -T a.ld -x c++ --param k=v -arch x
        CC -cc1 -emit-obj a.c
        CC -cc1as a.s
        ");
    assert_eq!(check(Family::Gcc, ""), "CC");
}

#[test]
fn values_of_options_are_no_inputs() {
    let lines = "
        -I dir -o x.c -MF f.c -Xlinker y -include h.c -T s -x c++ --param k=v -arch z -c a.c
        -Xclang -c -mllvm -E -Xassembler -S -Xpreprocessor -M a.c
        -o -c a.c
        -MT -shared -MQ -static a.c
    ";
    insta::assert_snapshot!(brief(lines), @r"
        CC [hooks] -I dir -o x.c -MF f.c -Xlinker y -include h.c -T s -x c++ --param k=v -arch z -c a.c
        CC [hooks] [dynamic] -Xclang -c -mllvm -E -Xassembler -S -Xpreprocessor -M a.c
        CC [hooks] [dynamic] -o -c a.c
        CC [hooks] [dynamic] -MT -shared -MQ -static a.c
        ");
}

#[test]
fn response_files_are_read_and_passed_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        format!("@{}", path.display())
    };
    let compile = file("compile", "'-c' -O2 \"a b.c\"");
    let nested = file("nested", &format!("{compile} -Wall"));
    let library = file("library", "-shared\n-Wl,-z,defs\n");
    let lines = format!("{compile} -o a.o\n{nested}\n{library} a.o\n@missing\n");
    let text = brief(&lines).replace(&directory.path().display().to_string(), "$D");
    insta::assert_snapshot!(text, @r"
        CC [hooks] @$D/compile -o a.o
        CC [hooks] @$D/nested
        CC [hooks] @$D/library a.o -Wl,--unresolved-symbols=ignore-all
        CC [hooks] [dynamic] @missing
        ");
}

#[test]
fn the_words_before_and_after_are_kept_byte_by_byte() {
    use std::os::unix::ffi::OsStringExt as _;
    let odd = OsString::from_vec(b"-DX=\xff y".to_vec());
    let compiler = Compiler::new(vec!["ccache".into(), "gcc".into(), "-m64".into()], Family::Gcc);
    let arguments = ["-c".into(), odd.clone(), "a.c".into()];
    let command = command_line(&compiler, &arguments, &RuntimeDir::imaginary("RT"));
    assert_eq!(&command[..3], ["ccache", "gcc", "-m64"]);
    assert_eq!(&command[command.len() - 3..], arguments);
}
