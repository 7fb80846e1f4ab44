//! A property file: parsed, compiled and linted.

use norn_model::FunctionPattern;

use crate::{
    Diagnostic,
    linear_pattern::{self, LinearPattern},
    lint, parse, size,
    syntax::{Action, PropertyDefinition},
};

/// A file with properties.
#[derive(Clone, Debug)]
pub struct File {
    /// The properties, in the order of the file.
    pub properties: Vec<Property>,
    /// Diagnostics that do not prevent the properties from being used.
    pub warnings: Vec<Diagnostic>,
}

/// A compiled property: its definition and the linear patterns of its pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The definition as it is written.
    pub definition: PropertyDefinition,
    /// The property is violated when one of these occurs.
    pub linear_patterns: Vec<LinearPattern>,
}

impl File {
    /// Parses a file; on failure returns all diagnostics.
    pub fn parse(text: &str) -> Result<File, Vec<Diagnostic>> {
        let (definitions, mut diagnostics) = parse::parse(text);
        let mut properties = Vec::new();
        for definition in definitions {
            match linear_pattern::linear_patterns(&definition.pattern) {
                Ok(linear_patterns) => properties.push(Property { definition, linear_patterns }),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        if diagnostics.is_empty() && properties.is_empty() {
            let text = "there is no property in this file";
            diagnostics.push(
                Diagnostic::error(0..0, text).hint("`Name(parameter) { event ... pattern: ... }`"),
            );
        }
        diagnostics.extend(lint::lint(&properties));
        diagnostics.sort_by_key(|it| it.span);
        let has_errors = diagnostics.iter().any(Diagnostic::is_error);
        if diagnostics.len() > size::MAX_ERRORS {
            diagnostics.retain(|it| it.is_error() == has_errors);
            diagnostics.truncate(size::MAX_ERRORS);
        }
        if has_errors {
            return Err(diagnostics);
        }
        Ok(File { properties, warnings: diagnostics })
    }
}

impl Property {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name.text
    }

    /// The functions whose calls must be recorded.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionPattern> {
        let actions = self.definition.events.iter().flat_map(|it| &it.actions);
        actions.filter_map(|it| match it {
            Action::Call { function, .. } | Action::Return { function, .. } => Some(function),
            Action::Memory(..) | Action::Mark { .. } | Action::Region(_) => None,
        })
    }
}
