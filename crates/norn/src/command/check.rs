//! `norn check`: can another schedule of the program violate a property of the user?

use std::{collections::BTreeSet, sync::Arc};

use norn_frontend::{Cancel, Launch};
use norn_hunt::{CandidateSource, Check, Options};
use norn_property::Property;
use norn_trace::MemoryModel;

use crate::{
    announce::Announcer,
    cli,
    command::{
        campaign,
        hunt::{baseline, program, suppressions, words},
        run::launch,
        shared::{self, Executions},
    },
    exit::Exit,
    input,
    output_lock::OutputLock,
    property_file,
    scratch::Scratch,
};

pub(super) fn run(args: &cli::Check) -> anyhow::Result<Exit> {
    if args.forcing.sharing.worker {
        return shared::work(&args.forcing.sharing, args.forcing.jobs());
    }
    let deadline = args.forcing.deadline();
    let suppressions = suppressions(&args.counting.suppressions)?;
    let baseline = baseline(&args.counting)?;
    let names: Vec<_> = [&args.properties].into_iter().chain(&args.more).cloned().collect();
    let Some(properties) = property_file::load(&names)? else { return Ok(Exit::Error) };
    let scratch = Scratch::new()?;
    let forcing = &args.forcing;
    let _lock = OutputLock::new(&forcing.output)?;
    let Some(command) = program(&forcing.command, &forcing.output, scratch.path())? else {
        return campaign::unbuilt::<Check>((forcing, &args.counting));
    };
    let cancel = Cancel::default();
    let executions = Executions::new(forcing, &command)?;
    let options = Options {
        front_end: Arc::clone(&executions.front_end),
        launch: Launch {
            command,
            functions: functions(&properties),
            keep_inputs: forcing.record_inputs,
            stdin: if forcing.record_inputs { input::stdin()? } else { None },
            ..launch(&forcing.limits)
        },
        output: forcing.output.clone(),
        predict: norn_predict::Options::default(),
        from: CandidateSource::All,
        distance: 0,
        failure_kinds: Vec::new(),
        invariants: Arc::new([]),
        atomic_sets: Vec::new(),
        engines: args.engine.into(),
        cancel: cancel.clone(),
        budget: forcing.budget.get(),
        jobs: forcing.jobs(),
        explore: args.explore,
        memory: MemoryModel::default(),
        instances: forcing.instances,
        max_steps: forcing.limits.max_steps,
        time: forcing.time,
        all_events: true,
    };
    let shown = words(&options.launch.command);
    let announcer = Announcer::new((forcing, &args.counting), shown, suppressions, baseline);
    let folder = scratch.path().to_owned();
    let names = (&*forcing.command[0], "norn check PROPERTIES prog.c");
    let exit = campaign::conduct(announcer, (deadline, cancel), names, move |listener| {
        norn_hunt::check(&options, &properties, &folder, listener)
    })?;
    executions.close()?;
    Ok(exit)
}

/// The functions that the properties name: only their calls are recorded.
fn functions(properties: &[Property]) -> Vec<String> {
    let functions = properties.iter().flat_map(Property::functions);
    let named: BTreeSet<_> = functions.map(|it| it.as_str().to_owned()).collect();
    named.into_iter().collect()
}
