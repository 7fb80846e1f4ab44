//! Options that select what `norn hunt` and `norn predict` look for.

use std::path::PathBuf;

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use norn_model::BugClass;

use super::name::Names;

/// What to look for.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct Search {
    /// Look only for these bug classes
    #[arg(long, value_delimiter = ',', value_parser = classes(), value_name = "CLASS")]
    pub(crate) only: Vec<BugClass>,
    /// File with additional patterns (can be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) pattern: Vec<PathBuf>,
    /// Expect only critical sections to be atomic, not accesses that merely follow each other
    #[arg(long)]
    pub(crate) marked_only: bool,
    /// Variables that must be accessed together, instead of inferred ones (can be repeated)
    #[arg(long, value_name = "NAME,NAME…", value_parser = Names::parse)]
    pub(crate) atomic_set: Vec<Names>,
    /// Function whose calls must be atomic; * matches any text (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub(crate) atomic_function: Vec<String>,
    /// Schedule engine
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: EngineArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum EngineArg {
    /// Heuristic; finds most schedules and proves nothing
    #[value(name = "fast", alias = "hybrid")]
    Hybrid,
    /// Finds a schedule or proves that there is none
    Exact,
    /// Exact only where fast fails
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

/// The classes that an analysis finds, by their names.
fn classes() -> impl TypedValueParser<Value = BugClass> {
    let found = |class: BugClass| norn_predict::analyses().any(|it| it.class == class);
    let classes = BugClass::ALL.into_iter().filter(move |it| found(*it));
    PossibleValuesParser::new(classes.map(BugClass::name)).try_map(|name| {
        let class = BugClass::ALL.into_iter().find(|it| it.name() == name);
        class.ok_or("there is no such class")
    })
}
