//! Suppression files, in the format of ThreadSanitizer.
//!
//! A line is a suppression, `kind:pattern`. The kind is the class of a finding, or `*` for any; the
//! kinds that only ThreadSanitizer has are accepted as well. The pattern is matched against the names
//! of the functions and files in the stack of an access and against that of the variable. It matches
//! anywhere in a name, unless `^` or `$` anchor it; `*` in it stands for any text. The pattern of
//! `property:` is also matched against the name of the property.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use norn_hunt::{Access, Description};
use norn_model::{BugClass, BugId, Glob};
use norn_report::Object;
use serde_json::json;

use crate::text_file;

/// Kinds that are not classes of findings. `race_top`, `called_from_lib` and `mutex` mean what they mean
/// in ThreadSanitizer; the others cover nothing, unless a class has that name.
const OTHER_KINDS: [&str; 8] =
    ["called_from_lib", "deadlock", "mutex", "order", "property", "race_top", "signal", "thread"];

/// Maximum size of a suppression file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// One line of a suppression file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suppression {
    kind: String,
    pattern: Glob,
    file: PathBuf,
    line: usize,
}

/// A line that is not a suppression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ignored {
    file: PathBuf,
    line: usize,
    text: String,
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ignored { file, line, text } = self;
        write!(
            f,
            "{}:{line}: `{text}` is ignored: it is no `kind:pattern` with a ",
            file.display()
        )?;
        write!(
            f,
            "known kind\nhint: kinds are *, race, atomicity, atomic-set, lifetime, lock-misuse, descriptor, {}",
            { OTHER_KINDS.join(", ") }
        )
    }
}

impl fmt::Display for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.pattern)
    }
}

/// Reads the suppressions of some files, and the lines that are not suppressions.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<(Vec<Suppression>, Vec<Ignored>)> {
    let (mut suppressions, mut ignored) = (Vec::new(), Vec::new());
    for path in files {
        let text = text_file::read(path, MAX_SIZE)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        for (line, text) in (1..).zip(text.lines()) {
            match parse(path, line, text.trim()) {
                Ok(suppression) => suppressions.extend(suppression),
                Err(line) => ignored.push(line),
            }
        }
    }
    Ok((suppressions, ignored))
}

fn parse(file: &Path, line: usize, text: &str) -> Result<Option<Suppression>, Ignored> {
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (kind, pattern) = text.split_once(':').unwrap_or_default();
    if pattern.is_empty() || !is_kind(kind) {
        return Err(Ignored { file: file.to_owned(), line, text: text.to_owned() });
    }
    let (kind, pattern) = (kind.to_owned(), Glob::substring(pattern));
    Ok(Some(Suppression { kind, pattern, file: file.to_owned(), line }))
}

fn is_kind(kind: &str) -> bool {
    kind == "*"
        || OTHER_KINDS.contains(&kind)
        || serde_json::from_value::<BugClass>(kind.into()).is_ok()
}

/// The name of a class of findings.
pub(crate) fn class_name(class: BugClass) -> String {
    json!(class).as_str().unwrap_or_default().to_owned()
}

impl Suppression {
    /// Whether this covers a candidate.
    pub(crate) fn covers(&self, bug: &BugId, description: &Description) -> bool {
        let Some(class) = bug.class else { return false };
        let property = || bug.property.as_deref().is_some_and(|it| self.pattern.matches(it));
        let any = |names: fn(&Access) -> Vec<&str>| {
            description.accesses.iter().flat_map(names).any(|it| self.pattern.matches(it))
        };
        match self.kind.as_str() {
            "called_from_lib" => any(libraries),
            "race_top" => class == BugClass::Race && any(top),
            "mutex" => class == BugClass::LockMisuse && any(all),
            "*" => any(all),
            kind => kind == class_name(class) && (any(all) || property()),
        }
    }

    /// Whether this covers an observed failure, in whose story these names occur.
    pub(crate) fn covers_failure<'a>(
        &self,
        failure: &str,
        mut names: impl Iterator<Item = &'a str>,
    ) -> bool {
        let kind = match failure {
            "deadlock" => self.kind == "deadlock",
            "misuse" => ["lock-misuse", "mutex", "descriptor"].contains(&self.kind.as_str()),
            _ => false,
        };
        (kind || self.kind == "*") && names.any(|it| self.pattern.matches(it))
    }

    /// The suppression as reports show it.
    pub(crate) fn report(&self, used: usize) -> norn_report::Suppression {
        norn_report::Suppression {
            suppression: self.to_string(),
            file: self.file.display().to_string(),
            line: self.line,
            used,
        }
    }
}

/// The names of the variable, the functions and the files.
fn all(access: &Access) -> Vec<&str> {
    let frames = access.frames.iter().flat_map(|it| [it.function.as_deref(), it.file.as_deref()]);
    frames.flatten().chain(object(&access.variable)).collect()
}

/// The names of the variable, and of the function and file of the access without its callers.
fn top(access: &Access) -> Vec<&str> {
    let frames = access.frames.first().map(|it| [it.function.as_deref(), it.file.as_deref()]);
    frames.into_iter().flatten().flatten().chain(object(&access.variable)).collect()
}

/// The name of the variable, and where its memory was allocated.
fn object(object: &Object) -> impl Iterator<Item = &str> {
    let at = object.allocated_at.as_ref();
    let names = at.map(|it| [it.function.as_deref(), it.file.as_deref()]);
    [object.name.as_str()].into_iter().chain(names.into_iter().flatten().flatten())
}

fn libraries(access: &Access) -> Vec<&str> {
    access.frames.iter().filter_map(|it| it.module.as_deref()).collect()
}

#[cfg(test)]
mod tests {
    use norn_model::{Location, ThreadName};
    use norn_report::Action;

    use super::*;

    fn description() -> Description {
        let call = |function: &str, module: &str| Location {
            function: Some(function.to_owned()),
            file: Some("/src/bank/account.c".to_owned()),
            module: Some(module.to_owned()),
            ..Location::default()
        };
        let access = Access {
            thread: ThreadName("T0.1".to_owned()),
            action: Action::Write,
            event: None,
            stuck: false,
            variable: Object::named("bank.balance"),
            value: None,
            shown: None,
            stack: Vec::new(),
            frames: vec![call("deposit", "/opt/bank"), call("serve", "/lib/libserver.so.1")],
            locks: Vec::new(),
        };
        Description { variables: Vec::new(), accesses: vec![access] }
    }

    fn covers(line: &str, class: BugClass) -> bool {
        let suppression = parse(Path::new("f"), 1, line).ok().flatten();
        let bug = BugId { class: Some(class), ..BugId::default() };
        suppression.is_some_and(|it| it.covers(&bug, &description()))
    }

    #[test]
    fn patterns_match_functions_files_and_variables() {
        for name in ["deposit", "serve", "bank/account.c", "balance", "^bank.balance$"] {
            assert!(covers(&format!("race:{name}"), BugClass::Race), "{name}");
            assert!(!covers(&format!("race:{name}"), BugClass::Atomicity), "{name}");
            assert!(covers(&format!("atomic-set:{name}"), BugClass::AtomicSet), "{name}");
            assert!(covers(&format!("*:{name}"), BugClass::Lifetime), "{name}");
        }
        assert!(!covers("race:withdraw", BugClass::Race));
        assert!(!covers("race:libserver", BugClass::Race));
    }

    #[test]
    fn kinds_of_thread_sanitizer_are_accepted() {
        assert!(covers("race_top:deposit", BugClass::Race));
        assert!(!covers("race_top:serve", BugClass::Race));
        assert!(covers("mutex:serve", BugClass::LockMisuse));
        assert!(!covers("mutex:serve", BugClass::Deadlock));
        assert!(covers("called_from_lib:libserver.so", BugClass::Atomicity));
        assert!(!covers("called_from_lib:libother.so", BugClass::Atomicity));
        for kind in ["mutex", "thread", "signal", "deadlock"] {
            assert!(parse(Path::new("f"), 1, &format!("{kind}:x")).is_ok(), "{kind}");
        }
    }

    #[test]
    fn invalid_lines_are_reported() {
        assert_eq!(parse(Path::new("f"), 1, "# race:x"), Ok(None));
        assert_eq!(parse(Path::new("f"), 1, ""), Ok(None));
        let ignored = parse(Path::new("my.supp"), 7, "rice:x").unwrap_err();
        insta::assert_snapshot!(ignored, @r"
        my.supp:7: `rice:x` is ignored: it is no `kind:pattern` with a known kind
        hint: kinds are *, race, atomicity, atomic-set, lifetime, lock-misuse, descriptor, called_from_lib, deadlock, mutex, order, property, race_top, signal, thread
        ");
        assert!(parse(Path::new("f"), 1, "race").is_err());
        assert!(parse(Path::new("f"), 1, "race:").is_err());
    }

    #[test]
    fn observed_failures_are_covered() {
        let suppression = parse(Path::new("f"), 1, "deadlock:serve").unwrap().unwrap();
        assert!(suppression.covers_failure("deadlock", ["serve"].into_iter()));
        assert!(!suppression.covers_failure("deadlock", ["main"].into_iter()));
        assert!(!suppression.covers_failure("abort", ["serve"].into_iter()));
        assert!(!suppression.covers_failure("misuse", ["serve"].into_iter()));
        for kind in ["lock-misuse", "mutex", "descriptor"] {
            let line = parse(Path::new("f"), 1, &format!("{kind}:serve")).unwrap().unwrap();
            assert!(line.covers_failure("misuse", ["serve"].into_iter()), "{kind}");
            assert!(!line.covers_failure("deadlock", ["serve"].into_iter()), "{kind}");
        }
        let race = parse(Path::new("f"), 1, "race:serve").unwrap().unwrap();
        assert!(!race.covers_failure("deadlock", ["serve"].into_iter()));
    }
}
