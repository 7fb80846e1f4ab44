//! The campaign that a command works on: a new one, or one that is in a store already.

use std::num::NonZeroU64;

use anyhow::{Context as _, bail};
use norn_campaign::{Measured, Settings, fingerprint, is_dead};
use norn_frontend::{Cut, Launch, Plan};
use norn_model::OsText;
use norn_store::{CampaignRow, Location, Store};
use norn_trace::Bytes;

use crate::{
    cli::Localize,
    command::{hunt::not_built, record, run::launch},
    exit::Exit,
    front_end::front_end,
    scratch::Scratch,
};

/// Number of runs if the user gives none.
const RUNS: u64 = 100;

/// A campaign to work on.
pub(super) struct Session {
    pub(super) store: Store,
    pub(super) settings: Settings,
    pub(super) stop_early: bool,
    pub(super) launch: Launch,
}

/// Opens the campaign that the options name, or begins it. Returns an exit status if the program cannot
/// be used.
pub(super) fn open(args: &Localize, scratch: &Scratch) -> anyhow::Result<Result<Session, Exit>> {
    let store = match location(args) {
        Location::Memory => begin(args, scratch, &Location::Memory)?,
        location if args.store.resume.is_some() => Ok(resume(args, &location)?),
        location if args.command.is_empty() => Ok(Store::open(&location)?),
        location => begin(args, scratch, &location)?,
    };
    let mut store = match store {
        Ok(store) => store,
        Err(exit) => return Ok(Err(exit)),
    };
    // Processes of this machine that were killed left leases, which need not expire first.
    for worker in store.workers()? {
        if is_dead(&worker) {
            store.release(&worker)?;
        }
    }
    let CampaignRow { settings, stop_early, .. } = store.campaign()?;
    let mut settings = Settings::parse(&settings)?;
    let program = settings.command.first().and_then(|it| fingerprint(&it.0));
    if !settings.is_same_build(program.as_deref()) {
        bail!(
            "the program is not the one of the campaign: its file differs\nhint: all runs need the same \
             build; copy it to all machines, or begin another campaign"
        );
    }
    // A slow machine may need more time.
    settings.timeout = args.limits.timeout.or(settings.timeout);
    let launch = settings.launch(launch(&args.limits));
    Ok(Ok(Session { store, settings, stop_early, launch }))
}

fn location(args: &Localize) -> Location {
    let given = args.store.store.as_ref().or(args.store.resume.as_ref());
    given.map_or(Location::Memory, |it| Location::new(it))
}

fn resume(args: &Localize, location: &Location) -> anyhow::Result<Store> {
    let mut store = Store::open(location)?;
    if let Some(runs) = args.runs {
        store.extend(runs.get())?;
    }
    Ok(store)
}

/// Begins the campaign, unless it is in the store already.
fn begin(
    args: &Localize,
    scratch: &Scratch,
    location: &Location,
) -> anyhow::Result<Result<Store, Exit>> {
    let mut settings = requested(args);
    if !Store::exists(location)? {
        match measure(args, &settings, scratch)? {
            Ok(measured) => settings.measured = measured,
            Err(exit) => return Ok(Err(exit)),
        }
    }
    let campaign =
        CampaignRow { settings: settings.text()?, stop_early: !args.no_early_stop, settled: None };
    let runs = args.runs.map_or(RUNS, NonZeroU64::get);
    let end = args.seed.checked_add(runs).context("the seeds are too large")?;
    let mut store = Store::begin(location, &campaign)?;
    // Another process may have begun it, with other settings.
    let found = Settings::parse(&store.campaign()?.settings)?;
    if !found.is_same_request(&settings) {
        bail!(
            "the store has a campaign with another command or other options\nhint: --resume goes on \
             with it, and `norn campaign show` prints it"
        );
    }
    store.plan(args.seed..end)?;
    Ok(Ok(store))
}

/// The settings that the user requests.
fn requested(args: &Localize) -> Settings {
    let criteria = &args.criteria;
    Settings {
        command: args.command.iter().cloned().map(OsText).collect(),
        build: args.command.first().and_then(|it| fingerprint(it)),
        check: criteria.check.clone(),
        fail_regex: criteria.fail_regex.as_ref().map(ToString::to_string),
        fail_on_output_change: criteria.fail_on_output_change,
        max_steps: args.limits.max_steps,
        timeout: args.limits.timeout,
        max_size: args.limits.max_size.min(Scratch::MOST_TRACE),
        values: !args.limits.no_values,
        window: args.ranking.window,
        observe_all: args.observe_all,
        vary: args.vary.into(),
        measured: Measured::default(),
    }
}

/// Runs the program once.
fn measure(
    args: &Localize,
    settings: &Settings,
    scratch: &Scratch,
) -> anyhow::Result<Result<Measured, Exit>> {
    let plan = Plan { max_steps: settings.max_steps, ..Plan::default() };
    let launch = Launch { plan: Some(plan), ..settings.launch(launch(&args.limits)) };
    let calibration = norn_replay::calibrate(&**front_end(), &launch, scratch.path())?;
    if let Some(Cut::Interrupt(signal)) = calibration.recording.cut {
        return Ok(Err(record::end_by(signal)));
    }
    if !calibration.recording.recorded {
        return not_built(&args.command[0], "norn cc prog.c -o prog").map(Err);
    }
    Ok(Ok(Measured {
        events: calibration.steps().max(1),
        stdout: settings.fail_on_output_change.then_some(Bytes(calibration.stdout)),
    }))
}
