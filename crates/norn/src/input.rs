//! What the program gets from outside, kept and fed back.

use std::io::{self, IsTerminal as _, Read as _, Write};

use anyhow::{Context as _, ensure};
use norn_trace::{Outcome, Parted, Request};

/// More of standard input than this is not kept.
const MOST: u64 = 64 << 20;

/// All of standard input, so that a program can be given it again and again. None if that is a
/// terminal: then the program reads it itself.
pub(crate) fn stdin() -> anyhow::Result<Option<Vec<u8>>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    stdin.take(MOST + 1).read_to_end(&mut bytes).context("cannot read standard input")?;
    ensure!(bytes.len() as u64 <= MOST, "standard input has more than {MOST} bytes to keep");
    Ok(Some(bytes))
}

/// What a run got that is not controlled, and what came of keeping it or feeding it back.
pub(crate) fn tell(err: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let fed = outcome.fed.clone().unwrap_or_default();
    if fed.given > 0 {
        writeln!(err, "norn: {} of {} inputs were fed back", fed.used, fed.given)?;
    }
    if let Some(parted) = &fed.parted {
        part(err, parted)?;
    }
    if fed.lost > 0 {
        writeln!(err, "norn: {} inputs were not kept: there was no room", fed.lost)?;
    }
    match (outcome.inputs, fed.kept) {
        (0, 0) => Ok(()),
        (inputs, 0) => {
            writeln!(err, "norn: the program read {inputs} times what we do not control")?;
            if fed.given == 0 {
                writeln!(err, "hint: `norn run --record-inputs` keeps that and feeds it back")?;
            }
            Ok(())
        }
        (_, kept) => writeln!(err, "norn: {kept} inputs from outside were kept"),
    }
}

/// Where a program asked for something else than what was to be fed back.
fn part(err: &mut impl Write, parted: &Parted) -> io::Result<()> {
    let Parted { thread, index, expected, actual } = parted;
    let thread = thread.as_deref().unwrap_or("a thread");
    let what = |it: &Option<Request>| it.as_ref().map_or_else(|| "no more".to_owned(), request);
    writeln!(err, "norn: {thread} did not ask for the inputs of the clip: at its input {index}")?;
    writeln!(err, "  expected  {}", what(expected))?;
    writeln!(err, "  actual    {}", what(actual))
}

fn request(Request { call, file, asked }: &Request) -> String {
    let of = if *file < 0 { String::new() } else { format!(" of descriptor {file}") };
    format!("{call}{of}, {asked}")
}
