//! Suggested fixes: which lock, which lines, and whether it helps to follow them.

use std::fs;

use norn_e2e::schema::report_errors;
use serde_json::Value;

use crate::kit::{norn, norn_hunt, source_folder, subjects};

/// The report of a hunt for some classes of bugs in a program.
fn report(name: &str, text: &str, only: &str) -> (Value, tempfile::TempDir) {
    let folder = source_folder(name, text);
    let options = ["--format", "json", "--explore", "0", "--only", only, name];
    let ran = norn_hunt(options, &folder);
    let report = serde_json::from_str(&ran.stdout).unwrap_or_else(|it| panic!("{it}: {ran:?}"));
    (report, folder)
}

fn source(kind: &str, name: &str) -> String {
    fs::read_to_string(subjects(kind).join(name)).unwrap()
}

/// The suggestion of the first finding that the text shows in full.
fn fix(report: &Value) -> &Value {
    let errors = report_errors(report);
    assert!(errors.is_empty(), "{errors:#?}");
    let shown = report["details"][0]["finding"].as_u64().unwrap();
    let finding = &report["findings"][usize::try_from(shown).unwrap()];
    assert!(finding["fix"].is_object(), "{finding:#}");
    &finding["fix"]
}

/// The text of the lines with these numbers.
fn lines(text: &str, from: u64, to: u64) -> Vec<&str> {
    let numbered = (1..).zip(text.lines());
    numbered.filter(|it| (from..=to).contains(&it.0)).map(|it| it.1.trim()).collect()
}

#[test]
fn two_sections_of_one_lock_are_to_become_one() {
    let text = source("demo", "account.c");
    let (report, _folder) = report("account.c", &text, "atomicity");
    let fix = fix(&report);
    assert_eq!(fix["lock"]["name"], "lock", "{fix:#}");
    let section = &fix["sections"][0];
    assert_eq!(fix["sections"].as_array().unwrap().len(), 1, "{fix:#}");
    assert_eq!(section["from"]["function"], "pay_in");
    let (from, to) = (section["from"]["line"].as_u64().unwrap(), section["to"].as_u64().unwrap());
    assert_eq!(
        lines(&text, from, to),
        ["long balance = read_balance();", "write_balance(balance + (long)amount);"]
    );
    let inside = fix["acquired_inside"].as_array().unwrap().iter();
    let inside: Vec<_> = inside.map(|it| it["function"].as_str().unwrap()).collect();
    assert_eq!(inside, ["read_balance", "write_balance"]);
}

/// Both locks of a transfer protect one account, and either would be taken in both orders.
#[test]
fn accounts_with_locks_of_their_own_need_a_new_lock() {
    let text = source("hunt", "account.c");
    let (report, _folder) = report("account.c", &text, "race");
    let fix = fix(&report);
    assert!(fix.get("lock").is_none(), "{fix:#}");
    let rejected = fix["rejected"].as_array().unwrap();
    assert!(rejected.iter().any(|it| it["why"] == "deadlock"), "{fix:#}");
}

/// Puts a lock around some lines.
fn with_lock(text: &str, lock: &str, from: u64, to: u64) -> String {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        lines.extend((number == from).then(|| format!("pthread_mutex_lock(&{lock});")));
        lines.push(line.to_owned());
        lines.extend((number == to).then(|| format!("pthread_mutex_unlock(&{lock});")));
    }
    lines.join("\n") + "\n"
}

/// The suggested lock fixes the program, and the one that was rejected makes it deadlock.
#[test]
fn the_suggestion_is_right_about_both_locks() {
    let text = source("fix", "till.c");
    let (found, folder) = report("till.c", &text, "race");
    let fix = fix(&found);
    assert_eq!(fix["lock"]["name"], "till", "{fix:#}");
    assert_eq!(fix["rejected"][0]["lock"]["name"], "books", "{fix:#}");
    assert_eq!(fix["rejected"][0]["why"], "deadlock", "{fix:#}");
    let section = &fix["sections"][0];
    let (from, to) = (section["from"]["line"].as_u64().unwrap(), section["to"].as_u64().unwrap());
    assert_eq!(lines(&text, from, to), ["total += 10;"]);

    let fixed = with_lock(&text, "till", from, to);
    let folder_of_fixed = source_folder("till.c", &fixed);
    let ran = norn_hunt(["--explore", "0", "till.c"], &folder_of_fixed);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let program = folder_of_fixed.path().join("run.norn/program/till");
    let clip = ["--expect", "fixed", "run.norn/clips/1.json", "--"].map(str::to_owned);
    let words = clip.into_iter().chain([program.display().to_string()]);
    let ran = norn("replay", words, &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let (at, _) = (1..).zip(text.lines()).find(|it| it.1.trim() == "total += 20;").unwrap();
    let (wrong, _folder) = report("till.c", &with_lock(&text, "books", at, at), "deadlock");
    assert_eq!(wrong["exit"]["code"], 1, "{wrong:#}");
    assert_eq!(wrong["findings"][0]["consequence"], "deadlock", "{wrong:#}");
}
