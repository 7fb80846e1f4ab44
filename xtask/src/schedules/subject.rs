//! The programs, and the builds of each.

use std::{
    env, fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{norn::Norn, workspace};

/// A program of `subjects/control`.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    /// The consequence that the comment at its beginning announces.
    announced: String,
}

/// A compiler configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build {
    cc: &'static str,
    cxx: &'static str,
    level: &'static str,
}

impl Build {
    /// All configurations whose compilers are installed.
    pub(super) fn all() -> Vec<Build> {
        let compilers = [("gcc", "g++"), ("clang-14", "clang++-14")];
        let there = compilers.into_iter().filter(|it| is_there(it.0) && is_there(it.1));
        let levels = there.flat_map(|(cc, cxx)| ["-O0", "-O2"].map(|level| (cc, cxx, level)));
        levels.map(|(cc, cxx, level)| Build { cc, cxx, level }).collect()
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cc, self.level)
    }
}

impl Subject {
    /// All subjects that have schedules, or the one with this name.
    pub(super) fn all(only: Option<&str>) -> Result<Vec<Subject>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder()).context("cannot read subjects/control")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(".fail.json").map(str::to_owned));
        }
        names.sort();
        names.retain(|it| only.is_none_or(|only| it == only));
        ensure!(!names.is_empty(), "there is no such subject");
        names.into_iter().map(Subject::read).collect()
    }

    fn read(name: String) -> Result<Subject> {
        let text = fs::read_to_string(source(&name)?)?;
        let line = text.lines().find_map(|it| it.strip_prefix("// Consequence: "));
        let line = line.with_context(|| format!("{name} announces no consequence"))?;
        let announced = line.split([',', ';', '(', '.']).next().unwrap_or(line);
        Ok(Subject { announced: announced.trim().to_owned(), name })
    }

    pub(super) fn clip(&self, which: &str) -> PathBuf {
        folder().join(format!("{}.{which}.json", self.name))
    }

    /// Whether a consequence is of the announced kind. A hang may be a deadlock or a livelock.
    pub(super) fn is_announced(&self, consequence: &Value) -> bool {
        let name = consequence.as_object().and_then(|it| it.keys().next().map(String::as_str));
        let name = name.or(consequence.as_str()).unwrap_or("?");
        match &*self.announced {
            "crash" => name == "signal",
            "hang" => ["deadlock", "livelock"].contains(&name),
            "uncaught exception" => name == "exception",
            "double free" => consequence["memory"] == "double-free",
            "use after free" => consequence["memory"] == "use-after-free",
            announced => name == announced,
        }
    }

    /// Builds it and its twin.
    pub(super) fn build(&self, norn: &Norn, build: &Build) -> Result<[PathBuf; 2]> {
        let folder = workspace::target().join("schedules").join(build.to_string().replace(' ', ""));
        fs::create_dir_all(&folder)?;
        let library = self.library(build, &folder)?;
        let compile = |name: String| {
            let (source, program) = (source(&name)?, folder.join(name));
            let word = if source.extension().is_some_and(|it| it == "cc") { "c++" } else { "cc" };
            let mut command = Command::new(&norn.path);
            command.args([word, "-g", "-pthread", build.level]).arg(source).arg("-o");
            command.env("NORN_CC", build.cc).env("NORN_CXX", build.cxx);
            workspace::succeed(command.arg(&program).args(&library))?;
            Ok(program)
        };
        let twin: Result<_> = compile(format!("{}_fixed", self.name));
        Ok([compile(self.name.clone())?, twin?])
    }

    /// A subject may have an uninstrumented part: a library next to its source. Returns the
    /// compiler arguments for it.
    fn library(&self, build: &Build, folder: &Path) -> Result<Vec<String>> {
        let part = self::folder().join(format!("{}_lib.c", self.name));
        if !part.exists() {
            return Ok(Vec::new());
        }
        let mut command = Command::new(build.cc);
        command.args(["-g", "-shared", "-fPIC", "-pthread"]).arg(part);
        workspace::succeed(command.arg("-o").arg(folder.join(format!("lib{}.so", self.name))))?;
        let folder = folder.display();
        Ok(vec![format!("-L{folder}"), format!("-l{}", self.name), format!("-Wl,-rpath,{folder}")])
    }
}

fn source(name: &str) -> Result<PathBuf> {
    let mut paths = ["c", "cc"].iter().map(|it| folder().join(format!("{name}.{it}")));
    paths.find(|it| it.exists()).with_context(|| format!("there is no source of {name}"))
}

fn folder() -> PathBuf {
    workspace::root().join("subjects/control")
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let there = env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !there {
        println!("{program} is not installed");
    }
    there
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn consequences_are_those_that_were_announced() {
        let is = |announced: &str, consequence: Value| {
            let subject = Subject { name: String::new(), announced: announced.to_owned() };
            subject.is_announced(&consequence)
        };
        assert!(is("assertion", json!({"assertion": "x"})));
        assert!(is("hang", json!("livelock")));
        assert!(is("double free", json!({"memory": "double-free"})));
        assert!(!is("double free", json!({"memory": "bad-free"})));
        assert!(!is("deadlock", json!("none")));
    }

    #[test]
    fn all_subjects_announce_what_they_lead_to() {
        assert!(Subject::all(None).unwrap().iter().all(|it| !it.announced.is_empty()));
        assert!(Subject::all(Some("nobody")).is_err());
    }
}
