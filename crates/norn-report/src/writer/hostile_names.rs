//! No text of a report reaches the terminal unless it is printable, and none changes the structure of what is
//! written, whatever it contains. All formats are what their schemas say.

use std::{fs, path::Path, process, sync::LazyLock};

use norn_e2e::schema::{errors_of, report_errors};
use norn_model::{BugClass, Consequence, Obstacle, is_printable, printable};
use proptest::prelude::*;
use serde_json::Value;

use super::{
    sample::{deadlock, finding, fix, hunt, row, step, thread},
    text::localization::tests::localized,
};
use crate::{
    Action, Batch, BriefLine, BriefSection, Cause, Command, Death, Departure, Detail, FailureKind,
    Finding, Object, ObservedFailure, ObservedValue, Parting, Property, Remark, Report, Run,
    RunKind, Story, Suppression, Unseen, UnseenReason, Verdict,
    writer::{FORMATS, Layout},
};

/// What names of attackers contain: sequences that clear the screen, set the title, reorder the line,
/// return to its beginning, or begin a new one.
const HOSTILE: [&str; 8] = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\u{9b}31m",
    "a\u{202e}b\u{2066}",
    "ok\rnorn: no bugs",
    "x\nnorn: no bugs\n",
    "\u{2028}\u{85}\u{b}\u{c}",
    "\x1b[31mred\x1b[0m",
];

/// Reports that use most types.
pub(super) fn samples() -> [Report; 4] {
    [hunted(), replayed(), repeated(), localized()]
}

fn hunted() -> Report {
    let observed = ObservedFailure {
        bug: None,
        cause: Some(Cause {
            class: BugClass::Race,
            kind: "Cause".to_owned(),
            name: "Cause".to_owned(),
            title: "Cause".to_owned(),
            variables: vec![Object::named("Variable")],
            accesses: Vec::new(),
            order: Vec::new(),
            recorded: Vec::new(),
            fix: None,
        }),
        not_reproduced: None,
        consequence: Consequence::Exception { class: "E".to_owned(), what: Some("W".to_owned()) },
        story: Some(death()),
        printed: vec!["Printed".to_owned()],
        finding: None,
        suppressed_by: None,
        shown: true,
        older_loads: 0,
        fingerprint: "F".to_owned(),
        clip: "Clip".to_owned(),
        replay: vec!["Replay".to_owned()],
        executions: 1,
    };
    let remark = Remark { count: 2, early: 1, expected: Some("E".to_owned()), why: None };
    let brief = Finding { harmful: false, remark: Some(remark), ..finding() };
    let suppression =
        Suppression { suppression: "race:F".to_owned(), file: "S".to_owned(), line: 1, used: 0 };
    Report {
        details: vec![Detail { finding: 0, also: Vec::new() }],
        brief: vec![BriefSection {
            harmless: false,
            title: "Title".to_owned(),
            lines: vec![BriefLine { finding: 1, times: 2 }],
            more: 0,
        }],
        observed: vec![observed],
        properties: vec![property()],
        suppressions: vec![suppression],
        ..hunt(vec![Finding { fix: Some(fix()), ..finding() }, brief])
    }
}

/// A replay that left its schedule.
fn replayed() -> Report {
    let departure = Departure {
        segment: 1,
        thread: thread("T0.1"),
        why: Obstacle::OtherEvent,
        until: Some("Until".to_owned()),
        actual: None,
        before: None,
    };
    let run = Run {
        story: Some(deadlock()),
        verdict: Some(Verdict::Diverged(departure)),
        segments: Some(4),
        ..Run::new(Consequence::Assertion("Message".to_owned()))
    };
    Report { run: Some(run), ..Report::new(Command::Replay, "0.1.0") }
}

/// A batch of runs.
fn repeated() -> Report {
    let here = Some(row("T0.1", Action::Read, "Object", 1, None));
    let kind = RunKind {
        claim: None,
        count: 1,
        run: 0,
        seed: 0,
        consequence: Consequence::Assertion("Message".to_owned()),
        verdict: None,
        print: None,
        differs: vec!["Differs".to_owned()],
        parting: Some(Parting { event: 1, usual: None, here }),
        away: 0,
        stopped: 0,
        detour: None,
        kept: Some("Kept".to_owned()),
    };
    let batch = Batch {
        runs: 1,
        failed: 1,
        stopped: 0,
        kinds: vec![kind],
        usual: None,
        segments: None,
        control: None,
        repeat: vec!["Repeat".to_owned()],
    };
    Report { batch: Some(batch), ..Report::new(Command::Run, "0.1.0") }
}

fn death() -> Story {
    let read = ObservedValue {
        object: Object::named("Object"),
        value: None,
        shown: Some("Shown".to_owned()),
        written: None,
    };
    let death = Death { by: Some(step("T0.1", 3)), fault: None, reads: vec![read] };
    Story { failure: FailureKind::Death(death), last: Vec::new() }
}

fn property() -> Property {
    Property {
        name: "Property".to_owned(),
        instances: 0,
        events: [("Event".to_owned(), 1)].into(),
        never: vec!["Never".to_owned()],
        candidates: 0,
        incomplete: false,
        left_out: None,
        unseen: vec![Unseen {
            event: "Event".to_owned(),
            name: "Name".to_owned(),
            why: UnseenReason::Missing,
            text: "Text".to_owned(),
            hint: Some("Hint".to_owned()),
        }],
    }
}

/// The output of a writer for a report all of whose texts are this one.
fn written(format: &str, report: &Report, text: &str, width: usize) -> String {
    let mut report = report.clone();
    report.change_texts(|it| *it = text.to_owned());
    let format = FORMATS.iter().find(|it| it.name == format).unwrap();
    let mut out = Vec::new();
    (format.writer)(Layout { width, verbose: true, ..Layout::default() })
        .write(&report, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// The output without the writer's own styles.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let rest = part.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';');
        all + rest.strip_prefix('m').unwrap_or_else(|| panic!("not a style: {part:?}"))
    })
}

fn check(text: &str) -> Result<(), TestCaseError> {
    for report in samples() {
        for width in [30, 200] {
            // The spelled-out text has no control characters, so all that remain are the writer's own.
            let output = written("text", &report, text, width);
            prop_assert_eq!(&output, &written("text", &report, &printable(text), width));
            let shown = without_styles(&output);
            prop_assert!(shown.chars().all(|it| it == '\n' || is_printable(it)), "{shown:?}");
        }
        let json = written("json", &report, text, 80);
        prop_assert!(json.trim_end_matches('\n').chars().all(is_printable), "{json:?}");
        let read: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read["tool"]["name"].as_str(), Some(text));
        for format in FORMATS.iter().filter(|it| it.name != "text") {
            let output = written(format.name, &report, text, 80);
            prop_assert!(output.chars().all(|it| it == '\n' || is_printable(it)), "{output:?}");
        }
        let sarif = serde_json::from_str(&written("sarif", &report, text, 80)).unwrap();
        prop_assert_eq!(errors_of(&SARIF, &sarif), Vec::<String>::new());
        check_junit(&written("junit", &report, text, 80));
        let annotations = written("github", &report, text, 80);
        prop_assert!(annotations.lines().all(|it| it.starts_with("::")), "{annotations}");
    }
    Ok(())
}

/// The schema of SARIF, as OASIS publishes it. It comes with the crate `serde-sarif`.
static SARIF: LazyLock<Value> = LazyLock::new(|| {
    let mut cargo = process::Command::new(env!("CARGO"));
    // Packages that only other platforms need may not have been downloaded.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    cargo.args(["metadata", "--offline", "--format-version=1", "--filter-platform", &platform]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let package = packages.find(|it| it["name"] == "serde-sarif").unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let schema = fs::read_to_string(manifest.with_file_name("src/schema.json")).unwrap();
    serde_json::from_str(&schema).unwrap()
});

/// The elements of `JUnit`'s XML and their attributes, as the schema of Jenkins' xUnit plugin has them; those
/// that begin with `!` are required.
const JUNIT: [(&str, &[&str], &[&str]); 5] = [
    ("testsuites", &["name", "time", "tests", "failures", "errors"], &["testsuite"]),
    (
        "testsuite",
        &["!name", "!tests", "!failures", "!errors", "time", "skipped", "timestamp", "hostname"],
        &["testcase", "properties", "system-out", "system-err"],
    ),
    (
        "testcase",
        &["!name", "time", "classname"],
        &["skipped", "error", "failure", "system-out", "system-err"],
    ),
    ("failure", &["type", "message"], &[]),
    ("system-out", &[], &[]),
];

fn check_junit(text: &str) {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|it| panic!("{it}: {text}"));
    assert_eq!(document.root_element().tag_name().name(), "testsuites");
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let (_, attributes, children) = JUNIT.iter().find(|it| it.0 == name).unwrap();
        let known = |it: &str| attributes.iter().any(|known| known.trim_start_matches('!') == it);
        assert!(node.attributes().all(|it| known(it.name())), "{node:?}");
        let mut required = attributes.iter().filter_map(|it| it.strip_prefix('!'));
        assert!(required.all(|it| node.has_attribute(it)), "{node:?}");
        let mut elements = node.children().filter(roxmltree::Node::is_element);
        assert!(elements.all(|it| children.contains(&it.tag_name().name())), "{node:?}");
    }
}

/// What programs read back is what was written, and is as the published schema says.
#[test]
fn reports_are_as_their_schema_says_and_can_be_read() {
    for report in samples() {
        let json: Value = serde_json::from_str(&written("json", &report, "x", 80)).unwrap();
        assert_eq!(report_errors(&json), Vec::<String>::new());
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}

#[test]
fn known_attacks_are_spelled_out() {
    for text in HOSTILE {
        check(text).unwrap();
        for report in samples() {
            let output = without_styles(&written("text", &report, text, 100));
            let forged = |it: &str| it.starts_with("norn: no bugs");
            assert!(!output.lines().any(forged), "{output}");
        }
    }
}

/// Every string in the JSON form is a text that the writer changes, or one of norn's own words.
#[test]
fn all_texts_are_changed() {
    fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(values) => values.iter().for_each(|it| strings(it, found)),
            Value::Object(fields) => fields.values().for_each(|it| strings(it, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    for report in samples() {
        let before = serde_json::to_value(&report).unwrap();
        let (mut names, mut rest) = (Vec::new(), Vec::new());
        strings(&before, &mut names);
        let after = serde_json::from_str(&written("json", &report, "CHANGED", 80)).unwrap();
        strings(&after, &mut rest);
        assert!(names.iter().any(|it| it.starts_with('M') || it.starts_with('T')), "{names:?}");
        rest.retain(|it| *it != "CHANGED");
        let is_word = |it: &str| it.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
        let own = |it: &&str| is_word(it) && !["till", "m", "pay", "main"].contains(it);
        assert!(rest.iter().all(own), "{rest:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_writer_emits_a_control_character(text: String) {
        check(&text)?;
    }

    #[test]
    fn no_writer_emits_a_control_character_of_an_attack(
        parts in proptest::collection::vec(proptest::sample::select(&HOSTILE[..]), 1..4),
    ) {
        check(&parts.concat())?;
    }
}
