//! Measures hunts that start from visible failures.

mod comparison;
mod kernels;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use norn_e2e::{hunt::Hunt, subject::Announced};

use crate::norn::Norn;

/// Time limit of a run of the program, in seconds.
const RUN_LIMIT: &str = "20";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The command to measure; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
    /// Compare hunts with and without the analysis on all subjects of the scoreboard; writes no document
    #[arg(long)]
    scoreboard: bool,
    /// With --scoreboard: only the subjects of this folder
    #[arg(long, value_name = "FOLDER", requires = "scoreboard")]
    folder: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    if options.scoreboard {
        comparison::run(&norn, options.folder.as_deref())
    } else {
        kernels::run(&norn)
    }
}

/// Hunts in a program.
fn hunt(norn: &Norn, program: &Path, options: &[&str]) -> Result<Hunt> {
    let folder = program.with_extension("norn");
    let mut command = Command::new(&norn.path);
    command.args(["hunt", "--format", "json", "--timeout", RUN_LIMIT]).args(options);
    let output = command.arg("-o").arg(&folder).arg("--").arg(program).output()?;
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let Some(code @ (0 | 1)) = output.status.code() else {
        bail!("{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
    };
    let json = serde_json::from_slice(&output.stdout);
    let json = json.with_context(|| format!("{command:?} printed no JSON"))?;
    Ok(Hunt { json, code: Some(code) })
}

/// The first execution that showed an announced bug.
fn first(hunt: &Hunt, announced: &Announced) -> Option<u64> {
    if announced.is_failure() { hunt.first() } else { hunt.first_output(announced) }
}

/// A number in a table.
fn cell(number: Option<u64>) -> String {
    number.map_or_else(|| "–".to_owned(), |it| it.to_string())
}
