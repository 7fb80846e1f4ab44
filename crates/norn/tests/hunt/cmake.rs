//! The module for `cmake`: a test that hunts, of a program with a bug and of its fixed twin.

use std::{fs, path::Path, process::Command};

use norn_e2e::tool::is_installed;

use crate::kit::{NORN, command, run, subjects};

const LISTS: &str = "
cmake_minimum_required(VERSION 3.16)
project(buffers C)
find_package(Norn REQUIRED)
find_package(Threads REQUIRED)
enable_testing()
foreach(name string_buffer string_buffer_fixed)
  add_executable(${name} ${name}.c)
  target_link_libraries(${name} Threads::Threads)
  target_compile_options(${name} PRIVATE -g)
  norn_add_test(NAME hunt_${name} COMMAND ${name} BUDGET 12 OPTIONS --explore 0)
endforeach()
";

#[test]
fn a_cmake_project_hunts_in_its_tests() {
    if !is_installed("cmake") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["string_buffer.c", "string_buffer_fixed.c"] {
        fs::copy(subjects("hunt").join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("CMakeLists.txt"), LISTS).unwrap();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/cmake");
    let mut configure = command("build");
    configure
        .args(["cmake", "-S", ".", "-B", "out"])
        .arg(format!("-DCMAKE_MODULE_PATH={}", module.display()))
        .arg(format!("-DNORN_EXECUTABLE={NORN}"))
        .current_dir(folder.path());
    let configured = run(configure);
    assert_eq!(configured.code, Some(0), "{configured:?}");
    let mut build = Command::new("cmake");
    build.args(["--build", "out"]).current_dir(folder.path());
    let built = run(build);
    assert_eq!(built.code, Some(0), "{built:?}");
    let mut test = Command::new("ctest");
    test.args(["--test-dir", "out"]).current_dir(folder.path());
    let tested = run(test);
    let line = |name: &str| tested.stdout.lines().find(|it| it.contains(name)).unwrap_or_default();
    assert!(line("hunt_string_buffer ").contains("***Failed"), "{tested:?}");
    assert!(line("hunt_string_buffer_fixed ").contains("Passed"), "{tested:?}");
    assert!(folder.path().join("out/hunt_string_buffer.html").exists());
}
