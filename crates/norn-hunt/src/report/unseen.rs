//! Texts for what a property names and the program does not record.

use norn_report::{Unseen, UnseenReason};

use crate::Why;

const MARK: &str = "mark the place with NORN_EVENT";

/// What is not recorded, why, and how to change that.
pub(super) fn unseen(unseen: &crate::Unseen) -> Unseen {
    Unseen {
        event: unseen.event.clone(),
        name: unseen.name.clone(),
        why: reason(&unseen.why),
        text: text(unseen),
        hint: hint(unseen),
    }
}

fn reason(why: &Why) -> UnseenReason {
    match why {
        Why::Missing(_) => UnseenReason::Missing,
        Why::Inlined => UnseenReason::Inlined,
        Why::PartlyInlined => UnseenReason::PartlyInlined,
        Why::Rigid => UnseenReason::NotBuiltWithNorn,
        Why::NotCalled => UnseenReason::NotCalled,
        Why::NotRecorded => UnseenReason::NotRecorded,
        Why::Gone(..) => UnseenReason::ParameterGone,
        Why::NoVariable(_) => UnseenReason::NoVariable,
        Why::NoMark(_) => UnseenReason::NoMark,
    }
}

fn text(unseen: &crate::Unseen) -> String {
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

fn hint(unseen: &crate::Unseen) -> Option<String> {
    match &unseen.why {
        Why::Missing(Some(close)) | Why::NoVariable(Some(close)) | Why::NoMark(Some(close)) => {
            Some(format!("did you mean `{close}`?"))
        }
        Why::Missing(None) => Some(
            "norn sees functions that were built with norn, and functions of shared libraries \
             that such code calls; not macros, nor calls that the compiler drops or replaces \
             (-fno-builtin)"
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
