//! Parses the declaration of an event: `event update: call add(c, _) | call remove(c, _) if result != 0`.

use norn_model::{FunctionPattern, Glob, closest};

use crate::{
    Diagnostic,
    cursor::{Cursor, is_word},
    size,
    syntax::{
        Action, Argument, Comparison, Condition, Edge, Event, MemoryAction, Name, Number, Object,
        Operand,
    },
};

const ACTIONS: [&str; 10] =
    ["call", "return", "read", "write", "lock", "unlock", "alloc", "free", "mark", "region"];
/// The number of arguments of a call that are recorded.
const ARGUMENTS: usize = 6;

/// Parses an event declaration after the keyword `event`.
pub(crate) fn event(cursor: &mut Cursor<'_>, parameters: &[Name]) -> Result<Event, Diagnostic> {
    let name = cursor.name("the name of an event")?;
    cursor.expect(":")?;
    let mut actions = vec![action(cursor, parameters)?];
    while cursor.eat("|") {
        actions.push(action(cursor, parameters)?);
        size::check(actions.len(), size::MAX_ACTIONS, ("an event", "actions"), name.span)?;
    }
    let mut conditions = Vec::new();
    if cursor.eat_word("if") {
        conditions.push(condition(cursor, parameters, &actions)?);
        while cursor.eat("&&") {
            conditions.push(condition(cursor, parameters, &actions)?);
            let count = conditions.len();
            size::check(count, size::MAX_ACTIONS, ("an event", "conditions"), name.span)?;
        }
    }
    Ok(Event { name, actions, conditions })
}

fn action(cursor: &mut Cursor<'_>, parameters: &[Name]) -> Result<Action, Diagnostic> {
    let word = cursor.look();
    let memory = |cursor: &mut Cursor<'_>, action| {
        cursor.advance(word.len());
        Ok(Action::Memory(action, object(cursor, parameters)?))
    };
    match word {
        "read" => memory(cursor, MemoryAction::Read),
        "write" => memory(cursor, MemoryAction::Write),
        "lock" => memory(cursor, MemoryAction::Lock),
        "unlock" => memory(cursor, MemoryAction::Unlock),
        "alloc" => memory(cursor, MemoryAction::Alloc),
        "free" => memory(cursor, MemoryAction::Free),
        "call" => {
            cursor.advance(word.len());
            let function = FunctionPattern::new(name(cursor, "a function")?);
            Ok(Action::Call { function, arguments: arguments(cursor, parameters)? })
        }
        "return" => {
            cursor.advance(word.len());
            let function = FunctionPattern::new(name(cursor, "a function")?);
            let arguments = arguments(cursor, parameters)?;
            let bound = cursor.eat("->");
            let result = if bound { argument(cursor, parameters)? } else { Argument::Any };
            Ok(Action::Return { function, arguments, result })
        }
        "mark" => {
            cursor.advance(word.len());
            let name = Glob::new(name(cursor, "the name of a mark")?);
            cursor.skip();
            let start = cursor.at();
            let arguments = arguments(cursor, parameters)?;
            if arguments.len() > 1 {
                return Err(Diagnostic::error(cursor.since(start), "a mark has one object"));
            }
            Ok(Action::Mark { name, object: arguments.first().copied().unwrap_or(Argument::Any) })
        }
        "region" => {
            cursor.advance(word.len());
            if cursor.eat_word("begin") {
                Ok(Action::Region(Edge::Begin))
            } else if cursor.eat_word("end") {
                Ok(Action::Region(Edge::End))
            } else {
                Err(cursor.unexpected("`begin` or `end`"))
            }
        }
        _ => Err(unknown_action(cursor, word)),
    }
}

fn unknown_action(cursor: &mut Cursor<'_>, word: &str) -> Diagnostic {
    let diagnostic = cursor.unexpected("an action");
    if cursor.rest().starts_with('|') {
        return diagnostic.hint("one `|` separates the actions of an event");
    }
    match closest(word, ACTIONS) {
        Some(close) if !word.is_empty() => diagnostic.hint(format!("did you mean `{close}`?")),
        _ => diagnostic.hint(format!("one of {}", ACTIONS.join(", "))),
    }
}

/// Objects in memory: `v` for all, bound to a parameter; `name` for variables with this name;
/// `name as v` for both.
fn object(cursor: &mut Cursor<'_>, parameters: &[Name]) -> Result<Object, Diagnostic> {
    let name = name(cursor, "a variable or a parameter")?;
    let parameter = |text: &str| parameters.iter().position(|it| it.text == text);
    if let Some(parameter) = parameter(name) {
        return Ok(Object { name: None, parameter: Some(parameter) });
    }
    let name = Some(name).filter(|it| *it != "_").map(Glob::new);
    if !cursor.eat_word("as") {
        return Ok(Object { name, parameter: None });
    }
    let bound = cursor.name("a parameter")?;
    let parameter = parameter(&bound.text).ok_or_else(|| no_parameter(&bound, parameters))?;
    Ok(Object { name, parameter: Some(parameter) })
}

fn no_parameter(name: &Name, parameters: &[Name]) -> Diagnostic {
    let diagnostic = Diagnostic::error(name.span, format!("there is no parameter `{}`", name.text));
    match closest(&name.text, parameters.iter().map(|it| it.text.as_str())) {
        Some(close) => diagnostic.hint(format!("did you mean `{close}`?")),
        None => diagnostic.hint(format!(
            "`_` stands for anything; a parameter is declared in the head, `Name({})`",
            name.text
        )),
    }
}

/// Parses a name of the program. It may contain blanks between `<` and `>`, or be quoted.
fn name<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<&'a str, Diagnostic> {
    cursor.skip();
    let rest = cursor.rest();
    if let Some(quoted) = rest.strip_prefix('"') {
        let Some(end) = quoted.find(['"', '\n']).filter(|it| quoted[*it..].starts_with('"')) else {
            return Err(Diagnostic::error(cursor.next_token(), "this quote has no end"));
        };
        size::check_name(&quoted[..end], cursor.at())?;
        cursor.advance(end + 2);
        return Ok(&quoted[..end]);
    }
    let length = length(rest);
    if length == 0 {
        return Err(cursor.unexpected(what));
    }
    size::check_name(&rest[..length], cursor.at())?;
    cursor.advance(length);
    Ok(&rest[..length])
}

/// The length of the program name at the beginning of a text, in bytes.
fn length(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut last = ' ';
    for (at, it) in text.char_indices() {
        let inside = depth > 0;
        match it {
            '<' | '[' => depth += 1,
            // `->` is not a bracket.
            '>' | ']' if last != '-' => depth = depth.saturating_sub(1),
            '(' if text[..at].ends_with("operator") => {}
            ')' if text[..at].ends_with("operator(") => {}
            '-' if text[at..].starts_with("->") && !inside => return at,
            '\n' | '{' | '}' | '|' | '"' => return at,
            '(' | ')' | ',' if !inside => return at,
            _ if it.is_whitespace() && !inside => return at,
            _ if is_word(it) || inside || "*:.~&=+-!%^/".contains(it) => {}
            _ => return at,
        }
        last = it;
    }
    text.len()
}

/// Arguments, if there are any: `(c, _, 0)`. A trailing `..` is allowed and has no effect.
fn arguments(cursor: &mut Cursor<'_>, parameters: &[Name]) -> Result<Vec<Argument>, Diagnostic> {
    let mut arguments = Vec::new();
    if !cursor.eat("(") || cursor.eat(")") {
        return Ok(arguments);
    }
    loop {
        if cursor.eat("..") {
            cursor.expect(")")?;
            return Ok(arguments);
        }
        cursor.skip();
        let start = cursor.at();
        arguments.push(argument(cursor, parameters)?);
        if arguments.len() > ARGUMENTS {
            let text = format!("only the first {ARGUMENTS} arguments of a call are recorded");
            return Err(Diagnostic::error(cursor.since(start), text));
        }
        if cursor.eat(")") {
            return Ok(arguments);
        }
        cursor.expect(",")?;
    }
}

fn argument(cursor: &mut Cursor<'_>, parameters: &[Name]) -> Result<Argument, Diagnostic> {
    if let Some(number) = number(cursor)? {
        return Ok(Argument::Number(number));
    }
    let name = cursor.name("a parameter, a number or `_`")?;
    if name.text == "_" {
        return Ok(Argument::Any);
    }
    let parameter = parameters.iter().position(|it| it.text == name.text);
    parameter.map(Argument::Parameter).ok_or_else(|| no_parameter(&name, parameters))
}

/// A number, if one comes next: decimal, hexadecimal, negative, or `null`.
fn number(cursor: &mut Cursor<'_>) -> Result<Option<Number>, Diagnostic> {
    if cursor.eat_word("null") {
        return Ok(Some(Number { magnitude: 0, negative: false }));
    }
    cursor.skip();
    let start = cursor.at();
    let negative = cursor.eat("-");
    let word = cursor.look();
    if !word.starts_with(|it: char| it.is_ascii_digit()) {
        return if negative { Err(cursor.unexpected("a number")) } else { Ok(None) };
    }
    cursor.advance(word.len());
    let parsed = match word.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16),
        None => word.parse(),
    };
    let no_number = |_| Diagnostic::error(cursor.since(start), format!("`{word}` is no number"));
    Ok(Some(Number { magnitude: parsed.map_err(no_number)?, negative }))
}

fn condition(
    cursor: &mut Cursor<'_>,
    parameters: &[Name],
    actions: &[Action],
) -> Result<Condition, Diagnostic> {
    let access =
        |it: &Action| matches!(it, Action::Memory(MemoryAction::Read | MemoryAction::Write, _));
    for (word, condition) in [("plain", Condition::Plain), ("atomic", Condition::Atomic)] {
        let span = cursor.next_token();
        if cursor.eat_word(word) {
            let text = format!("only a read or a write can be {word}");
            return actions
                .iter()
                .all(access)
                .then_some(condition)
                .ok_or(Diagnostic::error(span, text));
        }
    }
    let left = operand(cursor, parameters, actions)?;
    let comparison = comparison(cursor)?;
    cursor.skip();
    let start = cursor.at();
    let right = operand(cursor, parameters, actions)?;
    let signed = |it| matches!(it, Operand::Number(Number { negative: true, .. }));
    if (signed(left) || signed(right))
        && !matches!(comparison, Comparison::Equal | Comparison::Unequal)
    {
        let text = "a negative number can only be compared with == and !=";
        let hint = "values are recorded as bytes, which have no sign";
        return Err(Diagnostic::error(cursor.since(start), text).hint(hint));
    }
    Ok(Condition::Compare(left, comparison, right))
}

fn operand(
    cursor: &mut Cursor<'_>,
    parameters: &[Name],
    actions: &[Action],
) -> Result<Operand, Diagnostic> {
    if let Some(number) = number(cursor)? {
        return Ok(Operand::Number(number));
    }
    let name = cursor.name("`value`, `size`, `result`, a parameter or a number")?;
    let is_access =
        |it: &Action| matches!(it, Action::Memory(MemoryAction::Read | MemoryAction::Write, _));
    let is_return = |it: &Action| matches!(it, Action::Return { .. });
    match name.text.as_str() {
        "value" if actions.iter().all(is_access) => Ok(Operand::Value),
        "size" if actions.iter().all(is_access) => Ok(Operand::Size),
        "value" | "size" => {
            let text = format!("only a read or a write has a {}", name.text);
            Err(Diagnostic::error(name.span, text))
        }
        "result" if actions.iter().all(is_return) => Ok(Operand::Result),
        "result" => Err(Diagnostic::error(name.span, "only a `return` has a result")),
        text => {
            let parameter = parameters.iter().position(|it| it.text == text);
            parameter.map(Operand::Parameter).ok_or_else(|| no_parameter(&name, parameters))
        }
    }
}

fn comparison(cursor: &mut Cursor<'_>) -> Result<Comparison, Diagnostic> {
    let all = [
        ("==", Comparison::Equal),
        ("!=", Comparison::Unequal),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let found = all.into_iter().find(|(sign, _)| cursor.eat(sign));
    found.map(|(_, it)| it).ok_or_else(|| {
        let diagnostic = cursor.unexpected("==, !=, <, <=, > or >=");
        if cursor.eat("=") { diagnostic.hint("to compare, write `==`") } else { diagnostic }
    })
}
