//! Development chores: `cargo xtask CHORE`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores report to the terminal")]

mod ci;
mod clean;
mod consequences;
mod debian;
mod demo;
mod fuzz;
mod kill;
mod load;
mod localize;
mod norn;
mod overhead;
mod process;
mod realworld;
mod scale;
mod schedules;
mod schema;
mod scoreboard;
mod statistics;
mod table;
mod tidy;
mod toolchain;
mod unit;
mod workspace;

use clap::{Parser, Subcommand};

/// Development chores of Norn.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Build norn, hunt a small program with a bug, and replay a failure
    Demo,
    /// Measure hunts that start from visible failures; writes the tables of docs/consequences.md
    Consequences(consequences::Options),
    /// Hunt in correct programs many times, on an idle and on a busy machine: nothing harmful may be reported; a full
    /// run writes docs/clean.md
    Clean(clean::Options),
    /// Run the checks that a change must pass: format, lints, tests, tidy
    Ci,
    /// Check project rules that the compiler does not
    Tidy,
    /// Run every fuzz target with a fixed number of inputs
    Fuzz {
        /// Number of inputs per target
        #[arg(default_value_t = 100_000)]
        inputs: u64,
    },
    /// Kill hunts at random moments, and check that they end in time with a complete report
    Kill(kill::Options),
    /// Localize the faults of flaky programs with known causes; writes the table of docs/localize.md
    Localize(localize::Options),
    /// Measure the cost of recording in comparison with other tools; a full run writes docs/overhead.md
    Overhead(overhead::Options),
    /// Build and record real programs; a full run writes docs/realworld.md
    Realworld(realworld::Options),
    /// Measure how recording, prediction and hunts grow with the length of a run; writes docs/scale.md
    Scale(scale::Options),
    /// Force schedules on programs with known bugs, many times; a full run writes
    /// docs/schedules-campaign.md
    Schedules(schedules::Options),
    /// Write docs/report.schema.json, the JSON Schema of reports
    Schema,
    /// Hunt in programs with known bugs; a full run writes docs/scoreboard.md
    Scoreboard(scoreboard::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().chore {
        Chore::Demo => demo::run(),
        Chore::Ci => ci::run(),
        Chore::Clean(options) => clean::run(&options),
        Chore::Consequences(options) => consequences::run(&options),
        Chore::Tidy => tidy::run(),
        Chore::Fuzz { inputs } => fuzz::run(inputs),
        Chore::Kill(options) => kill::run(&options),
        Chore::Localize(options) => localize::run(&options),
        Chore::Overhead(options) => overhead::run(&options),
        Chore::Realworld(options) => realworld::run(&options),
        Chore::Scale(options) => scale::run(&options),
        Chore::Schedules(options) => schedules::run(&options),
        Chore::Schema => schema::run(),
        Chore::Scoreboard(options) => scoreboard::run(&options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
