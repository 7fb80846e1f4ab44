//! Two bugs are two reports, also if the program ends in the same way: with the same exit status, or
//! in a deadlock.

use serde_json::Value;

use crate::kit::{norn_hunt, subjects};

/// Hunts in a subject for one class of bugs.
fn hunt(name: &str, class: &str, explore: &str) -> (Value, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let subject = subjects("identity").join(name);
    let options = ["--only", class, "--explore", explore, "--format", "json"];
    let ran = norn_hunt(options.into_iter().chain([subject.to_str().unwrap()]), &folder);
    let json = serde_json::from_str(&ran.stdout).unwrap_or_else(|it| panic!("{it}: {ran:?}"));
    (json, ran.code)
}

/// Failures that were only explored and are reported, by their consequences.
fn shown(json: &Value) -> Vec<String> {
    let observed = json["observed"].as_array().unwrap().iter();
    observed.filter(|it| it["shown"] == true).map(|it| it["consequence"].to_string()).collect()
}

#[test]
fn two_bugs_with_one_exit_status_are_two_reports() {
    let (predicted, code) = hunt("two_exits.c", "atomicity", "0");
    assert_eq!(code, Some(1));
    assert_eq!(predicted["summary"]["bugs"], 2, "{predicted:#}");
    // No candidate of this class is predicted: both failures are only observed.
    let (explored, code) = hunt("two_exits.c", "deadlock", "60");
    assert_eq!(code, Some(1));
    let exits = shown(&explored);
    assert_eq!(exits.len(), 2, "{explored:#}");
    assert_eq!(exits[0], exits[1]);
    // Both are predicted and observed, and reported once.
    let (both, _) = hunt("two_exits.c", "atomicity", "60");
    assert_eq!((&both["summary"]["bugs"], shown(&both).len()), (&2.into(), 0), "{both:#}");
}

#[test]
fn two_deadlocks_are_two_reports() {
    let (predicted, code) = hunt("two_deadlocks.c", "deadlock", "0");
    assert_eq!(code, Some(1));
    assert_eq!(predicted["summary"]["bugs"], 2, "{predicted:#}");
    let (explored, code) = hunt("two_deadlocks.c", "lifetime", "60");
    assert_eq!(code, Some(1));
    assert_eq!(shown(&explored), ["\"deadlock\"", "\"deadlock\""], "{explored:#}");
    let (both, _) = hunt("two_deadlocks.c", "deadlock", "60");
    assert_eq!((&both["summary"]["bugs"], shown(&both).len()), (&2.into(), 0), "{both:#}");
}

#[test]
fn the_fixed_twins_have_no_findings() {
    for (name, class) in [("two_exits_fixed.c", "atomicity"), ("two_deadlocks_fixed.c", "deadlock")]
    {
        let (json, code) = hunt(name, class, "20");
        assert_eq!((code, &json["summary"]["bugs"]), (Some(0), &0.into()), "{json:#}");
        assert!(json["observed"].as_array().unwrap().is_empty(), "{json:#}");
    }
}
