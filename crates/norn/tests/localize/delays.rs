//! Runs with random delays, at nearly native speed.

use crate::kit::{flaky, program};

/// Which runs fail is up to the operating system, so a check declares all of them to fail.
#[test]
fn runs_with_delays_collect_patterns_and_their_causes_are_tested() {
    let program = program("account");
    let options = ["--vary", "delays", "-n", "12", "--no-early-stop", "--check", "false"];
    let report = program.localize(&[&options[..], &["--clips", "clips"]].concat());
    let localization = &report["localization"];
    assert_eq!((&localization["failed"], &localization["lost"]), (&12.into(), &0.into()));
    assert_eq!(localization["unordered"], 0);
    let cluster = &localization["clusters"][0];
    let reproduce: Vec<_> =
        cluster["reproduce"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(reproduce[..3], ["norn", "localize", "-n"], "{cluster}");
    assert!(reproduce.contains(&"delays") && reproduce.contains(&"--check"), "{cluster}");
    // Three threads write the balance one after another, whatever else happens.
    let ranking = cluster["ranking"].as_array().unwrap();
    let pair = ranking.iter().find(|it| it["shape"] == "W1-W2").expect("writes in a row");
    assert_eq!(pair["failed"], 12);
    assert_eq!(pair["accesses"][0]["variable"]["name"], "balance");
    assert_eq!(pair["accesses"][0]["stack"][0]["function"], "clerk");
    assert!(flaky("account").rank(cluster).is_none_or(|it| it <= ranking.len()));
    // The first pattern was tested in controlled runs.
    assert!(ranking[0]["experiment"].is_object(), "{cluster}");
}
