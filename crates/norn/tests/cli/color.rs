//! Colors: `--color`, `NO_COLOR`, `CLICOLOR_FORCE`.

use crate::kit::{command, folder, run};

/// Whether an error is printed in colors, under these settings.
fn has_color(options: &[&str], variables: &[(&str, &str)]) -> bool {
    let folder = folder(&[]);
    let words = [options, &["hunt", "--strange"]].concat();
    let ran = run(command(&words, folder.path()).envs(variables.iter().copied()));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    ran.stderr.contains('\x1b')
}

#[test]
fn errors_obey_color_settings() {
    assert!(!has_color(&[], &[]), "this is no terminal");
    assert!(has_color(&["--color", "always"], &[]));
    assert!(has_color(&["--color=always"], &[]));
    assert!(has_color(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(has_color(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!has_color(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!has_color(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

/// Whether a result is printed in colors. Without a compiler, `norn doctor` is fast.
fn result_has_color(options: &[&str], variables: &[(&str, &str)], toml: &str) -> bool {
    let folder = folder(&[("norn.toml", toml)]);
    let words = [options, &["doctor"]].concat();
    let mut command = command(&words, folder.path());
    let ran = run(command.env("PATH", "/nowhere").envs(variables.iter().copied()));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    ran.stdout.contains('\x1b')
}

#[test]
fn results_obey_color_settings() {
    assert!(!result_has_color(&[], &[], ""));
    assert!(result_has_color(&[], &[], "color = 'always'"));
    assert!(!result_has_color(&[], &[("NORN_COLOR", "never")], "color = 'always'"));
    assert!(result_has_color(&["--color", "always"], &[("NORN_COLOR", "never")], ""));
    assert!(result_has_color(&[], &[("CLICOLOR_FORCE", "1")], ""));
}
