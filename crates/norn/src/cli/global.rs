//! Options of all commands.

use std::{ffi::OsString, path::PathBuf};

use anstream::ColorChoice;
use clap::{Args, ValueEnum, builder::FalseyValueParser};

use crate::verbosity::Verbosity;

#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    #[arg(
        long,
        help = "When to use colors; `auto` also honours NO_COLOR and CLICOLOR_FORCE",
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        env = "NORN_COLOR"
    )]
    pub(crate) color: ColorArg,
    /// Print only results and errors: no progress, notes or hints
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more detail
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Read defaults from this file, instead of the nearest norn.toml
    #[arg(long, global = true, value_name = "FILE", env = "NORN_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Do not read norn.toml
    #[arg(
        long,
        global = true,
        env = "NORN_NO_CONFIG",
        value_parser = FalseyValueParser::new()
    )]
    pub(crate) no_config: bool,
}

impl Global {
    /// The options as words, for another command of norn.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words = vec![OsString::from("--color"), self.color.name().into()];
        words.extend(self.quiet.then(|| "--quiet".into()));
        words.extend(self.verbose.then(|| "--verbose".into()));
        words
    }

    /// Applies the options to the whole process.
    pub(crate) fn apply(&self) {
        self.color.apply();
        Verbosity::from_flags(self.quiet, self.verbose).set();
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorArg {
    fn name(self) -> &'static str {
        match self {
            ColorArg::Auto => "auto",
            ColorArg::Always => "always",
            ColorArg::Never => "never",
        }
    }

    pub(crate) fn apply(self) {
        let choice = match self {
            ColorArg::Auto => ColorChoice::Auto,
            ColorArg::Always => ColorChoice::Always,
            ColorArg::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}
