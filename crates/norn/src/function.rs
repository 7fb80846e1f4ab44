//! Formats calls of functions, and warns about calls that cannot be recorded.

use norn_model::Op;
use norn_trace::{Run, Trace};
use serde_json::{Map, Value as Json};

/// `add(a=1, b=2)` for a call, `add -> 3` for a return.
pub(crate) fn words(op: &Op, trace: &Trace) -> Option<String> {
    match *op {
        Op::Call { function, arguments } => {
            let name = trace.names().name(function);
            let given = arguments_of(&arguments, trace.parameters(function)).join(", ");
            Some(format!("{name}({given})"))
        }
        Op::Return { function, value } => {
            let name = trace.names().name(function);
            Some(value.map_or_else(
                || format!("{name}, left by an exception or a jump"),
                |value| format!("{name} -> {}", readable(value)),
            ))
        }
        _ => None,
    }
}

/// Adds the arguments of a call and the names of its parameters, if they are known.
pub(crate) fn name_arguments(map: &mut Map<String, Json>, op: &Op, trace: &Trace) {
    let Op::Call { function, arguments } = *op else { return };
    let parameters = trace.parameters(function);
    if !parameters.is_empty() {
        let given = arguments.iter().take(parameters.len()).copied().collect::<Vec<_>>();
        map.insert("arguments".into(), given.into());
        map.insert("parameters".into(), parameters.into());
    }
}

/// Each argument, with the parameter's name if that is known. If the parameters are unknown, trailing
/// zeros are omitted: the function may have fewer parameters than there are registers.
fn arguments_of(arguments: &[u64], parameters: &[String]) -> Vec<String> {
    if parameters.is_empty() {
        let count = arguments.iter().rposition(|&it| it != 0).map_or(0, |it| it + 1);
        return arguments.iter().take(count).map(|&it| readable(it)).collect();
    }
    let both = parameters.iter().zip(arguments);
    both.map(|(name, &it)| match name.as_str() {
        "" => readable(it),
        name => format!("{name}={}", readable(it)),
    })
    .collect()
}

/// Small numbers in decimal; large ones, which are mostly pointers, in hexadecimal.
fn readable(value: u64) -> String {
    if u32::try_from(value).is_ok() { value.to_string() } else { format!("{value:#x}") }
}

/// Warnings about requested functions whose calls are not recorded, or not all of them.
pub(crate) fn unseen(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for it in &run.functions {
        let name = &it.pattern;
        match (it.found, it.inlined) {
            (0, true) => lines.push(format!("norn: `{name}` is inlined everywhere: not seen")),
            (0, false) => {
                lines.push(format!("norn: `{name}` is not seen: no such function"));
                let what = "norn sees calls of functions that it has built, and calls into shared";
                lines.push(format!("hint: {what} libraries from code that it has built, except those that it intercepts"));
            }
            (_, true) => {
                lines.push(format!("norn: some calls of `{name}` are inlined: those are not seen"));
            }
            (_, false) => {}
        }
    }
    lines
}
