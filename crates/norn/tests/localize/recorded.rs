//! Rankings from traces that were recorded before.

use crate::kit::{compile, flaky, program};

#[test]
fn traces_are_ranked_like_runs() {
    let program = program("account");
    let report = program.localize(&["-n", "12", "--no-early-stop"]);
    // The same runs, recorded one by one.
    let strategies = ["random", "pct", "pos"];
    let words = report["localization"]["clusters"][0]["reproduce"].as_array().unwrap();
    let expected = words.iter().skip_while(|it| *it != "--expected").nth(1).cloned();
    let expected = expected.unwrap_or_else(|| "1".into());
    let expected = expected.as_str().unwrap();
    for run in 0..12usize {
        let (seed, output) = (run.to_string(), format!("run{run}.norn"));
        let mut words = vec!["run", "--strategy", strategies[run % 3], "--seed", &seed];
        words.extend(["--expected", expected, "-o", &output, "--", "./program"]);
        program.norn(&words);
    }
    let folders: Vec<_> = (0..12).map(|it| format!("run{it}.norn")).collect();
    let mut words = vec!["localize", "--format", "json", "--from"];
    words.extend(folders.iter().map(String::as_str));
    let ranked = program.norn(&words).json();
    let cluster = &ranked["localization"]["clusters"][0];
    assert_eq!(flaky("account").rank(cluster), Some(1), "{ranked}");
    assert_eq!(cluster["title"], "exit status 1");
    assert_eq!(ranked["localization"]["unordered"], 0);
}

#[test]
fn the_user_names_failing_runs() {
    // Recording does not control the threads: the program with the bug could fail by itself.
    let program = compile(&flaky("account").twin);
    for name in ["one.norn", "two.norn"] {
        assert_eq!(program.norn(&["record", "-o", name, "--", "./program"]).code, Some(0));
    }
    let words = ["localize", "--format", "json", "--from", "one.norn", "two.norn"];
    let ran = program.norn(&words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = program.norn(&[&words[..], &["--failed", "two"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let localization = &ran.json()["localization"];
    assert_eq!((&localization["passed"], &localization["failed"]), (&1.into(), &1.into()));
    assert_eq!(localization["clusters"][0]["first"], "two.norn");
    assert_eq!(localization["unordered"], 2);
    let ran = program.norn(&[&words[..], &["--failed", "three"]].concat());
    assert_eq!((ran.code, &*ran.stderr), (Some(2), "norn: no trace is called `three`\n"));
}
