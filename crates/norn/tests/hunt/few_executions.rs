//! Bugs that must be found within a few executions.

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{norn_hunt, subjects};

/// The results of a hunt with a small budget in a program of `validation/choose`.
fn hunt(name: &str, budget: &str, explore: &str) -> Vec<Value> {
    hunt_in("validation/choose", name, budget, explore)
}

fn hunt_in(set: &str, name: &str, budget: &str, explore: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let source = subjects(set).join(name);
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

#[test]
fn a_thread_that_frees_on_its_way_to_its_end_what_another_one_uses_does_not_wait() {
    let crashes = |it: &Value| it["consequence"]["signal"].is_object();
    assert!(hunt("server_stop.cc", "4", "2").iter().any(crashes));
    assert!(!hunt("server_stop_fixed.cc", "4", "2").iter().any(crashes));
}

#[test]
fn a_limit_of_a_channel_or_of_a_parked_thread_expires() {
    let waits =
        [("short_limit.rs", "Receiver::recv_timeout()"), ("hasty_park.rs", "park_timeout()")];
    for (name, wait) in waits {
        let results = hunt_in("rust", name, "3", "0");
        let expires = |it: &Value| {
            let title = it["title"].as_str().unwrap_or_default();
            it["harmful"] == true && it["kind"] == "timeout" && title.contains(wait)
        };
        assert!(results.iter().any(expires), "{name}: {results:#?}");
    }
}
