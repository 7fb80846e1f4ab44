//! `norn predict`: predicts bugs from a trace, without running the program.

use anyhow::ensure;
use norn_hunt::{Schedules, imported_outlook, outlook};
use norn_trace::{Run, TraceError};

use crate::{
    cli::{Predict, TraceArg},
    command::{
        hunt::{atomic_sets, prediction_options, suppressions},
        import,
    },
    exit::Exit,
    front_end::front_end,
    property_file,
    report::{self, VERSION},
    suppression::Suppression,
};

pub(super) fn run(args: &Predict) -> anyhow::Result<Exit> {
    let mut report =
        if args.property.is_empty() { patterns(args)? } else { return property(args) };
    report.program = program(&args.trace)?;
    report::print(&report, args.format)?;
    Ok(Exit::Clean)
}

/// Predicts bugs with the built-in analyses and the patterns.
fn patterns(args: &Predict) -> anyhow::Result<norn_report::Report> {
    let options = prediction_options(&args.search)?;
    let suppressions = suppressions(&args.suppressions)?;
    let mut used = vec![0; suppressions.len()];
    let sets = atomic_sets(&args.search);
    let schedules = Schedules { engines: args.search.engine.into(), most: args.schedules };
    let folder = &args.trace.folder;
    let mut outlook = if import::is_file(folder) {
        imported_outlook(&import::read(folder)?.trace, &options, &sets, schedules)
    } else {
        outlook(&**front_end(), folder, args.trace.process()?, &options, &sets, schedules)?
    };
    outlook.prospects.retain(|it| {
        let covers = |given: &Suppression| given.covers(&it.bug(), &it.description);
        let suppression = suppressions.iter().position(covers);
        suppression.inspect(|at| used[*at] += 1).is_none()
    });
    let used = suppressions.iter().zip(used).map(|(it, used)| it.report(used)).collect();
    Ok(norn_hunt::report::outlook(&outlook, used, VERSION))
}

/// Predicts violations of properties instead.
fn property(args: &Predict) -> anyhow::Result<Exit> {
    ensure!(
        !import::is_file(&args.trace.folder),
        "`{}` is not a trace's folder: properties are about traces that Norn recorded",
        args.trace.folder.display()
    );
    let Some(properties) = property_file::load(&args.property)? else { return Ok(Exit::Error) };
    let forecast = norn_hunt::forecast(
        &**front_end(),
        &args.trace.folder,
        args.trace.process()?,
        &properties,
    )?;
    let mut report = norn_hunt::report::forecast(&forecast, VERSION);
    report.program = program(&args.trace)?;
    report::print(&report, args.format)?;
    Ok(Exit::Clean)
}

/// The command line of the recorded program, for reports. Traces of other tools have none.
fn program(trace: &TraceArg) -> Result<Vec<String>, TraceError> {
    if import::is_file(&trace.folder) {
        return Ok(Vec::new());
    }
    let command = Run::open(&trace.folder)?.command;
    Ok(command.iter().map(|it| it.lossy().into_owned()).collect())
}
