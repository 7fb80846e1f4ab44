//! `norn campaign`: shows and merges stored campaigns.

use std::{fs, io::Write as _, path::Path};

use anyhow::ensure;
use norn_campaign::Settings;
use norn_store::{CampaignRow, Location, Progress, Store, StoreError};

use super::localize;
use crate::{
    cli::{Campaign, CampaignMerge, CampaignShow},
    exit::Exit,
    terminal,
};

pub(super) fn run(args: &Campaign) -> anyhow::Result<Exit> {
    match args {
        Campaign::Show(args) => show(args),
        Campaign::Merge(args) => merge(args),
    }
}

fn show(args: &CampaignShow) -> anyhow::Result<Exit> {
    let mut store = Store::open(&Location::new(&args.store))?;
    let (localization, settings) =
        localize::localization(&mut store, args.score.0, args.top.get())?;
    let command = settings.command.iter().map(|it| it.lossy().into_owned()).collect();
    localize::print(args.format, localization, command)
}

fn merge(args: &CampaignMerge) -> anyhow::Result<Exit> {
    let output = Location::new(&args.output);
    let taken = match &output {
        Location::File(path) => path.exists(),
        _ => Store::exists(&output)?,
    };
    ensure!(!taken, StoreError::Exists(args.output.clone()));
    // All are looked at before anything is written.
    let mut sources = Vec::new();
    let mut common: Option<Settings> = None;
    for name in &args.stores {
        let mut store = Store::open(&Location::new(name))?;
        let settings = Settings::parse(&store.campaign()?.settings)?;
        let agrees = common.as_ref().is_none_or(|it| it.agrees(&settings));
        ensure!(agrees, StoreError::Different);
        common.get_or_insert(settings);
        sources.push(store);
    }
    let Some(settings) = common else { return Ok(Exit::Clean) };
    // Which of the merged runs would have been enough is not asked again.
    let campaign = CampaignRow { settings: settings.text()?, stop_early: false, settled: None };
    let progress = match &output {
        Location::File(path) => {
            // The file has its name only when it is complete.
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            let scratch = tempfile::tempdir_in(folder.unwrap_or(Path::new(".")))?;
            let part = scratch.path().join("merged.db");
            let progress = fill(&Location::File(part.clone()), &campaign, &mut sources)?;
            fs::rename(part, path)?;
            progress
        }
        _ => fill(&output, &campaign, &mut sources)?,
    };
    writeln!(
        terminal::stderr(),
        "norn: `{}` has {} runs of {} campaigns",
        args.output,
        progress.made,
        sources.len()
    )?;
    Ok(Exit::Clean)
}

/// Writes the runs of all campaigns to a new one.
fn fill(
    output: &Location,
    campaign: &CampaignRow,
    sources: &mut [Store],
) -> Result<Progress, StoreError> {
    let mut merged = Store::begin(output, campaign)?;
    for store in sources {
        merged.absorb(store)?;
    }
    merged.progress()
}
