//! What a property names and the program does not show, for people and for programs.

use std::io::{self, Write};

use norn_hunt::{Checked, Unseen, Why};
use serde_json::{Value, json};

/// One line for each, and what can be done.
pub(crate) fn text(out: &mut impl Write, property: &Checked) -> io::Result<()> {
    for it in &property.unseen {
        writeln!(out, "{}: {}: {}", property.name, it.event, words(it))?;
        if let Some(hint) = hint(it) {
            writeln!(out, "  hint: {hint}")?;
        }
    }
    Ok(())
}

fn words(unseen: &Unseen) -> String {
    let name = &unseen.name;
    match &unseen.why {
        Why::Missing(_) if name.contains('*') => {
            format!("the program has no function like `{name}`")
        }
        Why::Missing(_) => format!("the program has no function `{name}`"),
        Why::Inlined => format!("`{name}` is inlined everywhere: its calls are not seen"),
        Why::PartlyInlined => format!("some calls of `{name}` are inlined: those are not seen"),
        Why::Rigid => format!("`{name}` was not built with norn: its calls are not seen"),
        Why::NotCalled => format!("`{name}` was never called"),
        Why::NotRecorded => format!("calls of `{name}` were not recorded"),
        Why::NoVariable(_) => format!("no variable `{name}` was used like this"),
        Why::NoMark(_) => format!("no mark `{name}` was passed"),
        Why::Gone(function, parameter) => {
            format!("`{parameter}` of `{function}` is not passed in a register: it is seen as 0")
        }
    }
}

const MARK: &str = "mark the place with NORN_EVENT";

fn hint(unseen: &Unseen) -> Option<String> {
    match &unseen.why {
        Why::Missing(Some(close)) | Why::NoVariable(Some(close)) | Why::NoMark(Some(close)) => {
            Some(format!("did you mean `{close}`?"))
        }
        Why::Missing(None) => Some(
            "a function is seen if norn has built it, or what norn has built takes it from a \
             shared library; not if it is a macro, or the compiler drops it or calls another one \
             instead (-fno-builtin)"
                .to_owned(),
        ),
        Why::Inlined | Why::PartlyInlined => Some(format!("build with -fno-inline, or {MARK}")),
        Why::Rigid => Some(format!("build the file that it is in with `norn cc`, or {MARK}")),
        Why::NotCalled | Why::NoVariable(None) | Why::NoMark(None) => None,
        Why::NotRecorded => {
            Some(format!("record them: `norn record --function '{}'`", unseen.name))
        }
        Why::Gone(..) => Some(format!(
            "compilers drop what a `static` function does not need: build with -O0 or without \
             `static`, or {MARK}"
        )),
    }
}

/// The same for programs.
pub(crate) fn json(unseen: &Unseen) -> Value {
    let why = match unseen.why {
        Why::Missing(_) => "missing",
        Why::Inlined => "inlined",
        Why::PartlyInlined => "partly-inlined",
        Why::Rigid => "not-built-with-norn",
        Why::NotCalled => "not-called",
        Why::NotRecorded => "not-recorded",
        Why::Gone(..) => "parameter-gone",
        Why::NoVariable(_) => "no-variable",
        Why::NoMark(_) => "no-mark",
    };
    json!({
        "event": unseen.event,
        "name": unseen.name,
        "why": why,
        "text": words(unseen),
        "hint": hint(unseen),
    })
}
