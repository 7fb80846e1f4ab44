//! Parses a property file.
//!
//! A recursive descent parser with one function per part of the grammar, so that each can report
//! what it expected and where. After an error, the rest of the property is skipped and parsing
//! continues with the next one.

use crate::{
    Diagnostic, action,
    cursor::Cursor,
    expression, size,
    syntax::{Event, Name, PropertyDefinition},
};

/// The properties that could be parsed, and all diagnostics.
pub(crate) fn parse(text: &str) -> (Vec<PropertyDefinition>, Vec<Diagnostic>) {
    let mut cursor = Cursor::new(text);
    let (mut properties, mut diagnostics) = (Vec::new(), Vec::new());
    loop {
        cursor.skip();
        if cursor.peek().is_none() {
            break;
        }
        let start = cursor.at();
        if diagnostics.len() >= size::MAX_ERRORS {
            break;
        }
        let count = properties.len() + 1;
        let what = ("a file", "properties");
        if let Err(diagnostic) = size::check(count, size::MAX_PROPERTIES, what, start..start + 1) {
            diagnostics.push(diagnostic);
            break;
        }
        match property(&mut cursor, &mut diagnostics) {
            Ok(property) => properties.push(property),
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                recover(&mut cursor, start);
            }
        }
    }
    (properties, diagnostics)
}

/// Skips to the end of the closing brace of a property.
fn recover(cursor: &mut Cursor<'_>, start: usize) {
    let rest = cursor.rest();
    let end = rest.find('}').map_or(rest.len(), |it| it + 1);
    cursor.advance(end);
    if cursor.at() == start {
        cursor.advance(cursor.peek().map_or(1, char::len_utf8));
    }
}

fn property(
    cursor: &mut Cursor<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<PropertyDefinition, Diagnostic> {
    let name = cursor.name("the name of a property")?;
    let parameters = parameters(cursor)?;
    cursor.expect("{")?;
    let mut events: Vec<Event> = Vec::new();
    let mut failed = None;
    while cursor.eat_word("event") {
        match action::event(cursor, &parameters) {
            Ok(event) => {
                let span = event.name.span;
                events.push(event);
                size::check(events.len(), size::MAX_EVENTS, ("a property", "events"), span)?;
            }
            Err(diagnostic) => {
                if diagnostics.len() >= size::MAX_ERRORS {
                    return Err(diagnostic);
                }
                diagnostics.extend(failed.replace(diagnostic));
                to_next_part(cursor);
            }
        }
    }
    // Without the event, errors in the pattern would only be consequences of this one.
    if let Some(diagnostic) = failed {
        return Err(diagnostic);
    }
    if !cursor.eat_word("pattern") {
        let hint = "a property is a list of `event NAME: ...`, then `pattern: ...`";
        return Err(cursor.unexpected("`event` or `pattern`").hint(hint));
    }
    cursor.expect(":")?;
    let mut scope = expression::Scope::new(&events);
    let pattern = expression::pattern(cursor, &mut scope)?;
    let expression::Scope { threads, regions, .. } = scope;
    if !cursor.eat("}") {
        return Err(cursor.unexpected("an event, an operator or `}`").hint(
            "the pattern is the last part of a property; operators are ? * + | ! && || and ( )",
        ));
    }
    Ok(PropertyDefinition { name, parameters, events, pattern, threads, regions })
}

/// Skips to the next declaration after an error in an event, to report its errors as well.
fn to_next_part(cursor: &mut Cursor<'_>) {
    loop {
        let word = cursor.look();
        let Some(next) = cursor.peek() else { break };
        if matches!(word, "event" | "pattern") || next == '}' {
            break;
        }
        cursor.advance(if word.is_empty() { next.len_utf8() } else { word.len() });
    }
}

fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<Name>, Diagnostic> {
    cursor
        .expect("(")
        .map_err(|it| it.hint("a property without parameters is `Name() { ... }`"))?;
    let mut parameters: Vec<Name> = Vec::new();
    if cursor.eat(")") {
        return Ok(parameters);
    }
    loop {
        let name = cursor.name("a parameter")?;
        if parameters.iter().any(|it| it.text == name.text) {
            return Err(Diagnostic::error(name.span, format!("`{}` is there twice", name.text)));
        }
        if matches!(name.text.as_str(), "_" | "value" | "size" | "result" | "null") {
            let text =
                format!("`{}` has a meaning of its own and cannot be a parameter", name.text);
            return Err(Diagnostic::error(name.span, text));
        }
        let span = name.span;
        parameters.push(name);
        let count = parameters.len();
        size::check(count, size::MAX_PARAMETERS, ("a property", "parameters"), span)?;
        if cursor.eat(")") {
            return Ok(parameters);
        }
        cursor.expect(",")?;
    }
}
