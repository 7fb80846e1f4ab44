//! The first minutes with Norn: builds it, hunts a small program with a bug, and replays one of the
//! failures.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};

use crate::{norn::Norn, workspace};

/// The exit status for a harmful finding.
const HARMFUL: i32 = 1;

pub(crate) fn run() -> Result<()> {
    let norn = Norn::build()?;
    let folder = workspace::target().join("demo");
    fs::create_dir_all(&folder).context("cannot make a folder for the demo")?;
    let source = workspace::root().join("subjects/demo/account.c");
    fs::copy(source, folder.join("account.c")).context("cannot copy the program")?;
    let steps: [&[&str]; 3] = [
        &["cc", "-g", "-O1", "-pthread", "account.c", "-o", "account"],
        &["hunt", "-o", "account.norn", "--", "./account"],
        &["replay", "account.norn/clips/1.json"],
    ];
    for arguments in steps {
        println!("\n$ norn {}", arguments.join(" "));
        let mut command = Command::new(&norn.path);
        let status = command.args(arguments).current_dir(&folder).status();
        let code = status.context("cannot run norn")?.code();
        let wanted = if arguments[0] == "cc" { 0 } else { HARMFUL };
        ensure!(code == Some(wanted), "norn {} ended with status {code:?}", arguments[0]);
    }
    Ok(())
}
