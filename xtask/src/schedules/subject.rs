//! The programs, and the builds of each.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Result, ensure};
use norn_e2e::{
    subject::{Build, CLANG, GCC, Subject},
    tool,
};

use crate::{norn::Norn, workspace};

/// The folder of subjects that have schedules.
const FOLDER: &str = "control";

/// All configurations whose compilers are installed.
pub(super) fn builds() -> Vec<Build> {
    let installed = |it: &Build| tool::is_installed(it.cc) && tool::is_installed(it.cxx);
    let compilers = [GCC, CLANG].into_iter().filter(installed);
    compilers.flat_map(|it| ["-O0", "-O2"].map(|level| it.at(level))).collect()
}

/// All subjects that have schedules, each with its twin, or the one with this name.
pub(super) fn pairs(only: Option<&str>) -> Result<Vec<[Subject; 2]>> {
    let mut all = Subject::all(FOLDER).into_iter();
    let mut pairs = Vec::new();
    while let (Some(subject), Some(twin)) = (all.next(), all.next()) {
        if subject.clip("fail").exists() && only.is_none_or(|it| it == subject.base_name()) {
            pairs.push([subject, twin]);
        }
    }
    ensure!(!pairs.is_empty(), "there is no such subject");
    Ok(pairs)
}

/// Builds a subject and its twin.
pub(super) fn compile(pair: &[Subject; 2], norn: &Norn, build: Build) -> Result<[PathBuf; 2]> {
    let folder = workspace::target().join("schedules").join(build.to_string().replace(' ', ""));
    fs::create_dir_all(&folder)?;
    let compile = |subject: &Subject| {
        let program = folder.join(subject.name.rsplit('/').next().unwrap_or_default());
        let mut command = subject.compile(Command::new(&norn.path), &program, build);
        workspace::succeed(&mut command)?;
        Ok(program)
    };
    let twin: Result<_> = compile(&pair[1]);
    Ok([compile(&pair[0])?, twin?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_by_name() {
        let pairs = pairs(Some("lost_update")).unwrap();
        assert_eq!(pairs.len(), 1);
        assert!(pairs[0][0].announced.is_some() && pairs[0][1].announced.is_none());
        assert!(super::pairs(Some("nobody")).is_err());
    }
}
