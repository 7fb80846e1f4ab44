//! The first minutes with Norn: builds it, and compiles, records and dumps a small program.

use std::{fs, process::Command};

use anyhow::{Context as _, Result};

use crate::{norn::Norn, workspace};

pub(crate) fn run() -> Result<()> {
    let norn = Norn::build()?;
    let folder = workspace::target().join("demo");
    fs::create_dir_all(&folder).context("cannot make a folder for the demo")?;
    let source = workspace::root().join("subjects/demo/account.c");
    let steps: [&[&str]; 4] = [
        &["cc", "-O1", "-pthread", &source.to_string_lossy(), "-o", "account"],
        &["record", "-o", "account.norn", "--", "./account"],
        &["info", "account.norn"],
        &["dump", "account.norn"],
    ];
    for arguments in steps {
        println!("\n$ norn {}", arguments.join(" "));
        let mut command = Command::new(&norn.path);
        command.args(arguments).current_dir(&folder);
        if arguments[0] == "record" {
            // Passes on the subject's status, and that one fails if its bug shows.
            command.status().context("cannot run norn")?;
        } else {
            workspace::succeed(&mut command)?;
        }
    }
    Ok(())
}
