//! Programs of the size of a small component: the first entry of the report must name the true cause. The head
//! of each says how: `// First: queue_ in release` is a word in the name of a variable of the first entry, or
//! of the function that allocated it, and a function in which one of its accesses is.

use std::{fs, path::Path, process::Command};

use libtest_mimic::{Failed, Trial};
use norn_e2e::{
    hunt::Hunt,
    process,
    subject::{GCC, Subject, subjects},
    tool::is_installed,
};
use serde_json::Value;

use crate::norn;

/// The project that `cmake` builds, and what its first entry must name.
const PROJECT: (&str, &str, &str) = ("double_checked", "Registry::instance_", "instance");

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
    let hunt = hunt(&program, folder.path());
    if subject.announced.is_none() {
        return clean(&hunt);
    }
    let source = fs::read_to_string(&subject.source)?;
    let line = source.lines().find_map(|it| it.strip_prefix("// First: "));
    let (word, function) = line.and_then(|it| it.split_once(" in ")).ok_or("no `// First:`")?;
    names(&hunt, word, function)
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
    let hunt = hunt(&folder.path().join("out/registry"), folder.path());
    if fixed { clean(&hunt) } else { names(&hunt, word, function) }
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
fn names(hunt: &Hunt, word: &str, function: &str) -> Result<(), Failed> {
    let first = first_entry(&hunt.json).ok_or_else(|| format!("no bug 1\n{:#}", hunt.json))?;
    let variables = first["variables"].as_array().into_iter().flatten();
    let is_named = |text: &Value| text.as_str().is_some_and(|it| it.contains(word));
    let named = |it: &Value| is_named(&it["name"]) || is_named(&it["allocated_at"]["function"]);
    let accesses = first["accesses"].as_array().into_iter().flatten();
    let mut frames = accesses.flat_map(|it| it["stack"].as_array().into_iter().flatten());
    let is_there = |it: &Value| it["function"].as_str().is_some_and(|it| it.contains(function));
    let right = variables.into_iter().any(named) && frames.any(is_there);
    let agrees = hunt.code == Some(1) && hunt.json["summary"]["bugs"].as_u64() > Some(0);
    if right && agrees {
        return Ok(());
    }
    Err(format!("`{word}` in `{function}` is not the first entry:\n{first:#}").into())
}

/// The finding or the cause of the failure that is shown as number 1.
fn first_entry(json: &Value) -> Option<&Value> {
    let list = |name: &str| json[name].as_array().into_iter().flatten();
    let findings = list("details").filter_map(|it| {
        let at = usize::try_from(it["finding"].as_u64()?).ok()?;
        json["findings"].get(at)
    });
    let is_first = |it: &&Value| it["bug"] == 1;
    let failure = || list("observed").find(is_first).map(|it| &it["cause"]);
    findings.into_iter().find(is_first).or_else(failure)
}
