//! Options: unknown ones, those of the program, and what `--help` and `--version` print.

use crate::kit::norn;

const COMMANDS: [&str; 14] = [
    "build",
    "hunt",
    "predict",
    "check",
    "property",
    "patterns",
    "record",
    "run",
    "replay",
    "info",
    "dump",
    "export",
    "doctor",
    "completions",
];

#[test]
fn an_unknown_option_is_not_a_program() {
    let cases = [
        (&["hunt", "--buget", "3", "./prog"][..], "--budget"),
        (&["check", "--buget", "3", "data-race", "./prog"], "--budget"),
        (&["check", "data-race", "--buget", "3", "./prog"], "--budget"),
        (&["run", "--sed", "3", "./prog"], "--seed"),
        (&["record", "--outptu", "x", "./prog"], "--output"),
        (&["replay", "--tiems", "3", "clip.json"], "--times"),
    ];
    for (words, meant) in cases {
        let ran = norn(words);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{words:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: unexpected argument '--"), "{words:?}: {ran:?}");
        let tip = format!("a similar argument exists: '{meant}'");
        assert!(ran.stderr.contains(&tip), "{words:?}: {ran:?}");
    }
    let ran = norn(&["build", "--strange", "make"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("unexpected argument '--strange'"), "{ran:?}");
}

#[test]
fn options_after_the_program_are_its_own() {
    let ran = norn(&["record", "echo", "--output", "x", "-v", "-j1", "--", "--help"]);
    assert_eq!(ran.stdout, "--output x -v -j1 -- --help\n", "{ran:?}");
    let ran = norn(&["build", "echo", "-j4", "--quiet"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "-j4 --quiet\n"), "{ran:?}");
}

#[test]
fn two_hyphens_end_the_options() {
    let ran = norn(&["record", "--", "--strange", "x"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("norn: cannot run `--strange`"), "{ran:?}");
}

#[test]
fn the_number_of_jobs_is_validated() {
    for words in [&["hunt", "-j1", "./missing"][..], &["hunt", "-j", "1", "./missing"]] {
        let ran = norn(words);
        assert!(ran.stderr.starts_with("norn: cannot run `./missing`"), "{words:?}: {ran:?}");
    }
    let ran = norn(&["hunt", "-j0", "./missing"]);
    assert!(ran.stderr.contains("invalid value '0' for '--jobs <NUMBER>'"), "{ran:?}");
    let ran = norn(&["run", "-j2", "./missing"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--times <NUMBER>"), "{ran:?}");
}

#[test]
fn every_command_has_help() {
    for command in COMMANDS {
        let ran = norn(&[command, "--help"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{command}: {ran:?}");
        assert!(ran.stdout.contains(&format!("Usage: norn {command}")), "{command}: {ran:?}");
        assert!(ran.stdout.contains("--color <WHEN>"), "{command}: {ran:?}");
    }
    for command in ["build", "hunt", "predict", "check", "record", "run", "replay", "dump"] {
        let ran = norn(&[command, "--help"]);
        assert!(ran.stdout.contains("\nExamples:\n  norn "), "{command}: {ran:?}");
    }
}

#[test]
fn help_names_defaults_and_variables_of_the_environment() {
    let help = norn(&["hunt", "--help"]).stdout;
    let budget = help.lines().skip_while(|it| !it.contains("--budget <NUMBER>"));
    let budget: Vec<_> = budget.take(5).collect();
    let budget = budget.join(" ");
    assert!(help.contains("Usage: norn hunt [OPTIONS] <PROGRAM>..."), "{help}");
    for part in ["Maximum number of executions", "[env: NORN_BUDGET]", "[default: 200]"] {
        assert!(budget.contains(part), "{part}: {help}");
    }
}

#[test]
fn the_version_names_the_build() {
    let ran = norn(&["--version"]);
    let rest = ran.stdout.strip_prefix(concat!("norn ", env!("CARGO_PKG_VERSION"), " (commit "));
    let (commit, rest) = rest.unwrap().split_once(", runtime ").unwrap();
    assert!(commit == "unknown" || commit.len() >= 12, "{ran:?}");
    let runtime = rest.trim_end().strip_suffix(')').unwrap();
    assert_eq!(runtime.len(), 16, "{ran:?}");
    assert!(runtime.chars().all(|it| it.is_ascii_hexdigit()), "{ran:?}");
}
