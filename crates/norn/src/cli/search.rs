//! What is looked for, on the command line.

use std::path::PathBuf;

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use norn_model::BugClass;

use super::name::Names;

/// What is looked for.
#[derive(Args, Debug)]
pub(crate) struct Search {
    /// Look only for these kinds of anomalies
    #[arg(long, value_delimiter = ',', value_parser = classes(), value_name = "CLASS")]
    pub(crate) only: Vec<BugClass>,
    /// Look for the patterns in this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) pattern: Vec<PathBuf>,
    /// Only critical sections are to be atomic, not accesses that merely follow each other
    #[arg(long)]
    pub(crate) marked_only: bool,
    /// These variables belong together, and no others (may be given several times)
    #[arg(long, value_name = "NAME,NAME…", value_parser = Names::parse)]
    pub(crate) atomic_set: Vec<Names>,
    /// Calls of this function are to be atomic; * stands for any text
    #[arg(long, value_name = "NAME")]
    pub(crate) atomic_function: Vec<String>,
    /// Who makes schedules: `hybrid` is fast, `exact` proves, `both` asks it where the fast one fails
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: EngineArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum EngineArg {
    Hybrid,
    Exact,
    #[default]
    Both,
}

impl From<EngineArg> for norn_hunt::Engines {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Hybrid => Self::Hybrid,
            EngineArg::Exact => Self::Exact,
            EngineArg::Both => Self::Both,
        }
    }
}

/// The kinds of anomalies, by their names.
const CLASSES: [(&str, BugClass); 7] = [
    ("race", BugClass::Race),
    ("atomicity", BugClass::Atomicity),
    ("atomic-set", BugClass::AtomicSet),
    ("lifetime", BugClass::Lifetime),
    ("order", BugClass::Order),
    ("pattern", BugClass::Pattern),
    ("deadlock", BugClass::Deadlock),
];

fn classes() -> impl TypedValueParser<Value = BugClass> {
    PossibleValuesParser::new(CLASSES.map(|it| it.0)).try_map(|name| {
        let class = CLASSES.iter().find(|it| it.0 == name);
        class.map(|it| it.1).ok_or("there is no such class")
    })
}
