//! Descriptions of the analyses: names, headlines, explanations.

use norn_model::{BugClass, CandidateKind, Explanation};

use super::ANALYSES;

/// An analysis, its class of bugs, and the kinds of candidates that it finds.
#[derive(Debug)]
pub struct AnalysisInfo {
    /// The class of the bugs that it finds.
    pub class: BugClass,
    /// Its name, and what it is about.
    pub text: Explanation,
    /// The built-in kinds of candidates that it finds.
    pub kinds: &'static [KindInfo],
}

/// The description of a kind of candidate.
#[derive(Debug)]
pub struct KindInfo {
    /// The kind.
    pub kind: CandidateKind,
    /// The headline of a finding: `{}` stands for its variables; `{waiter}`, `{awaited}` and `{lock}`
    /// for the names of a deadlock.
    pub title: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// An interleaving that has it.
    pub example: &'static str,
}

impl AnalysisInfo {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.text.name
    }
}

/// All analyses, in the order in which they run.
pub fn analyses() -> impl Iterator<Item = &'static AnalysisInfo> {
    ANALYSES.iter().map(|it| it.info())
}

/// The names in the headline of a finding.
#[derive(Clone, Copy, Debug, Default)]
pub struct TitleNames<'a> {
    /// The variables of the finding.
    pub variables: &'a [&'a str],
    /// The thread that is stuck in a wait.
    pub waiter: Option<&'a str>,
    /// The object or thread that it waits for.
    pub awaited: Option<&'a str>,
    /// The lock that another thread waits for.
    pub lock: Option<&'a str>,
    /// Whether it is about calls of a library, and not about accesses.
    pub are_calls: bool,
}

/// The headline of an order violation by calls of a library.
const ORDER_OF_CALLS: &str = "order violation on {}: the calls came in the other order";

/// The headline of a finding.
pub fn title(kind: &CandidateKind, names: TitleNames<'_>) -> String {
    let variables = list(names.variables);
    let known = analyses().flat_map(|it| it.kinds).find(|it| it.kind == *kind);
    let Some(info) = known else {
        return format!("{} `{}`: {variables}", kind.class().title(), kind.name());
    };
    let is_thread = *kind == CandidateKind::JoinHoldingLock;
    let awaited = names.awaited.map(|it| if is_thread { it.to_owned() } else { quoted(it) });
    let lock = names.lock.map(quoted);
    let is_order = kind.class() == BugClass::Order && names.are_calls;
    let title = if is_order { ORDER_OF_CALLS } else { info.title };
    title
        .replace("{}", &variables)
        .replace("{waiter}", names.waiter.unwrap_or("a thread"))
        .replace("{awaited}", awaited.as_deref().unwrap_or("another thread"))
        .replace("{lock}", lock.as_deref().unwrap_or("a lock"))
}

/// The names of variables in a sentence: `x`, `y` and `z`.
fn list(variables: &[&str]) -> String {
    let names: Vec<_> = variables.iter().map(|it| quoted(it)).collect();
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A name in quotes. An object without a name has a description instead, which is not quoted. A part of an
/// object that a variable points to has two names: `Account::mutex_` of `accounts[1]`.
fn quoted(name: &str) -> String {
    let (part, holder) = name.split_once(" of ").unwrap_or((name, ""));
    let is_name = |it: &str| !it.contains(' ') && !it.starts_with("T0");
    match (is_name(part), holder) {
        (true, "") => format!("`{name}`"),
        (true, holder) if is_name(holder) => format!("`{part}` of `{holder}`"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn names_are_quoted_and_descriptions_are_not() {
        assert_eq!(list(&["total", "queue->head"]), "`total` and `queue->head`");
        assert_eq!(list(&["Account::mutex_ of accounts[1]"]), "`Account::mutex_` of `accounts[1]`");
        assert_eq!(list(&["stack of T0, main - 0x10"]), "stack of T0, main - 0x10");
        assert_eq!(list(&["counter of T0.1"]), "counter of T0.1");
    }

    #[test]
    fn every_built_in_kind_belongs_to_one_analysis_of_its_class() {
        for kind in CandidateKind::BUILT_IN {
            let owners: Vec<_> =
                analyses().filter(|it| it.kinds.iter().any(|it| it.kind == *kind)).collect();
            let classes: Vec<_> = owners.iter().map(|it| it.class).collect();
            assert_eq!(classes, [kind.class()], "{kind}");
        }
        let names: BTreeSet<_> = analyses().map(AnalysisInfo::name).collect();
        assert_eq!(names.len(), ANALYSES.len());
    }

    /// Properties are checked elsewhere; every other class has an analysis of the same name.
    #[test]
    fn every_class_has_an_analysis() {
        for class in BugClass::ALL.into_iter().filter(|it| *it != BugClass::Property) {
            let same = |it: &&AnalysisInfo| it.class == class && it.name() == class.name();
            assert!(analyses().any(|it| same(&it)), "{class}");
        }
    }

    #[test]
    fn every_text_is_there() {
        for info in analyses() {
            let Explanation { name, summary, meaning, example, advice } = info.text;
            assert!([name, summary, meaning, example, advice].iter().all(|it| !it.is_empty()));
            for it in info.kinds {
                assert!(it.title.contains(['{', '}']), "{}", it.kind);
                assert!(!it.meaning.is_empty() && !it.example.is_empty(), "{}", it.kind);
            }
        }
    }

    #[test]
    fn titles_name_the_class_and_the_variables() {
        let headline = |kind: CandidateKind, variables: &[&str]| {
            title(&kind, TitleNames { variables, ..TitleNames::default() })
        };
        assert_snapshot!(headline(CandidateKind::WriteWriteRace, &["x"]), @"data race on `x`");
        assert_snapshot!(headline(CandidateKind::ReadWriteWrite, &["a.b"]), @"atomicity violation on `a.b`: another thread's write falls between a read and a write");
        assert_snapshot!(headline(CandidateKind::WriteSkew, &["x", "y"]), @"atomic-set violation on `x` and `y`: write skew");
        assert_snapshot!(headline(CandidateKind::UseAfterFree, &["16 bytes of heap"]), @"use after free: 16 bytes of heap");
        let mine = CandidateKind::pattern(BugClass::Pattern, "mine");
        assert_snapshot!(headline(mine, &["x", "y", "z"]), @"user pattern `mine`: `x`, `y` and `z`");
    }

    #[test]
    fn titles_of_deadlocks_name_the_threads() {
        let names = TitleNames {
            waiter: Some("T1"),
            awaited: Some("cv"),
            lock: Some("m"),
            ..TitleNames::default()
        };
        assert_snapshot!(title(&CandidateKind::WaitHoldingLock, names), @"deadlock: T1 waits on `cv` while holding `m`, which the thread that would signal it needs");
        let names = TitleNames { awaited: Some("T2"), ..names };
        assert_snapshot!(title(&CandidateKind::JoinHoldingLock, names), @"deadlock: T1 waits for T2 to end while holding `m`, which that thread needs");
    }
}
