//! Whether the failure follows a pattern that is forced, and stays away if it is prevented.

use norn_e2e::schema::report_errors;
use serde_json::Value;

use crate::kit::program;

/// The experiments with the first patterns of the only failure of a program.
fn experiments(name: &str, patterns: &str) -> Vec<Value> {
    let report = program(name).localize(&["-n", "60", "--confirm", patterns]);
    assert_eq!(report_errors(&report), [""; 0]);
    let clusters = report["localization"]["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 1, "{report}");
    let ranking = clusters[0]["ranking"].as_array().unwrap();
    ranking.iter().map(|it| it["experiment"].clone()).filter(|it| !it.is_null()).collect()
}

fn count(experiment: &Value, name: &str) -> u64 {
    experiment[name].as_u64().unwrap()
}

#[test]
fn causes_are_confirmed() {
    // Without locks, with locks between the accesses, an order violation, a crash, and an access that passing
    // runs do not have.
    for name in ["account", "lottery", "cache", "tree_set", "last_item"] {
        let experiments = experiments(name, "1");
        let [it] = experiments.as_slice() else { panic!("{name}: {experiments:?}") };
        assert_eq!(it["confirmed"], true, "{name}: {it}");
        assert_eq!(count(it, "forced_failed"), count(it, "forced"), "{name}: {it}");
        assert_eq!(count(it, "prevented_failed"), 0, "{name}: {it}");
    }
}

/// The first pattern of this program is necessary but not sufficient: it also needs a nearly empty shop.
#[test]
fn a_pattern_that_does_not_fail_alone_is_not_confirmed() {
    let experiments = experiments("shop", "1");
    let [it] = experiments.as_slice() else { panic!("{experiments:?}") };
    assert_eq!(it["confirmed"], false, "{it}");
    assert!(count(it, "forced") > 0 && count(it, "prevented") > 0, "{it}");
    assert!(count(it, "forced_failed") < count(it, "forced"), "{it}");
}

/// The pattern is also prevented in passing runs, after it was forced in them.
#[test]
fn few_failing_runs_are_enough() {
    let report = program("account").localize(&["-n", "6"]);
    let cluster = &report["localization"]["clusters"][0];
    let experiment = &cluster["ranking"][0]["experiment"];
    let failing = count(cluster, "failed");
    assert!(failing > 0 && count(experiment, "prevented") > failing, "{report}");
    assert_eq!(count(experiment, "prevented_failed"), 0, "{report}");
    assert_eq!(experiment["confirmed"], true, "{report}");
}

#[test]
fn the_number_of_experiments_can_be_chosen() {
    assert_eq!(experiments("account", "0").len(), 0);
    assert_eq!(experiments("account", "2").len(), 2);
}
