//! Programs of the size of a small component: the first entry of the report must name the true cause. The head
//! of each says how: `// First: queue_ in release` is a part of the headline or of the name of a variable, or of the function that
//! allocated it, and a function in which one of the accesses is; the first entry must have both.

use std::{fs, path::Path, process::Command};

use crate::norn;
use libtest_mimic::{Failed, Trial};
use norn_e2e::{
    hunt::Hunt,
    process,
    subject::{GCC, Subject, subjects},
    tool::is_installed,
};

/// The project that `cmake` builds, and what its first entry must name.
const PROJECT: (&str, &str, &str) =
    ("double_checked", "data race on `Registry::instance_`", "instance");

/// A test for each program, and one for each build of the project.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    let subjects = Subject::all("report").into_iter();
    let programs = subjects.map(|it| Trial::test(it.name.clone(), move || check(&it)));
    let builds = [false, true].into_iter().map(|fixed| {
        let suffix = if fixed { "_fixed" } else { "" };
        Trial::test(format!("report/{}{suffix}", PROJECT.0), move || check_project(fixed))
    });
    programs.chain(builds)
}

fn check(subject: &Subject) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let built = process::run(subject.compile(norn(&[]), &program, GCC));
    if !built.status.success() {
        return Err(format!("does not compile:\n{}", built.stderr).into());
    }
    if subject.announced.is_none() {
        return clean(&hunt(&program, folder.path()));
    }
    let source = fs::read_to_string(&subject.source)?;
    let line = source.lines().find_map(|it| it.strip_prefix("// First: "));
    let (word, function) = line.and_then(|it| it.split_once(" in ")).ok_or("no `// First:`")?;
    names(&program, folder.path(), (word, function))
}

/// Builds the project as its users would, with the compilers replaced.
fn check_project(fixed: bool) -> Result<(), Failed> {
    if !is_installed("cmake") {
        return Ok(());
    }
    let (name, word, function) = PROJECT;
    let folder = tempfile::tempdir()?;
    let source = subjects().join("report").join(name);
    let mut configure = norn(&["build", "cmake", "-B", "out", "-S"]);
    configure.arg(source).arg(format!("-DFIXED={}", if fixed { "ON" } else { "OFF" }));
    let mut build = Command::new("cmake");
    build.args(["--build", "out"]);
    for mut step in [configure, build] {
        step.current_dir(folder.path());
        let ran = process::run(step);
        if !ran.status.success() {
            return Err(format!("does not build:\n{ran:?}").into());
        }
    }
    let program = folder.path().join("out/registry");
    if fixed {
        clean(&hunt(&program, folder.path()))
    } else {
        names(&program, folder.path(), (word, function))
    }
}

fn hunt(program: &Path, folder: &Path) -> Hunt {
    let mut command = norn(&["hunt", "--format", "json", "--"]);
    command.arg(program).current_dir(folder);
    Hunt::read(&process::run(command))
}

fn clean(hunt: &Hunt) -> Result<(), Failed> {
    if hunt.is_clean() && hunt.code == Some(0) {
        return Ok(());
    }
    Err(format!("a fixed twin is reported as harmful, {:?}\n{:#}", hunt.code, hunt.json).into())
}

/// Whether the first entry names the cause, and the exit status and the summary agree with it.
fn names(program: &Path, folder: &Path, (word, function): (&str, &str)) -> Result<(), Failed> {
    let mut command = norn(&["hunt", "--"]);
    command.arg(program).current_dir(folder);
    let ran = process::run(command);
    let entry = ran.stdout.lines().skip_while(|it| !it.starts_with("1. "));
    let entry: Vec<_> = entry.take_while(|it| !it.starts_with("   reproduce: ")).collect();
    let right = [word, function].iter().all(|name| entry.iter().any(|it| it.contains(name)));
    let bugs = |it: &str| it.split_once("; ").is_some_and(|it| it.0.contains(" bug"));
    if right && ran.code == Some(1) && ran.stdout.lines().any(bugs) {
        return Ok(());
    }
    Err(format!("`{word}` in `{function}` is not the first entry:\n{}", ran.stdout).into())
}
