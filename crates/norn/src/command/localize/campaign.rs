//! Runs a program many times under varied schedules, and ranks the patterns of the runs.

use std::{io::Write as _, time::Duration};

use norn_campaign::{Campaign, Conducted, Experiment, Variation, worker_name};
use norn_frontend::Interrupt;
use norn_replay::RunFolders;
use norn_store::Store;

use super::{
    predicted,
    progress::{bar, show},
    reproduce::reproduce,
    session::{self, Session},
    stored::{ranked, write_clips},
};
use crate::{
    cli::Localize,
    command::{batch::processors, record},
    exit::Exit,
    front_end::front_end,
    scratch::Scratch,
    terminal,
};

pub(super) fn run(args: &Localize) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let Session { mut store, settings, stop_early, launch } = match session::open(args, &scratch)? {
        Ok(session) => session,
        Err(exit) => return Ok(exit),
    };
    let campaign = Campaign {
        front_end: front_end(),
        launch: &launch,
        settings: &settings,
        criteria: settings.criteria()?,
        stop_early,
        jobs: args.jobs.unwrap_or_else(processors),
        formula: args.ranking.score.0,
        worker: &worker_name(),
        lease: Duration::from_secs(args.store.lease.get()),
        folders: RunFolders::new(scratch.path()),
    };
    let bar = bar(store.progress()?.planned);
    let again = |it: Variation| reproduce(&settings, it);
    let conducted = campaign.conduct(&mut store, &again, &|it| show(&bar, it));
    bar.finish_and_clear();
    let conducted = conducted?;
    if let Some(recording) = &conducted.unrecorded
        && conducted.made == 0
    {
        record::say(&launch, recording)?;
        return Ok(Exit::Impossible);
    }
    if args.store.worker {
        report_work(&mut store, &conducted)
    } else {
        finish(args, &campaign, &mut store)
    }
}

/// What a worker did. The ranking is for whoever asks for it.
fn report_work(store: &mut Store, conducted: &Conducted) -> anyhow::Result<Exit> {
    let (made, planned) = (conducted.made, store.progress()?.planned);
    writeln!(terminal::stderr(), "norn: this worker made {made} of {planned} runs")?;
    Ok(Interrupt::caught().map_or(Exit::Clean, record::end_by))
}

/// Prints the ranking, and determines the exit status.
fn finish(args: &Localize, campaign: &Campaign<'_>, store: &mut Store) -> anyhow::Result<Exit> {
    let top = args.ranking.top.get();
    let (mut localization, settings, mut evidence) = ranked(store, args.ranking.score.0, top)?;
    if let Some(error) = &evidence.error {
        writeln!(terminal::stderr(), "norn: a run was lost: {}", norn_model::printable(error))?;
    }
    let is_complete = localization.pending == 0 && Interrupt::caught().is_none();
    let failed_itself = localization.failed - evidence.predicted.1;
    if failed_itself == 0 && args.predicted > 0 && is_complete {
        predicted::force(campaign, store, &mut evidence, args.predicted)?;
        (localization, _, evidence) = ranked(store, args.ranking.score.0, top)?;
        // None could be predicted, which is a result, too.
        localization.predicted.get_or_insert_default();
    }
    let mut forced = Vec::new();
    let suspects = evidence.localizer.suspects(args.ranking.confirm);
    for (cluster, (failure, patterns)) in localization.clusters.iter_mut().zip(&suspects) {
        for (ranked, pattern) in cluster.ranking.iter_mut().zip(patterns) {
            let Experiment { report, clip } = campaign.experiment(store, failure, pattern)?;
            ranked.experiment = Some(report);
            forced.push((cluster.first.clone(), clip));
        }
    }
    if let Some(folder) = &args.clips {
        write_clips(store, &mut localization, folder, &forced)?;
    }
    let command = settings.command.iter().map(|it| it.lossy().into_owned()).collect();
    let exit = super::print(args.format, localization, command)?;
    Ok(Interrupt::caught().map_or(exit, record::end_by))
}
