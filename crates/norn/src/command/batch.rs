//! Repeated runs, for `norn run --times` and `norn replay --times`.

use std::{
    fs, io,
    num::{NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use norn_frontend::{Interrupt, Launch};
use norn_replay::{BatchMode, Check, Tally};
use norn_trace::file::refuse_link;

use crate::{
    cli::{Batch, Limits},
    command::record,
    exit::Exit,
    front_end::front_end,
    scratch::Scratch,
    verbosity,
};

/// A run to repeat.
pub(super) struct Job<'a> {
    pub(super) launch: &'a Launch,
    pub(super) mode: BatchMode<'a>,
    pub(super) batch: &'a Batch,
    pub(super) until_failure: bool,
    pub(super) check: Option<&'a Check>,
    pub(super) keep: Option<&'a Path>,
}

/// The results, and the folders of the kept runs: one of each kind, in the order of the tally.
pub(super) struct Done {
    pub(super) tally: Tally,
    pub(super) kept: Option<Vec<PathBuf>>,
}

/// The user's check, if there is one.
pub(super) fn check(batch: &Batch, limits: &Limits) -> Option<Check> {
    let timeout = limits.timeout.map(Duration::from_secs);
    batch.check.clone().map(|command| Check { command, timeout })
}

impl Job<'_> {
    /// Executes all runs. Kept runs stay in the scratch folder until the report is written, because it
    /// reads them there: see [`Done::move_kept`].
    pub(super) fn run(&self, scratch: &Scratch) -> anyhow::Result<Done> {
        let kept = self.keep.map(check_empty).transpose()?;
        let count = self.batch.times.map_or(1, NonZeroU64::get);
        let bar = bar(count);
        // All traces are in the scratch folder at first, several at a time.
        let max_size = self.launch.max_size.min(Scratch::MOST_TRACE);
        let launch = Launch { max_size, ..self.launch.clone() };
        let batch = norn_replay::Batch {
            front_end: &**front_end(),
            launch: &launch,
            mode: self.mode,
            count,
            jobs: self.batch.jobs.unwrap_or_else(processors),
            until_failure: self.until_failure,
            check: self.check,
            scratch: scratch.path(),
        };
        let tally = norn_replay::run_batch(&batch, &|tally| show(&bar, tally));
        bar.finish_and_clear();
        let tally = tally?;
        if let Some(recording) = &tally.unrecorded {
            record::say(self.launch, recording)?;
        }
        let kept = kept.map(|it| (1..=tally.kinds.len()).map(|n| it.join(n.to_string())).collect());
        Ok(Done { tally, kept })
    }
}

impl Done {
    /// The folders of the kept runs, for reports.
    pub(super) fn kept(&self) -> Option<Vec<String>> {
        let kept = self.kept.as_ref()?;
        Some(kept.iter().map(|it| it.display().to_string()).collect())
    }

    /// The exit status of the command, unless the user interrupted it or nothing was recorded.
    pub(super) fn exit(&self, exit: Exit) -> Exit {
        match Interrupt::caught() {
            Some(signal) => record::end_by(signal),
            None if self.tally.unrecorded.is_some() => Exit::Impossible,
            None => exit,
        }
    }

    /// Moves the kept runs to their folders.
    pub(super) fn move_kept(&self) -> anyhow::Result<()> {
        for (kind, to) in self.tally.kinds.iter().zip(self.kept.iter().flatten()) {
            transfer(kind.folder.path(), to)
                .with_context(|| format!("cannot keep a run in `{}`", to.display()))?;
        }
        Ok(())
    }
}

pub(super) fn processors() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A progress bar. indicatif shows it only on a terminal.
fn bar(count: u64) -> ProgressBar {
    if verbosity::is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {msg} ({eta} left)");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message("0 failed");
    bar
}

fn show(bar: &ProgressBar, tally: &Tally) {
    bar.set_position(tally.count);
    bar.set_message(match tally.kinds.len() {
        0 | 1 => format!("{} failed", tally.failures()),
        kinds => format!("{} failed, {kinds} kinds", tally.failures()),
    });
}

/// Runs are kept in an empty folder only, so that they are not confused with older ones.
fn check_empty(folder: &Path) -> anyhow::Result<&Path> {
    let shown = folder.display();
    refuse_link(folder).with_context(|| format!("cannot keep runs in `{shown}`"))?;
    let empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    ensure!(empty, "`{shown}` is not an empty folder\nhint: choose another one with -o");
    Ok(folder)
}

/// Moves a folder, also to another disk.
fn transfer(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = (entry?.path(), to);
        let to = to.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            transfer(&entry, &to)?;
        } else {
            fs::copy(&entry, &to)?;
        }
    }
    Ok(())
}
