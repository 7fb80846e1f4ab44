//! Function calls and the user's marks, read and printed.
//!
//! A function's name may have spaces and parentheses in it, as those of C++ do: the arguments are
//! in the last parentheses of the line. A mark's object is the last word.

use std::fmt;

use super::{
    line::{Line, Step},
    parse::Parser,
    print::Shown,
};
use crate::NameId;

impl Parser {
    pub(super) fn call(&mut self, line: &mut Line<'_>) -> Step<(NameId, [u64; 6])> {
        let expected = "a call, as `add(1, x)`";
        let text = before_place(line);
        let parts = text.strip_suffix(')').and_then(|it| it.rsplit_once('('));
        let Some((name, given)) = parts.filter(|it| !it.0.is_empty()) else {
            return Err(line.error(expected));
        };
        let mut arguments = [0; 6];
        let given = given.split(',').map(str::trim).filter(|it| !it.is_empty());
        for (at, word) in given.enumerate() {
            let value = self.address(word).ok_or_else(|| line.error(expected))?;
            *arguments.get_mut(at).ok_or_else(|| line.error("six arguments at most"))? = value;
        }
        line.skip(text);
        Ok((self.trace.names.intern(name), arguments))
    }

    pub(super) fn returned(&mut self, line: &mut Line<'_>) -> Step<(NameId, Option<u64>)> {
        let text = before_place(line);
        let (name, value) = match text.rsplit_once(" -> ") {
            Some((name, value)) => {
                let value = self.address(value.trim());
                (name, Some(value.ok_or_else(|| line.error("a return, as `add -> 0`"))?))
            }
            None => (text, None),
        };
        line.skip(text);
        Ok((self.trace.names.intern(name.trim()), value))
    }

    pub(super) fn mark(&mut self, line: &mut Line<'_>) -> Step<(NameId, u64)> {
        let expected = "a name and an object";
        let text = before_place(line);
        let (name, object) = text.rsplit_once(' ').ok_or_else(|| line.error(expected))?;
        let object = self.address(object).ok_or_else(|| line.error(expected))?;
        line.skip(text);
        Ok((self.trace.names.intern(name.trim()), object))
    }
}

/// The rest of a line, up to its place.
fn before_place<'a>(line: &Line<'a>) -> &'a str {
    let rest = line.rest();
    rest.split_once(" @ ").map_or(rest, |(before, _)| before).trim()
}

impl Shown<'_> {
    pub(super) fn call(
        &self,
        f: &mut fmt::Formatter<'_>,
        function: NameId,
        arguments: [u64; 6],
    ) -> fmt::Result {
        write!(f, " {}(", self.trace.names.name(function))?;
        let count = arguments.iter().rposition(|&it| it != 0).map_or(0, |it| it + 1);
        for (at, &argument) in arguments.iter().take(count).enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            self.argument(f, argument)?;
        }
        f.write_str(")")
    }

    pub(super) fn returned(
        &self,
        f: &mut fmt::Formatter<'_>,
        function: NameId,
        value: Option<u64>,
    ) -> fmt::Result {
        write!(f, " {}", self.trace.names.name(function))?;
        let Some(value) = value else { return Ok(()) };
        f.write_str(" -> ")?;
        self.argument(f, value)
    }

    pub(super) fn mark(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: NameId,
        object: u64,
    ) -> fmt::Result {
        write!(f, " {} ", self.trace.names.name(name))?;
        self.argument(f, object)
    }

    /// The name of an object, or a number.
    fn argument(&self, f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
        match self.trace.symbols.name(value) {
            Some(_) => self.object(f, value),
            None if value < 1 << 16 => write!(f, "{value}"),
            None => write!(f, "{value:#x}"),
        }
    }
}
