//! A property file: parsed, compiled and linted.

use norn_model::FunctionPattern;

use crate::{
    Mistake, lint, parse,
    tree::{Deed, PropertyDefinition},
    word::{self, Word},
};

/// A file with properties.
#[derive(Clone, Debug)]
pub struct File {
    /// The properties, in the order of the file.
    pub properties: Vec<Property>,
    /// Diagnostics that do not prevent the properties from being used.
    pub warnings: Vec<Mistake>,
}

/// A compiled property: its definition, and what its pattern means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The definition as it is written.
    pub definition: PropertyDefinition,
    /// The pattern is met when one of these happens.
    pub words: Vec<Word>,
}

impl File {
    /// Parses a file, or returns everything that is wrong with it.
    pub fn parse(text: &str) -> Result<File, Vec<Mistake>> {
        let (definitions, mut mistakes) = parse::parse(text);
        let mut properties = Vec::new();
        for definition in definitions {
            match word::words(&definition.pattern) {
                Ok(words) => properties.push(Property { definition, words }),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if mistakes.is_empty() && properties.is_empty() {
            let text = "there is no property in this file";
            mistakes.push(
                Mistake::error(0..0, text).hint("`Name(parameter) { event ... pattern: ... }`"),
            );
        }
        mistakes.extend(lint::lint(&properties));
        mistakes.sort_by_key(|it| it.span);
        if mistakes.iter().any(Mistake::is_error) {
            return Err(mistakes);
        }
        Ok(File { properties, warnings: mistakes })
    }
}

impl Property {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name.text
    }

    /// The functions whose calls must be recorded.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionPattern> {
        let deeds = self.definition.events.iter().flat_map(|it| &it.deeds);
        deeds.filter_map(|it| match it {
            Deed::Call { function, .. } | Deed::Return { function, .. } => Some(function),
            Deed::Touch(..) | Deed::Mark { .. } | Deed::Region(_) => None,
        })
    }
}
