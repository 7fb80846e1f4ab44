//! `norn explain`: what the names in reports mean.

use std::io::Write;

use norn_model::{CONSEQUENCES, Explanation, VERDICTS, closest};
use norn_predict::{AnalysisInfo, KindInfo, analyses};

use crate::{exit::Exit, terminal};

/// Common names, and the names that reports use instead.
const ALIASES: [(&str, &str); 5] = [
    ("crash", "signal"),
    ("memory-error", "memory"),
    ("exit-status", "exit"),
    ("check-failed", "check"),
    ("data-race", "race"),
];

/// One meaning of a name.
#[derive(Clone, Copy)]
enum Entry {
    Analysis(&'static AnalysisInfo),
    Kind(&'static AnalysisInfo, &'static KindInfo),
    Property,
    Verdict(&'static Explanation),
    Consequence(&'static Explanation),
}

pub(super) fn run(name: Option<&str>) -> anyhow::Result<Exit> {
    let mut out = terminal::colored_stdout();
    match name {
        None => list(&mut out)?,
        Some(name) => explain(name, &mut out)?,
    }
    Ok(Exit::Clean)
}

fn explain(name: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let meanings = meanings(name);
    if meanings.is_empty() {
        let known = entries().map(Entry::name).chain(ALIASES.map(|it| it.0));
        let hint = closest(name, known).map_or_else(
            || "`norn explain` lists all names".to_owned(),
            |it| format!("did you mean `{it}`?"),
        );
        anyhow::bail!("there is nothing called `{name}`\nhint: {hint}");
    }
    for (at, entry) in meanings.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        entry.print(out)?;
    }
    Ok(())
}

/// All entries, those of analyses first.
fn entries() -> impl Iterator<Item = Entry> {
    let of = |info: &'static AnalysisInfo| {
        // A kind that is called like its analysis is part of it.
        let kinds = info.kinds.iter().filter(|it| it.kind.name() != info.name());
        let kinds = kinds.map(move |it| Entry::Kind(info, it));
        std::iter::once(Entry::Analysis(info)).chain(kinds)
    };
    analyses()
        .flat_map(of)
        .chain([Entry::Property])
        .chain(VERDICTS.iter().map(Entry::Verdict))
        .chain(CONSEQUENCES.iter().map(Entry::Consequence))
}

/// What a name means; some mean several things.
fn meanings(name: &str) -> Vec<Entry> {
    let alias = ALIASES.iter().find(|it| it.0 == name);
    let name = alias.map_or(name, |it| it.1);
    entries().filter(|it| it.name() == name).collect()
}

fn list(out: &mut impl Write) -> anyhow::Result<()> {
    let mut section = "";
    for entry in entries() {
        if entry.section() != section {
            let line = if section.is_empty() { "" } else { "\n" };
            section = entry.section();
            writeln!(out, "{line}{section}:")?;
        }
        let indent = if matches!(entry, Entry::Kind(..)) { "    " } else { "  " };
        let width = 36 - indent.len();
        writeln!(out, "{indent}{:width$}{}", entry.name(), entry.summary())?;
    }
    Ok(())
}

impl Entry {
    fn name(self) -> &'static str {
        match self {
            Entry::Analysis(info) => info.name(),
            Entry::Kind(_, kind) => kind.kind.name(),
            Entry::Property => norn_property::EXPLANATION.name,
            Entry::Verdict(it) | Entry::Consequence(it) => it.name,
        }
    }

    /// The heading of the list that it is in.
    fn section(self) -> &'static str {
        match self {
            Entry::Analysis(_) | Entry::Kind(..) | Entry::Property => {
                "Bugs, by analysis and kind of candidate"
            }
            Entry::Verdict(_) => "Verdicts",
            Entry::Consequence(_) => "Consequences",
        }
    }

    /// A short description.
    fn summary(self) -> String {
        match self {
            Entry::Analysis(info) => info.text.summary.to_owned(),
            Entry::Kind(_, kind) => kind.title.replace(" on {}", "").replace("{}", "…"),
            Entry::Property => norn_property::EXPLANATION.summary.to_owned(),
            Entry::Verdict(it) | Entry::Consequence(it) => it.summary.to_owned(),
        }
    }

    fn print(self, out: &mut impl Write) -> anyhow::Result<()> {
        let what = match self {
            Entry::Analysis(_) | Entry::Property => "class of bugs or analysis".to_owned(),
            Entry::Kind(info, _) => format!("kind of {}", info.class.title()),
            Entry::Verdict(_) => "verdict".to_owned(),
            Entry::Consequence(_) => "consequence".to_owned(),
        };
        writeln!(out, "{} ({what})\n  {}\n", self.name(), self.summary())?;
        let text = match self {
            Entry::Analysis(info) | Entry::Kind(info, _) => &info.text,
            Entry::Property => &norn_property::EXPLANATION,
            Entry::Verdict(it) | Entry::Consequence(it) => it,
        };
        let (meaning, example) = match self {
            Entry::Kind(_, kind) => (kind.meaning, kind.example),
            _ => (text.meaning, text.example),
        };
        writeln!(out, "{}\n\nExample:\n{}\n", wrap(meaning, ""), indent(example))?;
        writeln!(out, "What to do:\n{}", wrap(text.advice, "  "))?;
        if let Entry::Analysis(info) = self
            && !info.kinds.is_empty()
        {
            let kinds: Vec<_> = info.kinds.iter().map(|it| it.kind.name()).collect();
            writeln!(out, "\nKinds:\n{}", wrap(&kinds.join(", "), "  "))?;
        }
        Ok(())
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|it| format!("  {it}")).collect::<Vec<_>>().join("\n")
}

/// Breaks a paragraph into lines of at most 80 characters.
fn wrap(text: &str, indent: &str) -> String {
    const WIDTH: usize = 80;
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { continue };
        let full = line.chars().count() + 1 + word.chars().count() > WIDTH;
        if full && line.len() > indent.len() {
            lines.push(format!("{indent}{word}"));
        } else {
            let space = if line.len() > indent.len() { " " } else { "" };
            line.push_str(space);
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use norn_hunt::{Failure, Status};
    use norn_model::{BugClass, CandidateKind};

    use super::*;

    #[test]
    fn every_kind_and_class_is_explained() {
        for kind in CandidateKind::BUILT_IN {
            assert!(!meanings(kind.name()).is_empty(), "{kind}");
        }
        for class in BugClass::ALL {
            assert!(!meanings(class.name()).is_empty(), "{class}");
        }
    }

    #[test]
    fn every_status_of_a_finding_is_explained() {
        // A new status does not compile before it has a name here.
        let name = |status: &Status| match status {
            Status::Confirmed(_) => "confirmed",
            Status::NotReproducible(..) => "not-reproducible",
            Status::Infeasible(Failure::Inconclusive) => "inconclusive",
            Status::Infeasible(_) => "infeasible",
            Status::Unconfirmed(_) => "unconfirmed",
            Status::Untried => "untried",
        };
        assert_eq!(name(&Status::Untried), "untried");
        let names = [
            "confirmed",
            "not-reproducible",
            "inconclusive",
            "infeasible",
            "unconfirmed",
            "untried",
        ];
        for name in names {
            assert!(VERDICTS.iter().any(|it| it.name == name), "{name}");
        }
    }

    fn explained(name: &str) -> String {
        let mut out = Vec::new();
        match explain(name, &mut out) {
            Ok(()) => String::from_utf8(out).unwrap(),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_kind_is_explained() {
        assert_snapshot!(explained("write-skew"), @r"
        write-skew (kind of atomic-set violation)
          atomic-set violation: write skew

        Each thread reads one variable and writes the other, and neither sees what the
        other does. Databases call it write skew: each check holds alone, and together
        they break what they check.

        Example:
          T1: read  x
          T2: read  y
          T2: write x
          T1: write y

        What to do:
          Access variables that belong together in one critical section, everywhere.
        ");
    }

    #[test]
    fn all_meanings_of_a_name_are_explained() {
        let text = explained("deadlock");
        assert!(text.contains("deadlock (class of bugs or analysis)"), "{text}");
        assert!(text.contains("deadlock (consequence)"), "{text}");
        assert!(text.contains("lock-cycle, wait-holding-lock, join-holding-lock"), "{text}");
    }

    #[test]
    fn an_unknown_name_is_an_error_with_a_hint() {
        assert_snapshot!(explained("stolen-wakeup"), @r"
        there is nothing called `stolen-wakeup`
        hint: did you mean `stolen-wake-up`?
        ");
        assert_snapshot!(explained("banana"), @r"
        there is nothing called `banana`
        hint: `norn explain` lists all names
        ");
    }

    #[test]
    fn aliases_lead_to_entries() {
        for (alias, name) in ALIASES {
            assert!(entries().all(|it| it.name() != alias), "{alias}");
            assert!(!meanings(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn lines_are_broken() {
        let text = wrap(&"word ".repeat(40), "  ");
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|it| it.chars().count() <= 80 && it.starts_with("  w")));
    }
}
