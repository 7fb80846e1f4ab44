//! The checks that a change must pass.

use anyhow::Result;

use crate::{
    tidy,
    workspace::{cargo, succeed},
};

const STEPS: &[&[&str]] = &[
    &["fmt", "--all", "--check"],
    &["fmt", "--manifest-path", "rt/Cargo.toml", "--check"],
    &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    &["clippy", "--manifest-path", "rt/Cargo.toml", "--locked", "--", "-D", "warnings"],
    &["test", "--workspace", "--locked"],
];

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run() -> Result<()> {
    for step in STEPS {
        println!("cargo {}", step.join(" "));
        succeed(&mut cargo(step))?;
    }
    tidy::run()
}
