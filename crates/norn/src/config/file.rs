//! The text of a `norn.toml`.

use std::{
    fmt,
    num::{NonZeroU64, NonZeroUsize},
    ops::Range,
    path::Path,
};

use anyhow::anyhow;
use serde::Deserialize;
use toml::{Spanned, de::DeTable};

use super::Config;
use crate::{
    cli::{choices, duration},
    property_file,
};

/// All keys, with those of tables.
const KEYS: [(&str, &[&str]); 13] = [
    ("baseline", &[]),
    ("budget", &[]),
    ("color", &[]),
    ("command", &[]),
    ("compiler", &["cc", "cxx"]),
    ("fail_on", &[]),
    ("format", &[]),
    ("jobs", &[]),
    ("properties", &[]),
    ("stop_at_first", &[]),
    ("suppressions", &[]),
    ("time", &[]),
    ("timeout", &[]),
];

/// A name is suggested for a misspelled one if their similarity exceeds this, as clap does for options.
const SIMILAR: f64 = 0.7;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    baseline: Option<String>,
    budget: Option<NonZeroUsize>,
    color: Option<Spanned<String>>,
    command: Option<Spanned<Vec<String>>>,
    compiler: Compilers,
    fail_on: Option<Spanned<String>>,
    format: Option<Spanned<String>>,
    jobs: Option<NonZeroUsize>,
    properties: Vec<String>,
    stop_at_first: Option<bool>,
    suppressions: Vec<String>,
    time: Option<Spanned<String>>,
    timeout: Option<NonZeroU64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Compilers {
    cc: Option<String>,
    cxx: Option<String>,
}

/// A text, and its path for errors.
struct Text<'a> {
    text: &'a str,
    path: &'a Path,
}

/// Reads a file whose relative paths start from `folder`.
pub(super) fn parse(text: &str, path: &Path, folder: &Path) -> anyhow::Result<Config> {
    let source = Text { text, path };
    let syntax = |error: toml::de::Error| source.error(error.span(), error.message(), None);
    let table = DeTable::parse(text).map_err(syntax)?;
    source.check_keys(table.get_ref())?;
    let file: File = toml::from_str(text).map_err(syntax)?;
    let command = file.command.map_or(Ok(Vec::new()), |it| source.program(it, folder))?;
    let at = |path: String| folder.join(path).to_string_lossy().into_owned();
    let options = [
        ("baseline", file.baseline.map(at).into_iter().collect()),
        ("budget", file.budget.iter().map(ToString::to_string).collect()),
        ("fail-on", source.choice("fail-on", file.fail_on)?.into_iter().collect()),
        ("format", source.choice("format", file.format)?.into_iter().collect()),
        ("jobs", file.jobs.iter().map(ToString::to_string).collect()),
        ("stop-at-first", file.stop_at_first.iter().map(ToString::to_string).collect()),
        ("suppressions", file.suppressions.into_iter().map(at).collect()),
        ("time", source.time(file.time)?.into_iter().collect()),
        ("timeout", file.timeout.iter().map(ToString::to_string).collect()),
    ];
    Ok(Config {
        command,
        properties: file.properties.into_iter().map(|it| property(it, folder)).collect(),
        color: source.choice("color", file.color)?,
        cc: file.compiler.cc.map(|it| program(it, folder)),
        cxx: file.compiler.cxx.map(|it| program(it, folder)),
        options: options.into(),
    })
}

impl Text<'_> {
    fn check_keys(&self, table: &DeTable<'_>) -> anyhow::Result<()> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let Some((_, inner)) = KEYS.iter().find(|it| it.0 == name) else {
                return Err(self.unknown(key.span(), name, KEYS.map(|it| it.0)));
            };
            for (key, _) in value.get_ref().as_table().into_iter().flatten() {
                let name = key.get_ref().as_ref();
                if !inner.contains(&name) {
                    return Err(self.unknown(key.span(), name, inner.iter().copied()));
                }
            }
        }
        Ok(())
    }

    fn unknown(
        &self,
        span: Range<usize>,
        name: &str,
        keys: impl IntoIterator<Item = &'static str> + Clone,
    ) -> anyhow::Error {
        let hint = similar(name, keys.clone()).map_or_else(
            || {
                let keys: Vec<_> = keys.into_iter().map(|it| format!("`{it}`")).collect();
                format!("known keys are {}", keys.join(", "))
            },
            |it| format!("did you mean `{it}`?"),
        );
        self.error(Some(span), format_args!("unknown key `{name}`"), Some(hint))
    }

    /// A value that must be one of those that an option accepts.
    fn choice(&self, long: &str, value: Option<Spanned<String>>) -> anyhow::Result<Option<String>> {
        let Some(value) = value else { return Ok(None) };
        let (span, value, choices) = (value.span(), value.into_inner(), choices(long));
        if choices.contains(&value) {
            return Ok(Some(value));
        }
        let hint = format!("one of {}", choices.join(", "));
        Err(self.error(
            Some(span),
            format_args!("`{value}` is not a value of this key"),
            Some(hint),
        ))
    }

    /// A duration, as `--time` accepts it.
    fn time(&self, value: Option<Spanned<String>>) -> anyhow::Result<Option<String>> {
        let Some(value) = value else { return Ok(None) };
        let (span, value) = (value.span(), value.into_inner());
        match duration(&value) {
            Ok(_) => Ok(Some(value)),
            Err(why) => Err(self.error(Some(span), format_args!("`{value}`: {why}"), None)),
        }
    }

    fn program(&self, command: Spanned<Vec<String>>, folder: &Path) -> anyhow::Result<Vec<String>> {
        let (span, mut words) = (command.span(), command.into_inner());
        let Some(first) = words.first_mut() else {
            let hint = "command = [\"./program\", \"argument\"]".to_owned();
            return Err(self.error(Some(span), "the command is empty", Some(hint)));
        };
        *first = program(first.clone(), folder);
        Ok(words)
    }

    fn error(
        &self,
        span: Option<Range<usize>>,
        what: impl fmt::Display,
        hint: Option<String>,
    ) -> anyhow::Error {
        let before = span.and_then(|it| self.text.get(..it.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
        let hint = hint.map(|it| format!("\nhint: {it}")).unwrap_or_default();
        anyhow!("{}:{line}:{column}: {what}{hint}", self.path.display())
    }
}

/// The key that the user probably meant.
fn similar(name: &str, keys: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let rated = keys.into_iter().map(|it| (strsim::jaro_winkler(name, it), it));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|it| it.0 > SIMILAR).map(|it| it.1)
}

/// A program: a path if it looks like one, as in the shell, or a source file; else a name to be found
/// on the PATH.
fn program(word: String, folder: &Path) -> String {
    let path = Path::new(&word);
    let source = path.extension().and_then(|it| it.to_str());
    let source = matches!(source, Some("c" | "cc" | "cpp" | "cxx" | "C" | "rs"));
    if !source && !word.contains('/') {
        return word;
    }
    // Without the dot, a path of the file's own folder reads as the user wrote it.
    folder.join(path.strip_prefix(".").unwrap_or(path)).to_string_lossy().into_owned()
}

/// The name of a built-in property, or a property file.
fn property(name: String, folder: &Path) -> String {
    if property_file::built_in(&name).is_some() {
        return name;
    }
    folder.join(name).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let parsed = parse(text, Path::new("norn.toml"), Path::new("/project"));
        parsed.map_err(|it| it.to_string())
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let config = read(
            "command = ['./prog', 'data.txt']\n\
             baseline = 'known.json'\n\
             suppressions = ['a.supp', '/etc/b.supp']\n\
             properties = ['data-race', 'auth.norn']\n\
             compiler = { cc = 'tools/cc', cxx = 'clang++-15' }\n",
        )
        .unwrap();
        assert_eq!(config.command, ["/project/prog", "data.txt"]);
        assert_eq!(config.option("baseline"), ["/project/known.json"]);
        assert_eq!(config.option("suppressions"), ["/project/a.supp", "/etc/b.supp"]);
        assert_eq!(config.properties, ["data-race", "/project/auth.norn"]);
        assert_eq!(config.cc.as_deref(), Some("/project/tools/cc"));
        assert_eq!(config.cxx.as_deref(), Some("clang++-15"));
    }

    #[test]
    fn a_source_file_is_a_path() {
        assert_eq!(read("command = ['prog.c']").unwrap().command, ["/project/prog.c"]);
        assert_eq!(read("command = ['prog']").unwrap().command, ["prog"]);
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err()
    }

    #[test]
    fn mistakes_have_a_place_and_a_hint() {
        assert_eq!(
            error("jobs = 2\nbuget = 3\n"),
            "norn.toml:2:1: unknown key `buget`\nhint: did you mean `budget`?"
        );
        assert_eq!(
            error("[compiler]\ncxxx = 'g++'\n"),
            "norn.toml:2:1: unknown key `cxxx`\nhint: did you mean `cxx`?"
        );
        assert!(error("zebra = 1").contains("hint: known keys are `baseline`, `budget`"));
        assert_eq!(
            error("\nformat = 'yaml'\n").split_once("\nhint: one of text, json").unwrap().0,
            "norn.toml:2:10: `yaml` is not a value of this key"
        );
        assert_eq!(
            error("time = '10'"),
            "norn.toml:1:8: `10`: expected a time such as 90s, 10m or 1h30m"
        );
        assert!(error("budget = 0").starts_with("norn.toml:1:10: "), "{}", error("budget = 0"));
        assert!(error("command = []").starts_with("norn.toml:1:11: the command is empty"));
        assert!(error("budget = ").starts_with("norn.toml:1:"), "{}", error("budget = "));
    }
}
