//! One file per subcommand.

mod batch;
mod build;
mod campaign;
mod campaign_store;
mod cargo;
pub(crate) mod cc;
mod check;
mod checked;
mod clip_program;
mod completions;
mod doctor;
mod dump;
mod exit_codes;
mod expect;
mod explain;
mod export;
mod gdb;
mod header;
mod hunt;
mod import;
mod info;
mod learn;
mod localize;
mod man;
mod patterns;
mod predict;
mod property;
mod rebuilt;
mod record;
mod replay;
mod report;
mod run;
pub(crate) mod rustc;
mod shared;
mod show;
mod sites;

use norn_cc::Language;

pub(crate) use sites::cache as site_cache;

use crate::{
    cli::{Cli, Command},
    exit::Exit,
};

pub(crate) fn run(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Build(args) => build::run(&args.command),
        Command::Cc(compiler) => cc::run(Language::C, None, &compiler.arguments),
        Command::Cxx(compiler) => cc::run(Language::Cxx, None, &compiler.arguments),
        Command::Rustc(compiler) => rustc::run(&compiler.arguments),
        Command::Cargo(args) => cargo::run(&args, &cli.global),
        Command::Hunt(args) => hunt::run(&args),
        Command::Learn(args) => learn::run(&args),
        Command::Localize(args) => localize::run(&args),
        Command::Campaign(args) => campaign_store::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Property(args) => property::run(&args),
        Command::Patterns => patterns::run(),
        Command::Explain { name } => explain::run(name.as_deref()),
        Command::Predict(args) => predict::run(&args),
        Command::Record(args) => record::run(args),
        Command::Run(args) => run::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Sites(args) => sites::run(&args),
        Command::Info(args) if import::is_file(&args.trace.folder) => {
            import::info(&args.trace.folder, args.format)
        }
        Command::Info(args) => info::run(&args),
        Command::Dump(args) if import::is_file(&args.trace.folder) => {
            import::dump(&args.trace.folder)
        }
        Command::Dump(args) => dump::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Header => header::run(),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => completions::run(args.shell),
        Command::Man(args) => man::run(args.folder.as_deref()),
        Command::ExitCodes => exit_codes::run(),
    }
}
