//! Results, their thread flows and fingerprints, and the limits of services.

use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::{
    Command, Detail, Finding, Run,
    writer::{
        SourceFiles,
        sample::{deadlock, finding, fix, hunt, row},
    },
};

#[derive(Debug)]
struct Shop;

impl SourceFiles for Shop {
    fn root(&self) -> Option<PathBuf> {
        Some("/src/me/repository".into())
    }

    fn read(&self, _: &str) -> Result<String, String> {
        Err("there is none".to_owned())
    }
}

fn sarif(report: &Report) -> Value {
    let layout = Layout { sources: &Shop, ..Layout::default() };
    let mut out = Vec::new();
    Sarif::new(layout).write(report, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn bugs(findings: Vec<Finding>) -> Report {
    let detail = |finding| Detail { finding, also: Vec::new() };
    Report { details: (0..findings.len()).map(detail).collect(), ..hunt(findings) }
}

#[test]
fn a_bug_is_a_result_with_a_flow_for_each_thread() {
    let log = sarif(&bugs(vec![finding()]));
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "atomicity");
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "shop/till.c");
    assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    assert_eq!(place["region"]["startLine"], 12);
    let threads = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let names: Vec<_> = threads.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["T0.1", "T0.2"]);
    let order = |at: usize| {
        let events = threads[at]["locations"].as_array().unwrap().iter();
        events.map(|it| it["executionOrder"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((order(0), order(1)), (vec![1, 5], vec![2, 3, 4]));
    assert_eq!(threads[0]["locations"][0]["state"]["till"]["text"], "100");
    assert_eq!(result["codeFlows"].as_array().unwrap().len(), 2);
    assert_eq!(result["properties"]["replay"][1], "replay");
}

#[test]
fn equal_fingerprints_are_numbered() {
    let log = sarif(&bugs(vec![finding(), finding()]));
    let id = |at: usize| log["runs"][0]["results"][at]["partialFingerprints"]["nornBug/v1"].clone();
    assert_eq!((id(0), id(1)), ("4a0d3c52b1f5e8a9:1".into(), "4a0d3c52b1f5e8a9:2".into()));
}

#[test]
fn a_deadlock_of_a_replay_is_a_result() {
    let run = Run { story: Some(deadlock()), ..Run::new(norn_model::Consequence::Deadlock) };
    let mut report = Report { run: Some(run), ..Report::new(Command::Replay, "0.1.0") };
    report.exit.meaning = ExitMeaning::Harmful;
    let log = sarif(&report);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["message"]["text"], "deadlock");
    assert_eq!(result["codeFlows"][0]["threadFlows"].as_array().unwrap().len(), 2);
}

#[test]
fn a_suggested_fix_is_part_of_the_message() {
    let log = sarif(&bugs(vec![Finding { fix: Some(fix()), ..finding() }]));
    let result = &log["runs"][0]["results"][0];
    let message = result["message"]["text"].as_str().unwrap();
    assert!(
        message.ends_with(&format!("\npossible fix: {}", vocabulary::fix(&fix()))),
        "{message}"
    );
    assert_eq!(result["properties"]["possibleFixNotes"].as_array().unwrap().len(), 3);
    assert!(
        result.get("fixes").is_none(),
        "a fix of the standard replaces text, which norn does not know"
    );
}

/// The limits of GitHub: <https://docs.github.com/code-security>, results of SARIF uploads.
#[test]
fn the_limits_of_services_are_respected() {
    let mut large = finding();
    let orders = large.interleaving.as_mut().unwrap();
    let more =
        (0..4000).map(|it| row(&format!("T0.{}", it % 3), crate::Action::Read, "x", it, None));
    orders.forced.extend(more);
    let log = sarif(&bugs(
        [vec![large], vec![Finding { interleaving: None, ..finding() }; MAX_RESULTS]].concat(),
    ));
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), MAX_RESULTS);
    let note = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str();
    assert_eq!(note, Some("1 more results are left out"));
    let events = |flow: &Value| {
        let threads = flow["threadFlows"].as_array().unwrap().iter();
        threads.map(|it| it["locations"].as_array().unwrap().len()).sum::<usize>()
    };
    let flows = results[0]["codeFlows"].as_array().unwrap();
    assert!(flows.iter().map(events).sum::<usize>() <= 1000);
    assert!(results.iter().all(|it| it["relatedLocations"].as_array().unwrap().len() <= 100));
}
