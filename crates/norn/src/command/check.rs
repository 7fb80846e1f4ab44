//! `norn check`: can another schedule of the program violate a property of the user?

use std::collections::BTreeSet;

use norn_hunt::{Check, Options};
use norn_property::Property;

use crate::{
    cli,
    command::{
        hunt::{Progress, not_built, program, words},
        run::options,
    },
    exit::Exit,
    input, property_file,
    report::{self, VERSION},
    scratch::Scratch,
};

pub(super) fn run(args: &cli::Check) -> anyhow::Result<Exit> {
    let names: Vec<_> = [&args.properties].into_iter().chain(&args.more).cloned().collect();
    let Some(properties) = property_file::load(&names)? else { return Ok(Exit::Error) };
    let scratch = Scratch::new()?;
    let forcing = &args.forcing;
    let command = program(&forcing.command, &forcing.output, scratch.path())?;
    let options = Options {
        run: norn_record::Options {
            command,
            functions: functions(&properties),
            keep_inputs: forcing.record_inputs,
            stdin: if forcing.record_inputs { input::stdin()? } else { None },
            ..options(&forcing.limits)
        },
        output: forcing.output.clone(),
        predict: norn_predict::Options::default(),
        atomic_sets: Vec::new(),
        engines: norn_hunt::Engines::default(),
        budget: forcing.budget.get(),
        jobs: forcing.jobs(),
        explore: 0,
        instances: forcing.instances,
        max_steps: forcing.limits.max_steps,
    };
    let progress = Progress::new();
    let check = norn_hunt::check(&options, &properties, scratch.path(), &|it| progress.tell(it))?;
    progress.end();
    let Some(check) = check else {
        return not_built(&forcing.command[0], "norn check PROPERTIES prog.c");
    };
    let exit = exit(&check);
    let mut report = norn_hunt::report::check(&check, VERSION);
    (report.program, report.exit) = (words(&options.run.command), exit.into());
    report::print(&report, forcing.format)?;
    Ok(exit)
}

/// The functions that the properties name: calls of no others are recorded.
fn functions(properties: &[Property]) -> Vec<String> {
    let functions = properties.iter().flat_map(Property::functions);
    let named: BTreeSet<_> = functions.map(|it| it.as_str().to_owned()).collect();
    named.into_iter().collect()
}

fn exit(check: &Check) -> Exit {
    let real = check.violations.iter().any(norn_hunt::Violation::is_real);
    if real { Exit::Harmful } else { Exit::Clean }
}
