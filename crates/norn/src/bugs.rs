//! The bugs that a search has found so far, numbered in the order in which they were confirmed.
//!
//! A bug is often found several times, as a data race and as an order violation, and in both directions.
//! Findings of the same bug ([`norn_model::BugId`]) have one number, and a number does not change while the search
//! runs: it is printed when the bug is found, and the report has the same one, unless bugs turn out to be one
//! at the end. Nothing is omitted: machine-readable reports have
//! all findings, with the bug of each.

use std::path::{Path, PathBuf};

use norn_hunt::Observed;
use norn_model::BugId;

use crate::results::Results;

/// The bugs, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Bugs {
    all: Vec<Bug>,
}

#[derive(Debug)]
struct Bug {
    /// The finding by which it was announced, if it was one.
    announced: Option<usize>,
    /// Its findings: their indices, and the identities that they had when they were added.
    members: Vec<(usize, BugId)>,
    /// Its failures that nothing predicted: their clips and identities.
    failures: Vec<(PathBuf, BugId)>,
    /// Whether one of them leads to a failure.
    fails: bool,
}

/// What a harmful finding adds to the bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is a new bug with this number.
    New(usize),
    /// It shows the bug with this number; `worse` says that this is the first failure of that bug.
    Known { bug: usize, worse: bool },
    /// Nothing.
    Nothing,
}

impl Bugs {
    /// Adds a harmful finding, or what has become known of it since it was added.
    /// `fails` says whether it leads to a failure.
    pub(crate) fn add<R: Results>(&mut self, at: usize, id: BugId, fails: bool) -> Added {
        let is_it = |it: &Bug| it.members.iter().any(|member| member.0 == at);
        let is_same = |it: &Bug| {
            let has_failure = it.failures.iter().any(|one| is_same_failure::<R>(&one.1, &id));
            has_failure || it.members.iter().any(|member| R::is_same_bug(&member.1, &id))
        };
        let known = self.all.iter().position(is_it);
        let Some(found) = known.or_else(|| self.all.iter().position(is_same)) else {
            let (announced, members) = (Some(at), vec![(at, id)]);
            self.all.push(Bug { announced, members, failures: Vec::new(), fails });
            return Added::New(self.all.len());
        };
        let bug = &mut self.all[found];
        let worse = fails && !bug.fails;
        bug.fails |= fails;
        if known.is_some() && !worse {
            return Added::Nothing;
        }
        bug.members.retain(|it| it.0 != at);
        bug.members.push((at, id));
        Added::Known { bug: found + 1, worse }
    }

    /// Adds a failure that nothing predicted. If a finding leads to the same failure, or is what is behind
    /// it, both are one bug.
    pub(crate) fn add_failure<R: Results>(&mut self, failure: &Observed) -> Added {
        let id = failure.diagnosed_bug();
        let is_same = |it: &Bug| {
            let mut all =
                it.members.iter().map(|it| &it.1).chain(it.failures.iter().map(|it| &it.1));
            all.any(|one| is_same_failure::<R>(one, &id))
        };
        let known = self.all.iter().position(is_same);
        let (clip, members) = (failure.clip.clone(), Vec::new());
        let Some(found) = known else {
            let failures = vec![(clip, id)];
            self.all.push(Bug { announced: None, members, failures, fails: true });
            return Added::New(self.all.len());
        };
        let bug = &mut self.all[found];
        let worse = !bug.fails;
        bug.fails = true;
        bug.failures.push((clip, id));
        Added::Known { bug: found + 1, worse }
    }

    /// Joins bugs at the end of a search that have turned out to be one: data races on what a pointer leads to,
    /// and the race on that pointer. The bugs are numbered anew.
    pub(crate) fn settle(&mut self) {
        let mut at = 0;
        while at < self.all.len() {
            // What is joined may be behind a race that the next one has.
            let is_one = |other: &usize| self.all[at].is_one_with(&self.all[*other]);
            match (at + 1..self.all.len()).find(is_one) {
                Some(other) => {
                    let other = self.all.remove(other);
                    self.all[at].join(other);
                }
                None => at += 1,
            }
        }
    }

    /// The number of a failure that nothing predicted, by its clip.
    pub(crate) fn number_of_failure(&self, clip: &Path) -> Option<usize> {
        let has = |it: &Bug| it.failures.iter().any(|it| it.0 == clip);
        self.all.iter().position(has).map(|it| it + 1)
    }

    /// Whether a finding has a number.
    pub(crate) fn contains(&self, at: usize) -> bool {
        self.all.iter().any(|it| it.members.iter().any(|member| member.0 == at))
    }

    /// The findings by which bugs were announced.
    pub(crate) fn announced(&self) -> Vec<usize> {
        self.all.iter().filter_map(|it| it.announced).collect()
    }

    /// The findings of each bug, the worst first.
    pub(crate) fn groups(&self, results: &impl Results) -> Vec<Vec<usize>> {
        let group = |it: &Bug| {
            let mut members: Vec<_> = it.members.iter().map(|it| it.0).collect();
            members.sort_by_key(|at| (results.rank(*at), *at));
            members
        };
        self.all.iter().map(group).collect()
    }
}

impl Bug {
    fn ids(&self) -> impl Iterator<Item = &BugId> {
        self.members.iter().map(|it| &it.1).chain(self.failures.iter().map(|it| &it.1))
    }

    /// Whether a race of one of both is behind a race of the other.
    fn is_one_with(&self, other: &Bug) -> bool {
        let behind = |one: &Bug, all: &Bug| {
            all.ids().any(|pointer| one.ids().any(|it| it.is_behind(pointer)))
        };
        behind(self, other) || behind(other, self)
    }

    fn join(&mut self, other: Bug) {
        self.members.extend(other.members);
        self.failures.extend(other.failures);
        self.fails |= other.fails;
    }
}

/// Whether a failure that nothing predicted and another failure or finding are one bug.
fn is_same_failure<R: Results>(one: &BugId, other: &BugId) -> bool {
    one.failure.is_some() && one.failure == other.failure || R::is_same_bug(one, other)
}

#[cfg(test)]
mod tests {
    use norn_hunt::{Check, Hunt};
    use norn_model::{BugClass, Consequence, FailureSite, Location};

    use super::*;

    fn at(line: u32) -> Location {
        Location { function: Some("add".to_owned()), line: Some(line), ..Location::default() }
    }

    fn race(variable: &str, line: u32, fails: bool) -> BugId {
        BugId {
            class: Some(BugClass::Race),
            variables: [variable.to_owned()].into(),
            places: [at(line), at(line + 1)].into(),
            failure: fails.then(|| FailureSite::new(&Consequence::Abort, [at(9)])),
            ..BugId::default()
        }
    }

    fn add<R: Results>(bugs: &mut Bugs, at: usize, id: BugId) -> Added {
        let fails = id.failure.is_some();
        bugs.add::<R>(at, id, fails)
    }

    #[test]
    fn numbers_are_given_in_order_and_stay() {
        let mut bugs = Bugs::default();
        assert_eq!(add::<Hunt>(&mut bugs, 7, race("x", 1, false)), Added::New(1));
        assert_eq!(add::<Hunt>(&mut bugs, 3, race("y", 20, true)), Added::New(2));
        assert_eq!(add::<Hunt>(&mut bugs, 3, race("y", 20, true)), Added::Nothing);
        assert_eq!(
            add::<Hunt>(&mut bugs, 5, race("y", 20, true)),
            Added::Known { bug: 2, worse: false }
        );
        assert!(bugs.contains(5) && !bugs.contains(6));
    }

    #[test]
    fn a_failure_may_come_after_the_race_that_leads_to_it() {
        let mut bugs = Bugs::default();
        assert_eq!(add::<Hunt>(&mut bugs, 0, race("x", 1, false)), Added::New(1));
        assert_eq!(
            add::<Hunt>(&mut bugs, 1, race("x", 1, true)),
            Added::Known { bug: 1, worse: true }
        );
        assert_eq!(add::<Hunt>(&mut bugs, 0, race("x", 1, true)), Added::Nothing);
    }

    #[test]
    fn races_behind_a_racy_pointer_are_joined_at_the_end() {
        let member = |variable: &str, line: u32| BugId {
            holders: ["shared".to_owned()].into(),
            functions: ["add".to_owned()].into(),
            ..race(variable, line, false)
        };
        let mut bugs = Bugs::default();
        assert_eq!(add::<Hunt>(&mut bugs, 0, member("size", 30)), Added::New(1));
        assert_eq!(add::<Hunt>(&mut bugs, 1, race("other", 50, false)), Added::New(2));
        assert_eq!(add::<Hunt>(&mut bugs, 2, member("first", 40)), Added::New(3));
        assert_eq!(add::<Hunt>(&mut bugs, 3, race("shared", 1, true)), Added::New(4));
        bugs.settle();
        let members = |it: &Bug| it.members.iter().map(|it| it.0).collect::<Vec<_>>();
        let all: Vec<_> = bugs.all.iter().map(members).collect();
        assert_eq!(all, [vec![0, 3, 2], vec![1]]);
    }

    #[test]
    fn violations_of_properties_are_never_one_bug() {
        let mut bugs = Bugs::default();
        assert_eq!(add::<Check>(&mut bugs, 0, race("x", 1, false)), Added::New(1));
        assert_eq!(add::<Check>(&mut bugs, 1, race("x", 1, false)), Added::New(2));
        assert_eq!(add::<Check>(&mut bugs, 1, race("x", 1, false)), Added::Nothing);
    }
}
