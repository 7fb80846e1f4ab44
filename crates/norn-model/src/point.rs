//! A point of a schedule: an operation and its location, in a notation that users can write.
//!
//! ```text
//! read counter.c:12                   a read on that line
//! lock in transfer x3                 the third lock that is taken in that function
//! join                                a join, wherever it is
//! write a.c:7 in f @prog+0x11d4       as a machine writes it: this hook of this module
//! ```

use std::{fmt, str::FromStr};

use thiserror::Error;

/// An operation and its location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The operation.
    pub class: Class,
    /// Its source line.
    pub line: Option<Line>,
    /// Its function, as named in the source.
    pub function: Option<String>,
    /// Its address.
    pub code: Option<Code>,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The end of the file's path: `counter.c`, `src/counter.c`.
    pub file: String,
    /// The line number, from 1.
    pub number: u32,
}

/// An address in a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// The name of the module.
    pub module: String,
    /// The return address of the hook call, relative to the module's lowest address.
    pub offset: u64,
}

/// The n-th time that a thread reaches a point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visit {
    /// The point.
    pub point: Point,
    /// The count, from 1.
    pub times: u64,
}

/// Why a text is not a point.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PointError {
    /// It does not begin with an operation.
    #[error("`{0}` does not begin with an operation; the operations are {names}", names = names())]
    NoOperation(String),
    /// The count is 0.
    #[error("`{0}` asks for the 0th time; the first is x1")]
    NoTimes(String),
    /// The line is not a number.
    #[error("`{0}` has a line that is no number from 1")]
    NoLine(String),
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The class of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Class {
            $($(#[$doc])* $name,)*
        }

        impl Class {
            /// All classes.
            pub const ALL: &'static [Class] = &[$(Class::$name),*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Class::$name => $text,)*
                }
            }
        }
    };
}

classes! {
    /// Any event.
    Any = "any",
    /// A memory read.
    Read = "read",
    /// A memory write.
    Write = "write",
    /// An atomic operation.
    Atomic = "atomic",
    /// Acquiring a lock.
    Lock = "lock",
    /// Releasing a lock.
    Unlock = "unlock",
    /// A condition wait begins.
    Wait = "wait",
    /// A condition wait reacquires its mutex.
    Wake = "wake",
    /// A signal or broadcast.
    Notify = "notify",
    /// Arriving at or leaving a barrier.
    Barrier = "barrier",
    /// Decrementing a semaphore.
    SemWait = "sem-wait",
    /// Incrementing a semaphore.
    SemPost = "sem-post",
    /// Creating a thread.
    Fork = "fork",
    /// Joining a thread.
    Join = "join",
    /// Calling a function whose calls are recorded.
    Call = "call",
    /// Returning from a function whose calls are recorded.
    Return = "return",
    /// A mark of the program.
    Mark = "mark",
    /// Allocating memory.
    Alloc = "alloc",
    /// Freeing memory.
    Free = "free",
    /// A once-only initialisation.
    Once = "once",
    /// Sleeping or yielding.
    Sleep = "sleep",
    /// Any other event.
    Other = "other",
}

fn names() -> String {
    Class::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

impl Point {
    /// This operation at any location.
    pub fn anywhere(class: Class) -> Point {
        Point { class, line: None, function: None, code: None }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, 1)
    }
}

impl fmt::Display for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, &self.point, self.times)
    }
}

fn print(f: &mut fmt::Formatter<'_>, point: &Point, times: u64) -> fmt::Result {
    write!(f, "{}", point.class.name())?;
    if let Some(Line { file, number }) = &point.line {
        write!(f, " {file}:{number}")?;
    }
    if let Some(function) = &point.function {
        write!(f, " in {function}")?;
    }
    if times != 1 {
        write!(f, " x{times}")?;
    }
    if let Some(Code { module, offset }) = &point.code {
        write!(f, " @{module}+{offset:#x}")?;
    }
    Ok(())
}

impl FromStr for Visit {
    type Err = PointError;

    fn from_str(text: &str) -> Result<Visit, PointError> {
        let (op, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let class = Class::ALL.iter().find(|it| it.name() == op);
        let class = *class.ok_or_else(|| PointError::NoOperation(text.to_owned()))?;
        let (rest, code) = code(rest.trim());
        let (rest, times) = times(rest);
        let (rest, function) = function(rest);
        let line = line(rest).map_err(|()| PointError::NoLine(text.to_owned()))?;
        if times == 0 {
            return Err(PointError::NoTimes(text.to_owned()));
        }
        Ok(Visit { point: Point { class, line, function, code }, times })
    }
}

/// Removes `@module+0x12` from the end.
fn code(text: &str) -> (&str, Option<Code>) {
    let found = text.rfind('@').filter(|&at| at == 0 || text[..at].ends_with(' '));
    let parsed = found.and_then(|at| {
        let (module, offset) = text[at + 1..].rsplit_once("+0x")?;
        let offset = u64::from_str_radix(offset, 16).ok()?;
        Some((text[..at].trim_end(), Code { module: module.to_owned(), offset }))
    });
    parsed.map_or((text, None), |(rest, code)| (rest, Some(code)))
}

/// Removes `x3` from the end.
fn times(text: &str) -> (&str, u64) {
    let (rest, last) = text.rsplit_once(' ').unwrap_or(("", text));
    let count = last.strip_prefix('x').filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    count.and_then(|it| it.parse().ok()).map_or((text, 1), |count| (rest.trim_end(), count))
}

/// Removes `in function` from the end. A function's name may contain spaces, but not the word `in`.
fn function(text: &str) -> (&str, Option<String>) {
    if let Some(name) = text.strip_prefix("in ") {
        return ("", Some(name.trim().to_owned()));
    }
    match text.rsplit_once(" in ") {
        Some((rest, name)) => (rest.trim_end(), Some(name.trim().to_owned())),
        None => (text, None),
    }
}

/// The rest must be `file:line`, empty, or the keyword for any line.
fn line(text: &str) -> Result<Option<Line>, ()> {
    if text.is_empty() || text == "anywhere" {
        return Ok(None);
    }
    let (file, number) = text.rsplit_once(':').ok_or(())?;
    let number = number.parse().ok().filter(|&it| it > 0).ok_or(())?;
    Ok(Some(Line { file: file.to_owned(), number }))
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*, sample::select};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(text.parse::<Visit>().unwrap().to_string(), expected);
    }

    #[test]
    fn valid_points_are_parsed() {
        check("read counter.c:12", "read counter.c:12");
        check("  lock   in transfer  x3 ", "lock in transfer x3");
        check("join", "join");
        check("join anywhere", "join");
        check("write x2", "write x2");
        check(
            "any src/a b.c:7 in (anonymous namespace)::f",
            "any src/a b.c:7 in (anonymous namespace)::f",
        );
        check("write a.c:7 in f x2 @my prog+0x11D4", "write a.c:7 in f x2 @my prog+0x11d4");
    }

    #[test]
    fn invalid_points_are_rejected() {
        let error = |text: &str| text.parse::<Visit>().unwrap_err().to_string();
        assert!(error("counter.c:12").contains("are any, read, write"));
        assert!(error("read counter.c").contains("no number"));
        assert!(error("read counter.c:0").contains("no number"));
        assert!(error("read x0").contains("the first is x1"));
        assert!(error("").contains("does not begin with an operation"));
    }

    fn point() -> impl Strategy<Value = Point> {
        let line =
            ("[a-z/]{1,8}\\.c", 1..9999_u32).prop_map(|(file, number)| Line { file, number });
        let code =
            ("[a-z.-]{1,8}", any::<u64>()).prop_map(|(module, offset)| Code { module, offset });
        let function = "[a-z_:<>]{1,8}( [a-w]{1,3}>)?";
        (select(Class::ALL), option::of(line), option::of(function), option::of(code))
            .prop_map(|(class, line, function, code)| Point { class, line, function, code })
    }

    proptest! {
        #[test]
        fn printed_points_round_trip(point in point(), times in 1..u64::MAX) {
            let visit = Visit { point, times };
            prop_assert_eq!(visit.to_string().parse::<Visit>(), Ok(visit));
        }
    }
}
