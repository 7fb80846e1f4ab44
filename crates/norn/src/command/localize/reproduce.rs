//! The command line that repeats a run of a campaign.

use norn_abi::control::StrategyKind;
use norn_campaign::{Settings, Variation};

use crate::command::run::quoted;

/// The command line that repeats a run.
pub(super) fn reproduce(settings: &Settings, variation: Variation) -> Vec<String> {
    let Variation { strategy, seed, depth, expected } = variation;
    let mut words = vec!["norn".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("strategy", norn_replay::report::strategy(strategy));
    if strategy.code() == StrategyKind::Pct.code() {
        option("depth", depth.to_string());
        option("expected", expected.to_string());
    }
    if let Some(check) = &settings.check {
        option("check", quoted(check));
    }
    option("seed", seed.to_string());
    words.push("--".to_owned());
    words.extend(settings.command.iter().map(|it| quoted(&it.lossy())));
    words
}
