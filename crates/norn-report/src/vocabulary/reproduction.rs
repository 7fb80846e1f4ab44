//! Why findings are not reproducible, in words.

use super::{consequence, obstacle, place, verdict};
use crate::{Departure, Detour, NotReproduced, Uncontrolled, Verdict};

/// What norn does not notice.
const UNKNOWN: &str = "possible cause: something that norn does not control, such as files or ports, which \
                       runs in parallel share (-j 1 makes one run at a time), process ids or thread ids";

/// What the replay of a clip did instead, and the possible causes: one sentence each.
pub fn not_reproduced(why: &NotReproduced) -> Vec<String> {
    let left = match why.verdict.as_ref().map(|it| (it, departure(it))) {
        None | Some((_, None)) => "the replay followed the schedule".to_owned(),
        Some((it, Some(left))) => {
            let (segment, thread) = (left.segment + 1, &left.thread);
            let word = match it {
                Verdict::Infeasible(_) => "could not continue",
                Verdict::Followed(_) | Verdict::Diverged(_) => verdict(it),
            };
            format!("the replay {word} in segment {segment}: {thread} {}", obstacle(left.why))
        }
    };
    let mut sentences = vec![format!("{left}, and led to: {}", consequence(&why.consequence))];
    sentences.extend(why.detour.as_ref().map(detour));
    sentences.extend(why.causes.iter().map(|it| cause(*it).to_owned()));
    if why.causes.is_empty() {
        sentences.push(UNKNOWN.to_owned());
    }
    sentences
}

fn departure(verdict: &Verdict) -> Option<&Departure> {
    match verdict {
        Verdict::Followed(_) => None,
        Verdict::Diverged(left) | Verdict::Infeasible(left) => Some(left),
    }
}

fn detour(detour: &Detour) -> String {
    let Detour { thread, event, expected, actual, .. } = detour;
    let point = |it: &crate::Point| format!("{} at {}", it.operation, place(&it.at));
    let (expected, actual) = (point(expected), point(actual));
    format!("{thread} did something else at its event {event}: {actual} instead of {expected}")
}

fn cause(cause: Uncontrolled) -> &'static str {
    match cause {
        Uncontrolled::Inputs => {
            "possible cause: the program reads inputs that norn does not control (network, devices, \
             other processes); --record-inputs feeds them back"
        }
        Uncontrolled::OtherInputs => {
            "possible cause: the program asked for other inputs than the recorded ones"
        }
        Uncontrolled::Time => {
            "possible cause: threads ran while another was in code that is not instrumented, which \
             depends on real time"
        }
        Uncontrolled::Addresses => {
            "possible cause: addresses differ from run to run, because the system does not let norn \
             fix them"
        }
        Uncontrolled::ProcessIds => {
            "possible cause: the program asks for the id of its process, which differs from run to run"
        }
    }
}
