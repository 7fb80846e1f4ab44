//! From the text of a file to its properties.
//!
//! A descent by hand, one function for each part of the grammar, so that each can say what it
//! expected and where. After a diagnostic the rest of the property is skipped, and the next one read.

use crate::{
    Diagnostic, action,
    cursor::Cursor,
    expression,
    syntax::{Event, Name, PropertyDefinition},
};

/// The properties of a file, and what is wrong with it. Only those are there that can be read.
pub(crate) fn parse(text: &str) -> (Vec<PropertyDefinition>, Vec<Diagnostic>) {
    let mut cursor = Cursor::new(text);
    let (mut properties, mut diagnostics) = (Vec::new(), Vec::new());
    loop {
        cursor.skip();
        if cursor.peek().is_none() {
            break;
        }
        let start = cursor.at();
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

/// Goes on behind the brace that ends a property.
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
            Ok(event) => events.push(event),
            Err(diagnostic) => {
                diagnostics.extend(failed.replace(diagnostic));
                to_next_part(cursor);
            }
        }
    }
    // The pattern would lack an event, which is not its fault.
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

/// After a diagnostic in an event, the next one is worth reading, too.
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
        parameters.push(name);
        if cursor.eat(")") {
            return Ok(parameters);
        }
        cursor.expect(",")?;
    }
}
