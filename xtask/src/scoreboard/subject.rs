//! The programs, and what their heads announce.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{Hunt, Row};
use crate::{norn::Norn, workspace};

/// Where subjects are.
const FOLDERS: [&str; 4] =
    ["subjects/hunt", "subjects/deadlock", "subjects/order", "subjects/control"];
/// What the name of a twin ends with.
const TWIN: &str = "_fixed";

/// A program.
#[derive(Debug)]
pub(super) struct Subject {
    source: PathBuf,
    /// `hunt/account`.
    name: String,
    /// Nothing is announced for twins.
    announced: Option<Announced>,
}

/// What must be found in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Announced {
    /// The class, and words of which one is in the name of a variable. Not known of programs that
    /// were not written for hunts.
    what: Option<(String, Vec<String>)>,
    consequence: String,
}

impl Subject {
    /// All that have a twin, each followed by it; or the one with a name, and its twin.
    pub(super) fn all(only: Option<&str>) -> Result<Vec<Subject>> {
        let mut subjects = Vec::new();
        for folder in FOLDERS {
            let path = workspace::root().join(folder);
            let entries = fs::read_dir(&path).with_context(|| format!("cannot read {folder}"))?;
            let mut sources: Vec<_> = entries.map(|it| Ok(it?.path())).collect::<Result<_>>()?;
            sources.sort();
            for source in sources {
                let Some(twin) = twin(&source).filter(|it| it.exists()) else { continue };
                subjects.push(Subject::read(source, false)?);
                subjects.push(Subject::read(twin, true)?);
            }
        }
        let stem = |it: &Subject| it.name.rsplit('/').next().unwrap_or_default().to_owned();
        let is =
            |name: &str, it: &Subject| stem(it).strip_suffix(TWIN).unwrap_or(&stem(it)) == name;
        subjects.retain(|it| only.is_none_or(|only| is(only, it)));
        ensure!(!subjects.is_empty(), "there is no such subject");
        Ok(subjects)
    }

    fn read(source: PathBuf, twin: bool) -> Result<Subject> {
        let part = |it: Option<&std::ffi::OsStr>| {
            it.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let folder = part(source.parent().and_then(Path::file_name));
        let name = format!("{folder}/{}", part(source.file_stem()));
        let text = fs::read_to_string(&source)?;
        let announced = (!twin).then(|| Announced::read(&text));
        let announced = announced.map(|it| it.with_context(|| format!("{name} announces nothing")));
        Ok(Subject { announced: announced.transpose()?, source, name })
    }

    /// A row without figures.
    pub(super) fn row(&self) -> Row {
        let hunt = Hunt { json: Value::Null, time: Duration::ZERO };
        Row { subject: self.name.clone(), announced: self.announced.clone(), hunt }
    }

    /// Compiles it, with its part that is built without norn if it has one.
    pub(super) fn build(&self, norn: &Norn) -> Result<PathBuf> {
        fs::create_dir_all(folder())?;
        let program = folder().join(self.source.file_stem().unwrap_or_default());
        let word = if self.source.extension().is_some_and(|it| it == "cc") { "c++" } else { "cc" };
        let mut command = Command::new(&norn.path);
        command.args([word, "-g", "-O1", "-pthread"]).arg(&self.source).arg("-o").arg(&program);
        command.env("NORN_CC", "gcc").env("NORN_CXX", "g++");
        workspace::succeed(command.args(self.library()?))?;
        Ok(program)
    }

    fn library(&self) -> Result<Option<PathBuf>> {
        let stem = self.source.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{}_lib", stem.strip_suffix(TWIN).unwrap_or(&stem));
        let part = self.source.with_file_name(format!("{name}.c"));
        if !part.exists() {
            return Ok(None);
        }
        let library = folder().join(format!("{name}.so"));
        let mut command = Command::new("gcc");
        command.args(["-g", "-shared", "-fPIC", "-pthread"]).arg(part).arg("-o").arg(&library);
        workspace::succeed(&mut command)?;
        Ok(Some(library))
    }
}

/// A variable's name; of memory, also the function that allocated it.
fn variable(object: &Value) -> String {
    let names = [&object["name"], &object["allocated_at"]["function"]];
    names.iter().filter_map(|it| it.as_str()).collect::<Vec<_>>().join(" ")
}

impl Announced {
    /// `// Finds: atomicity on balance; assertion`, or `// Consequence: assertion, the balance …`.
    pub(super) fn read(text: &str) -> Option<Announced> {
        let head = |word: &str| text.lines().find_map(|it| it.strip_prefix(word));
        if let Some(line) = head("// Finds: ") {
            let (what, consequence) = line.split_once("; ")?;
            let (class, variables) = what.split_once(" on ")?;
            let variables = variables.split(", ").map(str::to_owned).collect();
            let what = Some((class.to_owned(), variables));
            return Some(Announced { what, consequence: consequence.to_owned() });
        }
        let line = head("// Consequence: ")?;
        let consequence = line.split([',', ';', '(', '.']).next().unwrap_or(line).trim().to_owned();
        Some(Announced { what: None, consequence })
    }

    /// Whether a finding is of the class and on one of the variables.
    pub(super) fn is_about(&self, finding: &Value) -> bool {
        let Some((class, variables)) = &self.what else { return true };
        let accesses = finding["accesses"].as_array().into_iter().flatten();
        let mut names = accesses.map(|it| variable(&it["variable"]));
        finding["class"] == class.as_str()
            && names.any(|name| variables.iter().any(|it| name.contains(it.as_str())))
    }

    /// Whether it has the consequence. A program that hangs may do so by waiting or by spinning.
    pub(super) fn leads(&self, it: &Value) -> bool {
        let consequence = &it["consequence"];
        let name = consequence.as_object().and_then(|it| it.keys().next().map(String::as_str));
        let name = name.or(consequence.as_str()).unwrap_or("?");
        match &*self.consequence {
            "crash" => name == "signal",
            "hang" => ["deadlock", "livelock", "hang"].contains(&name),
            "uncaught exception" => name == "exception",
            "double free" => consequence["memory"] == "double-free",
            "use after free" => consequence["memory"] == "use-after-free",
            announced => name == announced,
        }
    }

    pub(super) fn consequence(&self) -> &str {
        &self.consequence
    }
}

/// Where the fixed twin of a source would be.
fn twin(source: &Path) -> Option<PathBuf> {
    let extension = source.extension().and_then(|it| it.to_str());
    let extension = extension.filter(|it| ["c", "cc"].contains(it))?;
    let stem = source.file_stem()?.to_str()?;
    Some(source.with_file_name(format!("{stem}{TWIN}.{extension}")))
}

/// Where programs and results go.
pub(super) fn folder() -> PathBuf {
    workspace::target().join("scoreboard")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn heads_are_read() {
        let announced = Announced::read("// A.\n// Finds: atomic-set on x, y; deadlock\n").unwrap();
        let accesses = json!([{ "variable": "point.y" }]);
        assert!(announced.is_about(&json!({ "class": "atomic-set", "accesses": accesses })));
        assert!(!announced.is_about(&json!({ "class": "race", "accesses": accesses })));
        assert!(announced.leads(&json!({ "consequence": "deadlock" })));
        let announced = Announced::read("// Consequence: double free, at the end.\n").unwrap();
        assert!(announced.leads(&json!({ "consequence": { "memory": "double-free" } })));
        assert!(!announced.leads(&json!({ "consequence": "none" })));
        assert_eq!(Announced::read("int x;"), None);
    }

    #[test]
    fn subjects_come_with_their_twins() {
        let subjects = Subject::all(None).unwrap();
        assert!(subjects.chunks(2).all(|it| it[1].name == format!("{}{TWIN}", it[0].name)));
        assert!(
            subjects.chunks(2).all(|it| it[0].announced.is_some() && it[1].announced.is_none())
        );
        assert!(Subject::all(Some("nobody")).is_err());
    }
}
