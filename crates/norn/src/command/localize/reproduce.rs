//! The command line that repeats a run of a campaign.

use norn_abi::control::StrategyKind;
use norn_campaign::{Settings, Variation, Vary};

use crate::command::run::quoted;

/// The command line that repeats a run. `norn run` decides whether it failed by what every program must
/// not do, and by `--check`; other criteria need a campaign of one run, and so do random delays, with
/// which the run need not fail again.
pub(super) fn reproduce(settings: &Settings, variation: Variation) -> Vec<String> {
    let is_simple = settings.fail_regex.is_none() && !settings.fail_on_output_change;
    let mut words = match variation.vary {
        Vary::Schedules if is_simple => controlled_run(variation),
        _ => campaign(settings, variation),
    };
    if let Some(check) = &settings.check {
        words.extend(["--check".to_owned(), quoted(check)]);
    }
    words.extend(["--seed".to_owned(), variation.seed.to_string(), "--".to_owned()]);
    words.extend(settings.command.iter().map(|it| quoted(&it.lossy())));
    words
}

fn controlled_run(variation: Variation) -> Vec<String> {
    let Variation { strategy, depth, expected, .. } = variation;
    let mut words = vec!["norn".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("strategy", norn_replay::report::strategy(strategy));
    if strategy.code() == StrategyKind::Pct.code() {
        option("depth", depth.to_string());
        option("expected", expected.to_string());
    }
    words
}

fn campaign(settings: &Settings, variation: Variation) -> Vec<String> {
    let mut words: Vec<_> =
        ["norn", "localize", "-n", "1", "--confirm", "0"].map(str::to_owned).to_vec();
    if variation.vary == Vary::Delays {
        words.extend(["--vary", "delays"].map(str::to_owned));
    }
    if let Some(regex) = &settings.fail_regex {
        words.extend(["--fail-regex".to_owned(), quoted(regex)]);
    }
    if settings.fail_on_output_change {
        words.push("--fail-on-output-change".to_owned());
    }
    words
}
