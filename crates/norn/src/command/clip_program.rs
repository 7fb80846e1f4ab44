//! The program that a clip starts. A clip may come from someone else, so what it runs is shown before it
//! runs, and variables by which it could load other code into the program are refused.

use std::path::Path;

use anyhow::ensure;
use norn_abi::arena::ENV;
use norn_model::{OsText, excerpt};
use norn_replay::Clip;

use crate::{command::run::quoted, verbosity::note};

/// Variables besides `LD_*` by which libc loads code or changes how it works.
const LOADER_VARIABLES: [&str; 3] = ["GCONV_PATH", "GLIBC_TUNABLES", "NLSPATH"];

/// Refuses a clip whose environment would load other code into the program, unless the user allows it,
/// or that could interfere with the recording.
pub(super) fn check_environment(
    clip: &Clip,
    path: &Path,
    allow_loader: bool,
) -> anyhow::Result<()> {
    for name in clip.environment.keys() {
        let shown = path.display();
        ensure!(name != ENV, "the clip `{shown}` sets `{name}`, which norn sets itself");
        let loads = name.starts_with("LD_") || LOADER_VARIABLES.contains(&name.as_str());
        ensure!(
            allow_loader || !loads,
            "the clip `{shown}` sets `{}`, by which it could load other code into the program\n\
             hint: --allow-loader-variables allows that, if you trust the clip",
            excerpt(name)
        );
    }
    Ok(())
}

/// Shows what is about to run: the command, its folder and the variables that the clip sets.
pub(super) fn show(clip: &Clip) -> std::io::Result<()> {
    let words = clip.command.iter().map(shown);
    let command = words.collect::<Vec<_>>().join(" ");
    let variables = clip.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={} ", shown(value)));
    let variables = variables.collect::<Vec<_>>().concat();
    let folder =
        clip.directory.as_ref().map_or_else(String::new, |it| format!(" in {}", shown(it)));
    note(format_args!("norn: the clip runs {variables}{command}{folder}"))
}

fn shown(text: &OsText) -> String {
    quoted(&text.lossy())
}
