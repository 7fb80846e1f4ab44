//! `norn localize`: ranks interleaving patterns by how well they separate failing from passing runs.

mod campaign;
mod predicted;
mod progress;
mod recorded;
mod reproduce;
mod session;
mod stored;

pub(super) use self::stored::localization;

use norn_report::{Command, Localization, Report};

use crate::{
    cli::{Localize, ReportFormat},
    exit::Exit,
    report::{self, VERSION},
};

pub(super) fn run(args: &Localize) -> anyhow::Result<Exit> {
    if args.recorded.from.is_empty() { campaign::run(args) } else { recorded::run(args) }
}

/// Prints a ranking. Returns the exit status of the command.
pub(super) fn print(
    format: ReportFormat,
    localization: Localization,
    program: Vec<String>,
) -> anyhow::Result<Exit> {
    let exit = if localization.failed > 0 { Exit::Harmful } else { Exit::Clean };
    let report = Report {
        localization: Some(localization),
        program,
        exit: exit.into(),
        ..Report::new(Command::Localize, VERSION)
    };
    report::print(&report, format)?;
    Ok(exit)
}
