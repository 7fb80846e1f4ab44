//! Parses a pattern: a regular expression over the events of a property.
//!
//! Operators by increasing precedence: `||`, `|`, `&&`, sequence, `!`, and `?`, `*`, `+`.
//! Parentheses directly after an event contain its attributes; after a blank they form a group.

use norn_model::closest;

use crate::{
    Diagnostic,
    cursor::Cursor,
    size,
    syntax::{Edge, Event, Expression, ExpressionKind, Item, Pattern, Repetition},
};

/// The names that a pattern may use, and those that it introduces.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    events: &'a [Event],
    /// Number of open parentheses and negations.
    depth: usize,
    /// Number of events in the pattern so far.
    length: usize,
    pub(crate) threads: Vec<String>,
    pub(crate) regions: Vec<String>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(events: &'a [Event]) -> Self {
        Scope { events, depth: 0, length: 0, threads: Vec::new(), regions: Vec::new() }
    }
}

/// Parses a pattern.
pub(crate) fn pattern(
    cursor: &mut Cursor<'_>,
    scope: &mut Scope<'_>,
) -> Result<Pattern, Diagnostic> {
    cursor.skip();
    let start = cursor.at();
    let mut parts = vec![choice(cursor, scope)?];
    while cursor.eat("||") {
        parts.push(choice(cursor, scope)?);
    }
    Ok(Pattern { parts, span: cursor.since(start) })
}

fn choice(cursor: &mut Cursor<'_>, scope: &mut Scope<'_>) -> Result<Expression, Diagnostic> {
    let mut parts = vec![all(cursor, scope)?];
    loop {
        cursor.skip();
        if cursor.rest().starts_with("||") || !cursor.eat("|") {
            return Ok(joined(parts, ExpressionKind::Choice));
        }
        parts.push(all(cursor, scope)?);
    }
}

fn all(cursor: &mut Cursor<'_>, scope: &mut Scope<'_>) -> Result<Expression, Diagnostic> {
    let mut parts = vec![sequence(cursor, scope)?];
    while cursor.eat("&&") {
        parts.push(sequence(cursor, scope)?);
    }
    Ok(joined(parts, ExpressionKind::All))
}

fn sequence(cursor: &mut Cursor<'_>, scope: &mut Scope<'_>) -> Result<Expression, Diagnostic> {
    let mut parts = vec![prefix(cursor, scope)?];
    loop {
        let begins = !cursor.look().is_empty() || matches!(cursor.peek(), Some('!' | '('));
        if !begins {
            return Ok(joined(parts, ExpressionKind::Sequence));
        }
        parts.push(prefix(cursor, scope)?);
    }
}

/// An expression of several parts; a single part is returned as it is.
fn joined(mut parts: Vec<Expression>, kind: fn(Vec<Expression>) -> ExpressionKind) -> Expression {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let start = parts.first().map_or(0, |it| it.span.start);
    let end = parts.last().map_or(start, |it| it.span.end);
    Expression { kind: kind(parts), span: (start..end).into() }
}

/// Maximum nesting depth of a pattern; deeper patterns are unreadable.
const MAX_DEPTH: usize = 40;

fn prefix(cursor: &mut Cursor<'_>, scope: &mut Scope<'_>) -> Result<Expression, Diagnostic> {
    cursor.skip();
    let start = cursor.at();
    scope.depth += 1;
    if scope.depth > MAX_DEPTH {
        return Err(Diagnostic::error(cursor.next_token(), "this is nested too deep"));
    }
    let found = repeated(cursor, scope, start);
    scope.depth -= 1;
    found
}

fn repeated(
    cursor: &mut Cursor<'_>,
    scope: &mut Scope<'_>,
    start: usize,
) -> Result<Expression, Diagnostic> {
    if cursor.eat("!") {
        let inner = prefix(cursor, scope)?;
        let span = (start..inner.span.end).into();
        return Ok(Expression { kind: ExpressionKind::Not(Box::new(inner)), span });
    }
    let mut inner = atom(cursor, scope)?;
    if let Some(found) = times(cursor) {
        let span = (start..cursor.at()).into();
        inner = Expression { kind: ExpressionKind::Repeat(Box::new(inner), found), span };
    }
    let again = cursor.next_token();
    if times(cursor).is_some() {
        let text = "one of ?, * and + is enough";
        return Err(Diagnostic::error(again, text).hint("`(a+)?` is `a*`"));
    }
    Ok(inner)
}

fn times(cursor: &mut Cursor<'_>) -> Option<Repetition> {
    let all =
        [("?", Repetition::AtMostOnce), ("*", Repetition::Any), ("+", Repetition::AtLeastOnce)];
    all.into_iter().find(|(sign, _)| cursor.eat(sign)).map(|(_, times)| times)
}

fn atom(cursor: &mut Cursor<'_>, scope: &mut Scope<'_>) -> Result<Expression, Diagnostic> {
    cursor.skip();
    let start = cursor.at();
    if cursor.eat("(") {
        let inner = choice(cursor, scope)?;
        cursor.skip();
        if cursor.rest().starts_with("||") {
            let text = "`||` cannot be inside parentheses";
            let hint = "it stands between the parts of the whole pattern: `a(t1) || b(t2)`";
            return Err(Diagnostic::error(cursor.at()..cursor.at() + 2, text).hint(hint));
        }
        cursor.expect(")")?;
        return Ok(Expression { span: (start..cursor.at()).into(), ..inner });
    }
    let name = cursor.name("an event")?;
    scope.length += 1;
    size::check(scope.length, size::MAX_PATTERN, ("a pattern", "events"), name.span)?;
    let Some(event) = scope.events.iter().position(|it| it.name.text == name.text) else {
        let diagnostic = Diagnostic::error(name.span, format!("there is no event `{}`", name.text));
        let names = || scope.events.iter().map(|it| it.name.text.as_str());
        return Err(match closest(&name.text, names()) {
            Some(close) => diagnostic.hint(format!("did you mean `{close}`?")),
            None if scope.events.is_empty() => diagnostic.hint("no event is declared"),
            None => {
                diagnostic.hint(format!("declared are {}", names().collect::<Vec<_>>().join(", ")))
            }
        });
    };
    let mut item = Item { event, thread: None, region: None };
    // Attributes follow without a blank.
    if cursor.rest().starts_with('(') {
        attributes(cursor, scope, &mut item)?;
    }
    Ok(Expression { kind: ExpressionKind::Event(item), span: (start..cursor.at()).into() })
}

/// `(t1)`, `(<r1)`, `(t1,>r1)`.
fn attributes(
    cursor: &mut Cursor<'_>,
    scope: &mut Scope<'_>,
    item: &mut Item,
) -> Result<(), Diagnostic> {
    cursor.expect("(")?;
    loop {
        let span = cursor.next_token();
        let edge = [("<", Edge::Begin), (">", Edge::End)].into_iter().find(|it| cursor.eat(it.0));
        if let Some((_, edge)) = edge {
            let name = cursor.name("the name of an atomic region")?;
            if item.region.is_some() {
                return Err(Diagnostic::error(span, "an event is an edge of one region at most"));
            }
            item.region = Some((edge, number(&mut scope.regions, &name.text)));
        } else {
            item.thread = Some(thread(cursor, scope, item)?);
        }
        if cursor.eat(")") {
            return Ok(());
        }
        cursor.expect(",")?;
    }
}

fn thread(
    cursor: &mut Cursor<'_>,
    scope: &mut Scope<'_>,
    item: &Item,
) -> Result<usize, Diagnostic> {
    let name = cursor.name("a thread, `<region` or `>region`")?;
    if scope.events.iter().any(|it| it.name.text == name.text) {
        let text = format!("`{}` is an event, not a thread", name.text);
        let hint = "for a group of events put a blank before the parenthesis";
        return Err(Diagnostic::error(name.span, text).hint(hint));
    }
    if item.thread.is_some() {
        return Err(Diagnostic::error(name.span, "an event has one thread"));
    }
    Ok(number(&mut scope.threads, &name.text))
}

/// The index of a name, which is added if it is new.
fn number(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|it| it == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}
