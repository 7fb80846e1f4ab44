//! Ranks the patterns of traces that were recorded before.

use anyhow::ensure;
use norn_campaign::{Failure, Localizer, Origin, RecordedRun, RunOutcome};

use crate::{cli::Localize, exit::Exit, front_end::front_end};

pub(super) fn run(args: &Localize) -> anyhow::Result<Exit> {
    let names = &args.recorded.failed;
    let mut localizer = Localizer::new(args.ranking.window, args.ranking.score.0);
    let mut unused: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut program = Vec::new();
    for folder in &args.recorded.from {
        let mut run = RecordedRun::open(&**front_end(), folder, args.ranking.window)?;
        unused.retain(|it| !run.is_called(it));
        if run.outcome == RunOutcome::Passed && names.iter().any(|it| run.is_called(it)) {
            run.outcome = RunOutcome::Failed(Failure::of_criterion("named by --failed"));
        }
        let command = &run.symbolized.trace.run().command;
        program = command.iter().map(|it| it.lossy().into_owned()).collect();
        let origin = Origin { name: folder.display().to_string(), ..Origin::default() };
        run.add_to(&mut localizer, origin);
    }
    ensure!(unused.is_empty(), "no trace is called `{}`", unused.join("`, `"));
    super::print(args.format, localizer.report(args.ranking.top.get()), program)
}
