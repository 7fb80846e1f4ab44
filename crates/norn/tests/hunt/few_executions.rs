//! Bugs that must be found within a few executions.

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{norn_hunt, subjects};

/// The results of a hunt with a small budget in a program of `validation/choose`.
fn hunt(name: &str, budget: &str, explore: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let source = subjects("validation/choose").join(name);
    let source = source.to_string_lossy();
    let options = ["--budget", budget, "--explore", explore, "--format", "json", &source];
    let json = norn_hunt(options, &folder).json();
    let list = |it: &str| json[it].as_array().unwrap().clone();
    list("findings").into_iter().chain(list("observed")).collect()
}

fn is_misuse(result: &Value) -> bool {
    result["consequence"]["misuse"] == "unlock-not-held"
}

#[test]
fn a_tried_lock_stays_held_while_its_thread_yields() {
    assert!(hunt("busy_transfer.c", "5", "2").iter().any(is_misuse));
    assert!(!hunt("busy_transfer_fixed.c", "5", "2").iter().any(is_misuse));
}

#[test]
fn a_use_of_freed_memory_that_is_possible_for_certain_comes_first() {
    let is_use = |it: &Value| it["harmful"] == true && it["class"] == "lifetime";
    assert!(hunt("nested_tasks.c", "2", "0").iter().any(is_use));
    assert!(!hunt("nested_tasks_fixed.c", "2", "0").iter().any(is_use));
}
