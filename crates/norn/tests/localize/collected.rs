//! Patterns that the runtime collects while a program runs.

use std::sync::Arc;

use norn_campaign::RunPatterns;
use norn_frontend::FrontEnd;
use norn_native::Native;
use norn_replay::SymbolizedTrace;
use norn_trace::Run;

use crate::kit::{Program, compile, flaky, program};

/// Opens the trace of a run, and returns the patterns that were collected, and those of the trace.
fn both(program: &Program, name: &str) -> [Vec<String>; 2] {
    let folder = program.folder.path().join(name);
    let collected = Run::open(&folder).unwrap().collected.expect("patterns were collected");
    assert_eq!(collected.missed, 0);
    let front_end: Arc<dyn FrontEnd> = Arc::new(Native::default());
    let trace = SymbolizedTrace::open(&*front_end, &folder, collected.process).unwrap();
    let shown = |it: RunPatterns| it.patterns.iter().map(|it| format!("{:?}", it.0)).collect();
    [
        shown(RunPatterns::collected(&trace, &collected)),
        shown(RunPatterns::traced(&trace, collected.window)),
    ]
}

#[test]
fn a_controlled_run_shows_the_same_patterns_online_and_in_its_trace() {
    let mut patterns = 0;
    for name in ["account", "buf_writer", "cache", "shop", "tree_set"] {
        let program = program(name);
        for (seed, strategy) in [("1", "random"), ("2", "pos"), ("3", "random")] {
            let options = ["run", "--collect", "--strategy", strategy, "--seed", seed];
            let ran =
                program.norn(&[&options[..], &["-o", "run.norn", "--", "./program"]].concat());
            assert!(ran.code.is_some(), "{ran:?}");
            let [online, offline] = both(&program, "run.norn");
            assert_eq!(online, offline, "{name}, {strategy} {seed}");
            patterns += online.len();
        }
    }
    assert!(patterns > 15, "{patterns} patterns");
}

#[test]
fn collected_runs_are_ranked() {
    let program = program("account");
    // Without control the program hardly ever fails, so one run is declared to be a failing one.
    for name in ["one.norn", "two.norn"] {
        let ran = program.norn(&["record", "--collect", "-o", name, "--", "./program"]);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let collected = Run::open(&program.folder.path().join(name)).unwrap().collected;
        assert_eq!(collected.expect("patterns were collected").missed, 0);
    }
    let words = ["localize", "--format", "json", "--from", "one.norn", "two.norn"];
    let ran = program.norn(&[&words[..], &["--failed", "two"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let localization = &ran.json()["localization"];
    assert_eq!(localization["unordered"], 0);
    assert!(flaky("account").rank(&localization["clusters"][0]).is_none_or(|it| it >= 1));
}

/// A frequent site is not observed every time, and that is counted.
#[test]
fn what_is_left_out_at_frequent_sites_is_counted() {
    let source = norn_e2e::subject::subjects().join("bench/mutex_counter.c");
    let subject = norn_e2e::subject::Subject {
        name: "bench/mutex_counter".to_owned(),
        source,
        announced: None,
    };
    let program = compile(&subject);
    let collected = |name: &str, options: &[&str]| {
        let words = [&["record", "--collect", "-o", name], options, &["--", "./program", "200000"]];
        let ran = program.norn(&words.concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        Run::open(&program.folder.path().join(name)).unwrap().collected.unwrap()
    };
    let some = collected("some.norn", &[]);
    assert!(some.left_out > 100_000, "{}", some.left_out);
    assert!(!some.patterns.is_empty());
    let all = collected("all.norn", &["--observe-all"]);
    assert_eq!(all.left_out, 0);
    assert!(!all.patterns.is_empty());
}
