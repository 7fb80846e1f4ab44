//! Runs every fuzz target with its stable driver: a fixed number of inputs, no special compiler.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{self, cargo, succeed};

const MANIFEST: &str = "fuzz/Cargo.toml";

pub(crate) fn run(inputs: u64) -> Result<()> {
    let targets = targets()?;
    ensure!(!targets.is_empty(), "there are no fuzz targets");
    for target in targets {
        println!("{target}: {inputs} inputs");
        let place = ["--manifest-path", MANIFEST, "--bin", "norn-fuzz", "--"];
        let mut command = cargo(&["run", "--quiet", "--release"]);
        succeed(command.args(place).arg(&target).arg(inputs.to_string()))
            .with_context(|| format!("fuzz target {target} failed"))?;
    }
    Ok(())
}

/// Each file in the folder of targets is one target.
fn targets() -> Result<Vec<String>> {
    let folder = workspace::root().join("fuzz/fuzz_targets");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).context("there is no folder fuzz/fuzz_targets")? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "rs") {
            found.extend(path.file_stem().map(|it| it.to_string_lossy().into_owned()));
        }
    }
    found.sort();
    Ok(found)
}
