//! Notes, in words.

use norn_model::ThreadName;

use crate::Note;

/// Threads that are named.
const NAMED: usize = 5;

/// What a reader must know to judge the results.
pub fn note(note: &Note) -> String {
    match note {
        Note::Interrupted => "interrupted: the search did not come to its end".to_owned(),
        Note::TimeLimit => {
            "the time limit was reached: the search did not come to its end".to_owned()
        }
        Note::FirstOnly => "the search ended at the first harmful finding".to_owned(),
        Note::NormalStatus(status) => {
            format!("every run ended with exit status {status}, which therefore counts as normal")
        }
        Note::RunningThreads { threads, continued } => unfinished(threads, *continued),
        Note::Prefix { events } => {
            format!("little was seen: no run ended in time, so all were cut, the recorded one after {events} events")
        }
        Note::OneThread => {
            "little was seen: the recorded run has one thread only, so nothing can happen in another \
             order"
                .to_owned()
        }
        Note::NothingShared => {
            "little was seen: no two threads of the recorded run use the same memory or lock"
                .to_owned()
        }
    }
}

fn unfinished(threads: &[ThreadName], continued: bool) -> String {
    let mut names: Vec<_> = threads.iter().take(NAMED).map(ToString::to_string).collect();
    if threads.len() > NAMED {
        names.push(format!("{} more", threads.len() - NAMED));
    }
    let (names, are) = (names.join(", "), if threads.len() == 1 { "was" } else { "were" });
    let continued = if continued { "; another run let them continue" } else { "" };
    format!("little was seen: the program ended while {names} {are} still running{continued}")
}
