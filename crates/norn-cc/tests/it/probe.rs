//! Queries of configure scripts. The wrapper must answer as the compiler does.

use crate::{kit::Kit, toolchain::toolchains};

/// Calls that do not compile anything.
const QUESTIONS: [&str; 20] = [
    "",
    "-v",
    "-V",
    "-qversion",
    "-version",
    "--version",
    "--help",
    "-dumpmachine",
    "-dumpversion",
    "-print-prog-name=ld",
    "-print-search-dirs",
    "-print-file-name=libc.a",
    "-print-multi-os-directory",
    "-print-libgcc-file-name",
    "-print-sysroot",
    "-### -O2",
    "-o x",
    "--no-such-option",
    "-c",
    "-E -v",
];

#[test]
fn questions_are_answered_by_the_compiler() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        for question in QUESTIONS {
            let real = kit.try_sh(&format!("$(command -v $REAL_CC) {question}"));
            assert_eq!(kit.try_sh(&format!("$CC {question}")), real, "{toolchain:?} {question}");
        }
    }
}

/// With this option gcc prints the linker's command, which contains random file names.
#[test]
fn the_linker_tells_its_version() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        let (ours, real) = (kit.sh("$CC -Wl,--version"), kit.sh("$REAL_CC -Wl,--version"));
        assert_eq!(ours.stdout, real.stdout, "{toolchain:?}");
    }
}

/// Calls that stop before linking: outputs, messages and exit status equal the compiler's.
#[test]
fn calls_that_do_not_link_have_the_same_output() {
    let calls = [
        "-c x.c",
        "-S x.c",
        "-E x.c",
        "-M x.c",
        "-MM x.c",
        "-MD -MF x.d -c x.c",
        "-fsyntax-only x.c",
        "-c x.c -o y.o -Wl,-rpath,/nowhere -lm",
        "-x c-header x.h -o x.h.gch",
        "x.h",
        "-c x.S",
        "-E - < x.c",
        "-c wrong.c",
        "wrong.c",
        "-c missing.c",
        "-c x.c -Werror -Wall -Wextra",
    ];
    for toolchain in toolchains() {
        for call in calls {
            let (plain, wrapped) = (Kit::new(toolchain), Kit::new(toolchain));
            for kit in [&plain, &wrapped] {
                kit.file("x.c", "int x; int f(void) { return x++; }\n")
                    .file("x.h", "int f(void);\n");
                kit.file("x.S", ".text\n").file("wrong.c", "int f(void) { return 1 }\n");
            }
            let list = "; s=$?; ls >list; exit $s";
            let real = plain.try_sh(&format!("$(command -v $REAL_CC) {call} {list}"));
            let ours = wrapped.try_sh(&format!("$CC {call} {list}"));
            assert_eq!(
                (&ours.stderr, ours.code),
                (&real.stderr, real.code),
                "{toolchain:?} {call}"
            );
            let (real, ours) = (plain.sh("cat list").stdout, wrapped.sh("cat list").stdout);
            assert_eq!(ours.replace("a, cache\n", ""), real, "{toolchain:?} {call}");
        }
    }
}

/// The first checks of an autoconf script.
#[test]
fn autoconf_finds_a_working_compiler() {
    let script = r"
set -e
echo 'int main(void) { return 0; }' > conftest.c
$CC -o conftest conftest.c && ./conftest 2>/dev/null
$CC -c conftest.c && test -f conftest.o
$CC -c -g -O2 conftest.c -o conftest2.o && test -f conftest2.o
echo '#include <stdio.h>' > conftest.c && $CC -E conftest.c > conftest.i && grep -q printf conftest.i
echo '#include <no_such_header.h>' > conftest.c && ! $CC -E conftest.c >/dev/null 2>&1
echo 'int main(void) { return no_such_function(); }' > conftest.c
! $CC -std=c89 -o conftest conftest.c 2>/dev/null
echo 'char pthread_create(); int main(void) { return pthread_create(); }' > conftest.c
$CC -fno-builtin -w -o conftest conftest.c -lpthread
echo 'char sin(); int main(void) { return sin(); }' > conftest.c
$CC -fno-builtin -w -o conftest conftest.c -lm
echo '#ifndef __GNUC__
       choke me
#endif' > conftest.c && $CC -c conftest.c
$CC -shared -fPIC -nostdlib conftest.c -o conftest.so -Wl,-soname -Wl,conftest.so.1
";
    for toolchain in toolchains() {
        assert_eq!(Kit::new(toolchain).sh(script).stderr, "", "{toolchain:?}");
    }
}

#[test]
fn the_status_of_the_compiler_is_passed_on() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("x.c", "#error no\n");
        assert_eq!(kit.try_sh("$CC -c x.c").code, kit.try_sh("$REAL_CC -c x.c").code);
    }
}
