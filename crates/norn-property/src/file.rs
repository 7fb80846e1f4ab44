//! A file with rules, read and understood.

use crate::{
    Glob, Mistake, lint, parse,
    tree::{Deed, Property},
    word::{self, Word},
};

/// A file with rules.
#[derive(Clone, Debug)]
pub struct File {
    /// The rules, in their order.
    pub rules: Vec<Rule>,
    /// What hardly is what was meant.
    pub warnings: Vec<Mistake>,
}

/// A property, and what its pattern means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// As it is written.
    pub property: Property,
    /// The pattern is met when one of these happens.
    pub words: Vec<Word>,
}

impl File {
    /// Reads a file; or says all that is wrong with it.
    pub fn parse(text: &str) -> Result<File, Vec<Mistake>> {
        let (properties, mut mistakes) = parse::parse(text);
        let mut rules = Vec::new();
        for property in properties {
            match word::words(&property.pattern) {
                Ok(words) => rules.push(Rule { property, words }),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if mistakes.is_empty() && rules.is_empty() {
            let text = "there is no property in this file";
            mistakes.push(
                Mistake::error(0..0, text).hint("`Name(parameter) { event ... pattern: ... }`"),
            );
        }
        mistakes.extend(lint::lint(&rules));
        mistakes.sort_by_key(|it| it.span);
        if mistakes.iter().any(Mistake::is_error) {
            return Err(mistakes);
        }
        Ok(File { rules, warnings: mistakes })
    }
}

impl Rule {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.property.name.text
    }

    /// The functions of which calls must be recorded.
    pub fn functions(&self) -> impl Iterator<Item = &Glob> {
        let deeds = self.property.events.iter().flat_map(|it| &it.deeds);
        deeds.filter_map(|it| match it {
            Deed::Call { function, .. } | Deed::Return { function, .. } => Some(function),
            Deed::Touch(..) | Deed::Mark { .. } | Deed::Region(_) => None,
        })
    }
}
