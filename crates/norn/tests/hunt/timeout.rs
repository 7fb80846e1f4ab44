//! Timeouts of waits that expire at the wrong moment.

use std::path::Path;

use serde_json::Value;

use crate::kit::{Hunt, hunt, subjects};

fn in_order(name: &str) -> Hunt {
    hunt(&subjects("order").join(name), 0)
}

/// The confirmed findings of a kind.
fn confirmed<'a>(hunt: &'a Hunt, pattern: &str) -> Vec<&'a Value> {
    let all = hunt.findings().iter();
    all.filter(|it| it["kind"] == pattern && it["status"] == "confirmed").collect()
}

/// Checks that all harmful findings are of one kind, and returns their consequence.
fn only_by(name: &str, pattern: &str) -> Value {
    let hunt = in_order(name);
    let harmful: Vec<_> = hunt.harmful().collect();
    assert!(harmful.iter().all(|it| it["kind"] == pattern), "{harmful:#?}");
    let [one] = &harmful[..] else { panic!("{harmful:#?}") };
    one["consequence"].clone()
}

#[test]
fn a_wait_times_out_before_the_critical_section_of_the_waker() {
    let hunt = in_order("impatient.c");
    let found = confirmed(&hunt, "timeout");
    let [one] = &found[..] else { panic!("{:#?}", hunt.json) };
    assert!(!one["consequence"]["signal"].is_null(), "{one:#}");
    let does: Vec<_> = one["accesses"].as_array().unwrap().iter().map(|it| &it["action"]).collect();
    assert_eq!(does, ["wait", "lock"]);
    // The program crashes before another thread locks.
    let forced = one["interleaving"]["forced"].as_array().unwrap();
    let steps: Vec<_> = forced.iter().filter_map(|it| it["step"].as_u64()).collect();
    assert_eq!(steps, [0], "{forced:#?}");
}

#[test]
fn a_wait_times_out_together_with_the_signal() {
    let consequence = only_by("late_parcel.c", "late-wake-up");
    assert_eq!(consequence["assertion"], "taken + store == 1");
}

#[test]
fn a_semaphore_wait_times_out() {
    let hunt = in_order("hasty_owner.c");
    let found = confirmed(&hunt, "timeout");
    assert!(found.iter().any(|it| it["consequence"]["memory"] == "use-after-free"), "{found:#?}");
}

#[test]
fn a_timed_lock_times_out() {
    let consequence = only_by("door.c", "timeout");
    assert_eq!(consequence["assertion"], "pthread_mutex_unlock(&door) == 0");
}

#[test]
fn programs_that_handle_timeouts_are_clean() {
    for name in ["impatient_fixed.c", "late_parcel_fixed.c", "hasty_owner_fixed.c", "door_fixed.c"]
    {
        let hunt = in_order(name);
        assert_eq!((hunt.code, hunt.harmful().count()), (Some(0), 0), "{name}: {:#}", hunt.json);
        // The timeout was forced.
        assert!(!confirmed(&hunt, "timeout").is_empty(), "{name}: {:#}", hunt.json);
    }
}

#[test]
fn a_sleep_does_not_order_threads() {
    let hunt = in_order("nap.c");
    let found = hunt.harmful().filter(|it| it["kind"] == "overdue-use");
    let crashes = found.filter(|it| !it["consequence"]["signal"].is_null()).count();
    assert!(crashes > 0, "{:#}", hunt.json);
}

#[test]
fn a_timed_wait_of_cxx_times_out() {
    let hunt = hunt(&Path::new(&subjects("control")).join("timed.cc"), 0);
    let found = confirmed(&hunt, "timeout");
    let first = found.first().unwrap_or_else(|| panic!("{:#}", hunt.json));
    assert_eq!(first["consequence"]["assertion"], "mine == 3", "{first:#}");
    assert!(first["executions"].as_u64().unwrap() <= 5, "{first:#}");
}
