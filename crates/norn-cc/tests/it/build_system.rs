//! Runs the wrapper from make, cmake and ccache.

use norn_e2e::tool::is_installed;

use crate::{kit::Kit, toolchain::toolchains};

const MAIN: &str = "int x; void f(void); int main(void) { x++; f(); return 0; }\n";
const PART: &str = "int y; void f(void) { y++; }\n";

#[test]
fn make_by_its_own_rules() {
    if !is_installed("make") {
        return;
    }
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("program.c", MAIN)
            .file("part.c", PART)
            .file("Makefile", "program: program.o part.o\n");
        kit.sh("make -s -j2 CC=$CC CFLAGS='-O2 -Wall -Werror'");
        assert_eq!(kit.sh("./program").count("writes"), 2);
    }
}

#[test]
fn cmake_with_a_library() {
    if !is_installed("cmake") {
        return;
    }
    let lists = "
cmake_minimum_required(VERSION 3.16)
project(subject C CXX)
find_package(Threads REQUIRED)
add_library(part SHARED part.c)
add_executable(subject main.cc)
target_link_libraries(subject part Threads::Threads)
";
    let main = "extern \"C\" void f(void); int x; int main() { x++; f(); }\n";
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("CMakeLists.txt", lists).file("main.cc", main).file("part.c", PART);
        kit.sh("cmake -S . -B out && cmake --build out");
        assert_eq!(kit.sh("out/subject").count("writes"), 2, "{toolchain:?}");
    }
}

#[test]
fn ccache_before_and_after_the_wrapper() {
    if !is_installed("ccache") {
        return;
    }
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("main.c", MAIN).file("part.c", PART);
        for outside in ["ccache $CC", "NORN_CC=\"ccache $NORN_CC\" $CC"] {
            let compile = |file: &str| format!("{outside} -O2 -c {file}.c -o {file}.o");
            let twice = format!("{0} && {1} && {0} && {1}", compile("main"), compile("part"));
            kit.sh(&format!("ccache -z >/dev/null; {twice}"));
            let statistics = kit.sh("ccache --print-stats").stdout;
            let hits = ["direct_cache_hit\t2", "preprocessed_cache_hit\t2"];
            assert!(hits.iter().any(|hit| statistics.contains(hit)), "{toolchain:?} {statistics}");
            let ran = kit.build_and_run(&format!("{outside} main.o part.o -o program"));
            assert_eq!(ran.count("writes"), 2, "{toolchain:?} {outside}");
        }
    }
}
