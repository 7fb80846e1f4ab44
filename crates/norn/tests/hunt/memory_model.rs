//! Data races by the C++ memory model, whose accesses cannot be adjacent.

use std::{fs, process::Command};

use norn_e2e::tool::installed;
use serde_json::Value;

use crate::kit::{command, hunt, norn_hunt, run, subjects};

/// What a program hands over is ordered by a library that is not recorded. The relaxed counter orders
/// nothing, and does not have to.
const GATE: &str = r"
#include <pthread.h>
#include <stdatomic.h>
void open_gate(void);
void await_gate(void);
static int message;
static atomic_int steps;
static void *produce(void *unused) {
    message = 1;
    atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
    open_gate();
    return unused;
}
static void *consume(void *unused) {
    await_gate();
    atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
    return message == 1 ? unused : 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, produce, 0);
    pthread_create(&threads[1], 0, consume, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
";

const LIBRARY: &str = r"
#include <sched.h>
#include <stdatomic.h>
static atomic_int gate;
void open_gate(void) { atomic_store(&gate, 1); }
void await_gate(void) { while (atomic_load(&gate) == 0) sched_yield(); }
";

#[test]
fn a_library_that_is_not_recorded_may_order_accesses() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("gate.c"), GATE).unwrap();
    fs::write(path("library.c"), LIBRARY).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-o"]).arg(path("libgate.so")).arg(path("library.c"));
    assert!(run(gcc).status.success());
    let mut norn = command("cc");
    norn.env("NORN_CC", "gcc").args(["-g", "-pthread"]).arg(path("gate.c"));
    norn.arg(path("libgate.so")).arg("-o").arg(path("gate"));
    assert!(run(norn).status.success());
    let ran =
        norn_hunt(["--only", "race", "--explore", "0", "--budget", "2", "--", "./gate"], &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains(" 0 confirmed (0 harmful), 0 infeasible, 1 not confirmed"),
        "{ran:?}"
    );
}

/// Programs, and how a hunt exits.
const PROGRAMS: [(&str, i32); 4] =
    [("publish", 1), ("publish_fixed", 0), ("last_owner", 1), ("last_owner_fixed", 0)];

/// The same race, whatever the compiler makes of the program.
#[test]
fn compilers_and_optimisation_levels() {
    let folder = tempfile::tempdir().unwrap();
    for compiler in installed(["g++", "clang++-14", "clang++-19"]) {
        for level in ["-O0", "-O2"] {
            for (name, code) in PROGRAMS {
                let program = folder.path().join(format!("{name}{level}{compiler}"));
                let mut norn = command("c++");
                norn.env("NORN_CXX", compiler).args(["-g", "-pthread", level]);
                norn.arg(subjects("memory").join(format!("{name}.cc"))).arg("-o").arg(&program);
                assert!(run(norn).status.success(), "{compiler} {level} {name}");
                let hunt = hunt(&program, 0);
                assert_eq!(hunt.code, Some(code), "{compiler} {level} {name}: {:#}", hunt.json);
            }
        }
    }
}

/// A race in the recorded order needs a reason.
#[test]
fn the_report_says_which_operation_orders_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = subjects("memory").join("publish.cc");
    // The first attempt is the schedule of the recorded run, in which the counter orders nothing.
    let ran = norn_hunt([source.as_os_str()], &folder);
    let reason = "publish.cc:16 is relaxed, so nothing orders the two accesses";
    assert!(ran.stdout.contains("the store to `ready` at "), "{ran:?}");
    assert!(ran.stdout.contains(reason), "{ran:?}");
}

/// Peterson's lock. With release and acquire, both threads enter if their loads return older values.
const PETERSON: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int wants[2], turn, inside;
static void *enter(void *argument) {
    int me = argument != 0;
    atomic_store_explicit(&wants[me], 1, STORE);
    atomic_store_explicit(&turn, 1 - me, STORE);
    while (atomic_load_explicit(&wants[1 - me], LOAD) == 1 && atomic_load_explicit(&turn, LOAD) != me) {}
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store_explicit(&wants[me], 0, STORE);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, enter, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
";

/// Hunts in Peterson's lock with these memory orders, under a memory model.
fn hunt_peterson(orders: [&str; 2], memory: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("peterson.c"), PETERSON).unwrap();
    let mut norn = command("cc");
    norn.args(["-g", "-pthread"]).arg(format!("-DSTORE=memory_order_{}", orders[0]));
    norn.arg(format!("-DLOAD=memory_order_{}", orders[1]));
    norn.arg(path("peterson.c")).arg("-o").arg(path("peterson"));
    assert!(run(norn).status.success());
    let options = ["--memory", memory, "--format", "json", "--explore", "150", "--budget", "200"];
    let ran = norn_hunt([&options[..], &["--", "./peterson"]].concat(), &folder);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn a_lock_without_sequential_consistency_fails_with_older_values_only() {
    let [weak, strong] = [["release", "acquire"], ["seq_cst", "seq_cst"]];
    let shown = hunt_peterson(weak, "c11");
    let observed = shown["observed"].as_array().unwrap();
    let older = |it: &&Value| it["older_loads"].as_u64() > Some(0) && it["shown"] == true;
    assert!(observed.iter().any(|it| older(&it)), "{shown:#}");
    assert_eq!(shown["exit"]["code"], 1, "{shown:#}");
    for (orders, memory) in [(weak, "sc"), (strong, "c11")] {
        let hunt = hunt_peterson(orders, memory);
        assert_eq!(hunt["exit"]["code"], 0, "{orders:?} {memory}: {hunt:#}");
    }
}
