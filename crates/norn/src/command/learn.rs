//! `norn learn`: what held at the reads of shared variables in all passing runs.

use std::{
    fs,
    io::Write as _,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use norn_frontend::{Cancel, Launch};
use norn_hunt::{CandidateSource, Engines, Learnt, Options};
use norn_learn::{Invariant, text};
use norn_trace::MemoryModel;

use super::{
    hunt::{not_built, program},
    run::launch,
};
use crate::{
    cli,
    exit::Exit,
    front_end::front_end,
    scratch::Scratch,
    terminal::{self, line},
    text_file,
};

/// Maximum size of a file with invariants in bytes.
const MAX_FILE: u64 = 16 << 20;

pub(super) fn run(args: &cli::Learn) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let Some(command) = program(&args.command, scratch.path(), scratch.path())? else {
        return Ok(Exit::Impossible);
    };
    let options = options(args, Launch { command, ..launch(&args.limits) });
    let learnt = norn_hunt::learn(&options, scratch.path(), args.runs.get(), &|_| {})?;
    let Learnt { invariants, passed, failed, recorded } = learnt;
    if !recorded {
        return not_built(&args.command[0], "norn cc prog.c");
    }
    if passed == 0 {
        line(&mut terminal::stderr(), "norn: no run passed, so nothing was learnt")?;
        return Ok(Exit::Impossible);
    }
    let written = text::write(&invariants, passed as u64);
    match &args.output {
        Some(path) => {
            fs::write(path, written).with_context(|| format!("cannot write {}", path.display()))?;
        }
        None => write!(terminal::stdout(), "{written}")?,
    }
    let count = invariants.len();
    let counts =
        format!("norn: {count} invariants from {passed} passing runs; {failed} runs failed");
    line(&mut terminal::stderr(), counts)?;
    Ok(Exit::Clean)
}

/// The options of the runs. Nothing is predicted from them.
fn options(args: &cli::Learn, launch: Launch) -> Options {
    Options {
        front_end: Arc::clone(front_end()),
        launch,
        output: PathBuf::new(),
        predict: norn_predict::Options::default(),
        from: CandidateSource::default(),
        distance: 0,
        failure_kinds: Vec::new(),
        invariants: Arc::new([]),
        atomic_sets: Vec::new(),
        engines: Engines::default(),
        cancel: Cancel::default(),
        budget: args.runs.get(),
        jobs: NonZeroUsize::MIN,
        explore: args.runs.get(),
        memory: MemoryModel::default(),
        instances: 0,
        max_steps: args.limits.max_steps,
        time: None,
        all_events: false,
    }
}

/// Reads the invariants of a file.
pub(super) fn read(path: &Path) -> anyhow::Result<Arc<[Invariant]>> {
    let wrong = || format!("cannot read `{}`", path.display());
    let text = text_file::read(path, MAX_FILE).with_context(wrong)?;
    Ok(text::parse(&text).with_context(wrong)?.into())
}
