//! Executables: with any flags, the hooks resolve to Norn's runtime and to no other.

use norn_e2e::tool::is_installed;

use crate::{
    kit::{Kit, Ran, exported},
    toolchain::{Toolchain, toolchains},
};

const MAIN: &str = r#"
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int plain, shared;
volatile int flag;
void bump(int *);
int main(void) {
    pthread_mutex_lock(&mutex);
    plain++;
    flag = 3;
    __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&mutex);
    bump(&plain);
    printf("%d\n", plain);
    return 0;
}
"#;

const BUMP: &str = "void bump(int *at) { *at += 40; }\n";

fn check(toolchain: Toolchain, flags: &str) {
    let kit = Kit::new(toolchain);
    kit.file("main.c", MAIN).file("bump.c", BUMP);
    let ran = kit.build_and_run(&format!("$CC {flags} main.c bump.c -o program"));
    assert_all_counted(&ran, &format!("{toolchain:?} {flags}"));
}

/// The program runs one `plain++` and one `*at += 40`, each a read and a write.
fn assert_all_counted(ran: &Ran, context: &str) {
    assert_eq!(ran.stdout, "41\n", "{context}");
    assert!(ran.count("reads") >= 2, "{context}: {ran:?}");
    for (counter, count) in [("writes", 2), ("volatiles", 1), ("atomics", 1), ("locks", 1)] {
        assert_eq!(ran.count(counter), count, "{context}: {ran:?}");
    }
}

fn check_all(flags: &[&str]) {
    for toolchain in toolchains() {
        for flags in flags {
            check(toolchain, flags);
        }
    }
}

#[test]
fn at_every_level_of_optimisation() {
    check_all(&["", "-O0", "-O1", "-O2", "-O3", "-Os", "-g0", "-no-pie", "-Wl,--gc-sections"]);
}

#[test]
fn statically_linked() {
    check_all(&["-static", "-static -O2", "-static-pie"]);
}

#[test]
fn with_link_time_optimisation() {
    check_all(&["-flto", "-flto -O2", "-flto -O2 -static"]);
}

#[test]
fn with_other_linkers() {
    if is_installed("ld.gold") {
        check_all(&["-fuse-ld=gold", "-fuse-ld=gold -flto -O2", "-fuse-ld=gold -static"]);
    }
    let clang_14 = Toolchain { c: "clang-14", cxx: "clang++-14" };
    if is_installed("clang-14") && is_installed("ld.lld-14") {
        for flags in ["-fuse-ld=lld", "-fuse-ld=lld -flto=thin -O2", "-fuse-ld=lld -static"] {
            check(clang_14, flags);
        }
    }
}

#[test]
fn next_to_flags_for_sanitizers() {
    check_all(&["-fsanitize=thread", "-fsanitize=thread -O2"]);
    check(Toolchain { c: "gcc", cxx: "g++" }, "-fsanitize=thread -static-libtsan");
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("main.c", MAIN).file("bump.c", BUMP);
        let ran = kit.build_and_run("$CC -fno-sanitize=thread main.c bump.c -o program");
        assert_eq!((ran.count("writes"), ran.count("locks")), (0, 1));

        let both = "$CC -fsanitize=undefined main.c bump.c -o program && ./program";
        assert_all_counted(&kit.sh(both), &format!("{toolchain:?} {both}"));

        let refused = kit.try_sh("$CC -fsanitize=address main.c bump.c -o program");
        assert_ne!(refused.code, Some(0), "two runtimes cannot share a program");
    }
}

#[test]
fn a_read_before_a_write_is_kept() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("x.c", "int x; void f(void) { x++; }");
        let assembler = kit.sh("$CC -O1 -S x.c -o -").stdout;
        assert!(assembler.contains("__tsan_read4"), "{toolchain:?}\n{assembler}");
        assert!(assembler.contains("__tsan_write4"), "{toolchain:?}\n{assembler}");
    }
}

#[test]
fn in_two_steps_and_through_an_archive() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("main.c", MAIN).file("bump.c", BUMP);
        let script = "$CC -c main.c && $CC -c bump.c && ar rc libbump.a bump.o &&";
        let ran = kit.build_and_run(&format!("{script} $CC main.o -L. -lbump -o program"));
        assert_eq!((ran.count("writes"), ran.count("locks")), (2, 1));
        let joined = "$CC -r main.o bump.o -o joined.o && $CC joined.o -o program";
        assert_eq!(kit.build_and_run(joined).count("writes"), 2);
    }
}

#[test]
fn from_standard_input_and_response_files() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("main.c", MAIN).file("bump.c", BUMP).file("args", "-O1 bump.c -o program");
        let ran = kit.build_and_run("$CC @args -x c - < main.c");
        assert_eq!(ran.count("writes"), 2);
        kit.file("args", "-c -O1 bump.c");
        assert_eq!(kit.sh("$CC @args && test -f bump.o").stderr, "");
    }
}

#[test]
fn in_cxx_with_exceptions_and_initialisers() {
    let source = r#"
#include <iostream>
#include <stdexcept>
#include <vector>
struct Early { Early() { numbers.push_back(7); } std::vector<int> numbers; };
static Early early;
int main() {
    try {
        throw std::runtime_error("caught");
    } catch (const std::exception &error) {
        std::cout << error.what() << early.numbers.at(0) << "\n";
    }
}
"#;
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("main.cc", source);
        for flags in ["", "-O2", "-static", "-O2 -flto"] {
            let ran = kit.build_and_run(&format!("$CXX {flags} main.cc -o program"));
            assert_eq!(ran.stdout, "caught7\n", "{toolchain:?} {flags}");
            assert!(ran.count("writes") > 0, "{toolchain:?} {flags}");
        }
    }
}

/// The linker keeps one copy of a template that two files instantiate.
#[test]
fn in_cxx_with_templates_in_several_files() {
    let names = "#include <string>\n#include <vector>\nusing Names = std::vector<std::string>;\n";
    let add = "void add(Names &names) { names.push_back(names.at(0)); }";
    let main = "#include <iostream>\nvoid add(Names &);\nint main() { Names names; \
                names.push_back(\"twice\"); add(names); std::cout << names.at(1) << \"\\n\"; }";
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("add.cc", &format!("{names}{add}")).file("main.cc", &format!("{names}{main}"));
        for flags in ["-O0", "-O2", "-static", "-O2 -flto", "-O1 -fcf-protection"] {
            let ran = kit.build_and_run(&format!("$CXX {flags} add.cc main.cc -o program"));
            assert_eq!(ran.stdout, "twice\n", "{toolchain:?} {flags}");
        }
        let parts = "$CXX -c -fPIC add.cc && $CXX -c -fPIC main.cc";
        let joined = "$CXX -r add.o main.o -o both.o && $CXX both.o -o program";
        let library = "$CXX -shared add.o main.o -o libboth.so";
        let ran = kit.build_and_run(&format!("{parts} && {library} && {joined}"));
        assert_eq!(ran.stdout, "twice\n", "{toolchain:?}");
    }
}

#[test]
fn the_runtime_is_offered_to_libraries_loaded_later() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("main.c", "int main(void) { return 0; }");
        kit.build_and_run("$CC main.c -s -o program");
        let names = exported(&kit.path("program"));
        for name in ["__tsan_read8", "__tsan_volatile_write4", "pthread_mutex_lock"] {
            assert!(names.iter().any(|exported| exported == name), "{toolchain:?}: {name}");
        }
    }
}

#[test]
fn without_libc_there_is_no_runtime() {
    let start = "__attribute__((no_sanitize(\"thread\"))) void _start(void) { for (;;); }";
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("start.c", start).file("main.c", MAIN).file("bump.c", BUMP);
        kit.sh("$CC -fno-sanitize=thread -nostdlib -static start.c -o bare");
        let ran = kit.build_and_run("$CC -nodefaultlibs main.c bump.c -o program -lc");
        assert_eq!(ran.count("locks"), 1);
    }
}
