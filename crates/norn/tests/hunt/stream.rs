//! Answers as they come: lines of JSON, and text in the same order.

use std::{
    fs,
    io::{BufRead as _, BufReader},
};

use norn_e2e::{
    process::{finish, kill, start},
    schema::line_errors,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{command, norn, norn_hunt, source_folder, subjects};

fn folder(name: &str) -> TempDir {
    let text = fs::read_to_string(subjects("hunt").join(name)).unwrap();
    source_folder("subject.c", &text)
}

/// The lines of a stream, each of which obeys the schema.
fn lines(stdout: &str) -> Vec<Value> {
    let lines: Vec<Value> = stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    for line in &lines {
        let errors = line_errors(line);
        assert!(errors.is_empty(), "{errors:#?}\n{line:#}");
    }
    lines
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|it| it["line"].as_str().unwrap()).collect()
}

#[test]
fn lines_begin_with_start_and_end_with_the_report() {
    let folder = folder("account.c");
    let options = ["--explore", "4", "--budget", "40"];
    let ran = norn_hunt(options.into_iter().chain(["--format", "jsonl", "subject.c"]), &folder);
    let lines = lines(&ran.stdout);
    let kinds = kinds(&lines);
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("start", "end"), "{kinds:?}");
    let end = lines.last().unwrap();
    // A bug has one line, and the report has the same numbers.
    let numbers: Vec<_> = lines.iter().filter(|it| it["line"] == "finding").collect();
    let numbers: Vec<_> = numbers.iter().map(|it| it["bug"].as_u64().unwrap()).collect();
    let count = end["summary"]["bugs"].as_u64().unwrap();
    assert!(count > 0 && numbers == (1..=count).collect::<Vec<_>>(), "{numbers:?}, {count}");
    for line in lines.iter().filter(|it| it["line"] == "finding" || it["line"] == "update") {
        let all = end["findings"].as_array().unwrap();
        let same = all.iter().find(|it| it["clip"] == line["clip"] && it["kind"] == line["kind"]);
        assert_eq!(same.map(|it| &it["bug"]), Some(&line["bug"]), "{line:#}");
    }
    // The report does not forget when something harmful was confirmed first.
    let first = lines.iter().find(|it| it["line"] == "finding").map(|it| &it["executions"]);
    let all = ["findings", "observed"].map(|it| end[it].as_array().unwrap());
    let harmful = all.into_iter().flatten().filter(|it| it["harmful"] != false);
    let least = harmful.filter_map(|it| it["executions"].as_u64()).min();
    assert_eq!(first.and_then(Value::as_u64), least);
    // The last line is what the other format writes.
    let other = norn_hunt(options.into_iter().chain(["--format", "json", "subject.c"]), &folder);
    let mut report = end.clone();
    report.as_object_mut().unwrap().remove("line");
    assert_eq!(report, other.json());
}

#[test]
fn the_number_of_jobs_has_no_influence_on_the_lines() {
    let folder = folder("bubble_sort.c");
    let hunt = |jobs| {
        let options = ["-j", jobs, "--budget", "16", "--explore", "4", "--format", "jsonl"];
        norn_hunt(options.into_iter().chain(["subject.c"]), &folder).stdout
    };
    let (one, eight) = (hunt("1"), hunt("8"));
    assert!(kinds(&lines(&one)).contains(&"finding"), "{one}");
    assert_eq!(one, eight);
}

/// The hunt would take very long, but its first answer does not.
#[test]
fn a_finding_is_written_when_it_is_confirmed() {
    let folder = folder("account.c");
    let options = ["--explore", "100000", "--budget", "200000", "--format", "jsonl"];
    let mut hunt = command("hunt");
    hunt.args(options).arg("subject.c").current_dir(folder.path());
    let mut child = start(hunt);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = lines.by_ref().map(Result::unwrap).find(|it| it.contains("\"finding\""));
    let found: Value = serde_json::from_str(&found.unwrap()).unwrap();
    let clip = found["clip"].as_str().unwrap();
    assert!(folder.path().join(clip).exists(), "{found:#}");
    kill("-TERM", &child.id().to_string());
    let last = lines.map(Result::unwrap).last().unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["summary"]["ended"], "interrupted", "{last:#}");
    finish("norn hunt", child);
}

#[test]
fn progress_is_a_line_on_request() {
    let folder = folder("account_fixed.c");
    let options = ["-v", "--explore", "2", "--budget", "9", "--format", "jsonl", "subject.c"];
    let ran = norn_hunt(options, &folder);
    let lines = lines(&ran.stdout);
    let last = lines.iter().rfind(|it| it["line"] == "progress").unwrap();
    assert_eq!(last["budget"], 9, "{last:#}");
    assert!(last["executions"].as_u64() > Some(1), "{last:#}");
}

/// Two threads write a variable without a lock.
const RACE: &str = r"
#include <pthread.h>
static int hits;
static void *hit(void *unused) {
    hits++;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, hit, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
";

#[test]
fn checks_have_lines_too() {
    let folder = source_folder("subject.c", RACE);
    let words = ["data-race", "--format", "jsonl", "subject.c"];
    let ran = norn("check", words, &folder);
    let lines = lines(&ran.stdout);
    let kinds = kinds(&lines);
    assert_eq!(kinds[kinds.len() - 1], "end", "{kinds:?}");
    let found = kinds.iter().filter(|it| **it == "finding").count() as u64;
    assert!(found > 0, "{kinds:?}");
    assert_eq!(Some(found), lines[lines.len() - 1]["summary"]["bugs"].as_u64(), "{kinds:?}");
}

#[test]
fn the_first_harmful_finding_can_be_the_last() {
    let folder = folder("bubble_sort.c");
    let options = ["--explore", "4", "--stop-at-first", "--format", "jsonl", "subject.c"];
    let ran = norn_hunt(options, &folder);
    let lines = lines(&ran.stdout);
    let kinds = kinds(&lines);
    let found = kinds.iter().filter(|it| **it == "finding" || **it == "observed").count();
    let end = &lines[lines.len() - 1];
    assert_eq!((found, ran.code), (1, Some(1)), "{kinds:?}");
    assert_eq!(end["summary"]["ended"], "first", "{end:#}");
    // What is suppressed does not end the hunt.
    fs::write(folder.path().join("all.supp"), "*:subject.c\n").unwrap();
    let more = ["--suppressions", "all.supp"].into_iter().chain(options);
    let ran = norn_hunt(more, &folder);
    let end = ran.json();
    assert_ne!(end["summary"]["ended"], "first", "{end:#}");
}

#[test]
fn the_time_is_a_budget() {
    let folder = folder("account.c");
    let options = ["--time", "3s", "--explore", "100000", "--budget", "200000", "--format", "json"];
    let ran = norn_hunt(options.into_iter().chain(["subject.c"]), &folder);
    let json = ran.json();
    assert_eq!(json["summary"]["ended"], "time", "{json:#}");
    assert_eq!(json["notes"][0], "time-limit", "{json:#}");
    assert_eq!(json["summary"]["interrupted"], false, "{json:#}");
}
