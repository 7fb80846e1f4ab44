//! `norn check`: can another schedule of the program violate a property of the user?

use std::{collections::BTreeSet, sync::Arc};

use norn_frontend::Launch;
use norn_hunt::{Check, Options};
use norn_property::Property;
use norn_trace::MemoryModel;

use crate::{
    cli,
    command::{
        hunt::{Progress, baseline, no_events, program, suppressions, with_baseline, words},
        run::launch,
    },
    exit::Exit,
    front_end::front_end,
    input,
    output_lock::OutputLock,
    property_file,
    report::{self, VERSION},
    scratch::Scratch,
    suppress::ReportFilter,
    terminal::{self, line},
};

pub(super) fn run(args: &cli::Check) -> anyhow::Result<Exit> {
    let suppressions = suppressions(&args.counting.suppressions)?;
    let baseline = baseline(&args.counting)?;
    let names: Vec<_> = [&args.properties].into_iter().chain(&args.more).cloned().collect();
    let Some(properties) = property_file::load(&names)? else { return Ok(Exit::Error) };
    let scratch = Scratch::new()?;
    let forcing = &args.forcing;
    let _lock = OutputLock::new(&forcing.output)?;
    let command = program(&forcing.command, &forcing.output, scratch.path())?;
    let options = Options {
        front_end: Arc::clone(front_end()),
        launch: Launch {
            command,
            functions: functions(&properties),
            keep_inputs: forcing.record_inputs,
            stdin: if forcing.record_inputs { input::stdin()? } else { None },
            ..launch(&forcing.limits)
        },
        output: forcing.output.clone(),
        predict: norn_predict::Options::default(),
        atomic_sets: Vec::new(),
        engines: args.engine.into(),
        budget: forcing.budget.get(),
        jobs: forcing.jobs(),
        explore: args.explore,
        memory: MemoryModel::default(),
        instances: forcing.instances,
        max_steps: forcing.limits.max_steps,
        all_events: true,
    };
    let progress = Progress::new();
    let check = norn_hunt::check(&options, &properties, scratch.path(), &|it| progress.show(it))?;
    progress.end();
    let Some(check) = check else {
        return no_events(&forcing.command[0], "norn check PROPERTIES prog.c");
    };
    let filter = ReportFilter::of_check(&check, suppressions, args.counting.fail_on);
    let filter = with_baseline(filter, &baseline, &args.counting)?;
    let exit = exit(&check, &filter)?;
    let mut report = norn_hunt::report::check(&check, &filter.unranked(), VERSION);
    (report.program, report.exit) = (words(&options.launch.command), exit.into());
    report::print(&report, forcing.format)?;
    Ok(exit)
}

/// The functions that the properties name: only their calls are recorded.
fn functions(properties: &[Property]) -> Vec<String> {
    let functions = properties.iter().flat_map(Property::functions);
    let named: BTreeSet<_> = functions.map(|it| it.as_str().to_owned()).collect();
    named.into_iter().collect()
}

/// The exit status. A property whose events never occurred was not checked, so that finding no
/// violation of it means nothing.
fn exit(check: &Check, filter: &ReportFilter<'_>) -> anyhow::Result<Exit> {
    if filter.fails() {
        return Ok(Exit::Harmful);
    }
    if check.interrupted {
        return Ok(Exit::Interrupted);
    }
    let found = check.violations.iter().any(norn_hunt::Violation::is_real);
    let unchecked: Vec<_> = check.properties.iter().filter(|it| !it.missing.is_empty()).collect();
    if found || unchecked.is_empty() {
        return Ok(Exit::Clean);
    }
    for property in unchecked {
        let (name, missing) = (&property.name, property.missing.join(", "));
        let text = format!("norn: {name} was not checked: these events never occurred: {missing}");
        line(&mut terminal::stderr(), text)?;
    }
    Ok(Exit::Impossible)
}
