//! Hunts in all subjects with a bug, and in their twins.

use libtest_mimic::{Failed, Trial};
use norn_e2e::{
    hunt::{Found, Hunt},
    process,
    subject::{Announced, Build, CLANG, HUNTED, HUNTED_WITH_CLANG, Subject},
    tool::has_openmp,
};

use crate::norn;

/// Executions up to the first harmful one, at most, the recorded run included. Subjects that only
/// announce a consequence were not written for hunts, and have no such bound.
const EXECUTIONS: u64 = 5;

/// A test for each program.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    let subjects = HUNTED.iter().flat_map(|folder| Subject::all(folder));
    let with_gcc =
        subjects.map(|it| Trial::test(it.name.clone(), move || check(&it, it.usual_build())));
    let subjects = HUNTED_WITH_CLANG.iter().flat_map(|folder| Subject::all(folder));
    let with_clang = subjects.map(|it| {
        Trial::test(format!("{} with clang", it.name), move || {
            if has_openmp(CLANG.cc) { check(&it, CLANG) } else { Ok(()) }
        })
    });
    with_gcc.chain(with_clang)
}

fn check(subject: &Subject, build: Build) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let built = process::run(subject.compile(norn(&[]), &program, build));
    if !built.status.success() {
        return Err(format!("does not compile:\n{}", built.stderr).into());
    }
    let mut command = norn(&["hunt", "--format", "json", "--"]);
    command.arg(&program).current_dir(folder.path());
    let hunt = Hunt::read(&process::run(command));
    let complaint = match &subject.announced {
        Some(announced) => missing(announced, &hunt),
        None => harm(&hunt),
    };
    complaint.map_or(Ok(()), |it| Err(format!("{it}\n{:#}", hunt.json).into()))
}

/// Why the report on a subject with a bug is wrong.
fn missing(announced: &Announced, hunt: &Hunt) -> Option<String> {
    let fails = announced.is_failure();
    let first = if fails { hunt.first() } else { hunt.first_output(announced) };
    let found = hunt.found(announced);
    let in_time = announced.bug.is_none() || first.is_some_and(|it| it <= EXECUTIONS);
    let predicted = match found {
        Found::Confirmed | Found::OnTheWay => true,
        Found::Explored => announced.bug.is_none(),
        Found::No => false,
    };
    let right = predicted && in_time && hunt.code == Some(i32::from(fails));
    let complaint = || format!("{found:?}, first harmful: {first:?}, status: {:?}", hunt.code);
    (!right).then(complaint)
}

/// Why the report on a fixed twin is wrong.
fn harm(hunt: &Hunt) -> Option<String> {
    let right = hunt.is_clean() && hunt.code == Some(0);
    (!right).then(|| format!("a fixed twin is reported as harmful, status: {:?}", hunt.code))
}
