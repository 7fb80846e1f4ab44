//! Hunts whose executions are in a store: one process hunts, and workers execute the program.

use std::{env, ffi::OsString, io::Write as _, num::NonZeroUsize, sync::Arc, time::Duration};

use anyhow::{Context as _, bail, ensure};
use norn_campaign::{HuntSettings, HuntWorker, SharedFrontEnd, fingerprint, is_dead, worker_name};
use norn_frontend::{FrontEnd, Interrupt};
use norn_store::{Location, Store};

use super::record;
use crate::{
    cli::{Forcing, Sharing},
    exit::Exit,
    front_end::front_end,
    report::VERSION,
    scratch::Scratch,
    terminal,
};

/// The front end of a hunt, and the store of its executions if it has one.
pub(super) struct Executions {
    pub(super) front_end: Arc<dyn FrontEnd>,
    shared: Option<Arc<SharedFrontEnd>>,
}

impl Executions {
    /// The executions of a command. Begins to share them, or goes on with what is in the store.
    pub(super) fn new(forcing: &Forcing, command: &[OsString]) -> anyhow::Result<Executions> {
        let Some(name) = &forcing.sharing.store else {
            return Ok(Executions { front_end: Arc::clone(front_end()), shared: None });
        };
        let is_source = command != forcing.command;
        ensure!(
            !is_source,
            "a hunt with --store needs a program, not a source file: workers have to find it, too\n\
             hint: build it with `norn cc` or `norn c++`"
        );
        let settings = HuntSettings {
            command: command.iter().map(Into::into).collect(),
            directory: env::current_dir()?.into(),
            build: fingerprint(&command[0]),
            norn: VERSION.to_owned(),
        };
        let mut store = Store::begin_hunt(&Location::new(name), &settings.text()?)?;
        let found = HuntSettings::parse(&store.hunt_settings()?)?;
        ensure!(
            found == settings,
            "`{name}` has the executions of another program, build, folder or version of norn\n\
             hint: a store is for one build of a program; choose another one"
        );
        forget_dead(&mut store)?;
        let shared = Arc::new(SharedFrontEnd::new(
            Arc::clone(front_end()),
            store,
            worker_name(),
            (forcing.jobs().get(), lease(&forcing.sharing)),
        )?);
        Ok(Executions { front_end: Arc::clone(&shared) as Arc<dyn FrontEnd>, shared: Some(shared) })
    }

    /// Leaves the store. The workers end if the command came to its own end.
    pub(super) fn close(&self) -> anyhow::Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        shared.close(Interrupt::caught().is_none())?;
        let (made, taken) = shared.counts();
        writeln!(
            terminal::stderr(),
            "norn: this process made {made} executions, and took {taken} from the store"
        )?;
        Ok(())
    }
}

/// Executes what a hunt asks for, until it ends.
pub(super) fn work(sharing: &Sharing, jobs: NonZeroUsize) -> anyhow::Result<Exit> {
    let name = sharing.store.as_deref().context("a worker needs --store")?;
    let mut store = Store::open_hunt(&Location::new(name))?;
    let settings = HuntSettings::parse(&store.hunt_settings()?)?;
    ensure!(
        settings.norn == VERSION,
        "the hunt is made by norn {}, and this is {VERSION}",
        norn_model::printable(&settings.norn)
    );
    let folder = settings.directory.as_path();
    env::set_current_dir(folder).with_context(|| {
        let shown = folder.display();
        format!("cannot enter `{shown}`\nhint: the program must be in the same folder everywhere")
    })?;
    let build = settings.command.first().and_then(|it| fingerprint(&it.0));
    if build != settings.build {
        bail!(
            "the program is not the one of the hunt: its file differs\nhint: all executions need the same \
             build; copy it to all machines"
        );
    }
    forget_dead(&mut store)?;
    let scratch = Scratch::new()?;
    let worker =
        HuntWorker::new(Arc::clone(front_end()), store, worker_name(), (jobs, lease(sharing)));
    let made = worker.work(scratch.path())?;
    writeln!(terminal::stderr(), "norn: this worker made {made} executions")?;
    Ok(Interrupt::caught().map_or(Exit::Clean, record::end_by))
}

/// Processes of this machine that were killed left leases, which need not expire first.
fn forget_dead(store: &mut Store) -> anyhow::Result<()> {
    for worker in store.hunt_workers()? {
        if is_dead(&worker) {
            store.leave(&worker)?;
        }
    }
    Ok(())
}

fn lease(sharing: &Sharing) -> Duration {
    Duration::from_secs(sharing.lease.get())
}
