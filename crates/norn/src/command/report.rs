//! `norn report`: writes the report of an earlier command in another format.

use std::path::Path;

use anyhow::Context as _;
use norn_report::{Report, SCHEMA};
use norn_trace::{REPORT, file};
use serde::Deserialize;

use crate::{
    cli::{self, ReportFormat},
    exit::Exit,
    report,
};

/// Maximum size of a report in bytes.
const MAX_SIZE: u64 = 1 << 30;

pub(super) fn run(args: &cli::Report) -> anyhow::Result<Exit> {
    let report = read(&args.path)?;
    match (&args.html, &args.output) {
        (Some(path), _) => report::write_file(&report, ReportFormat::html(), path)?,
        (None, Some(path)) => report::write_file(&report, args.format, path)?,
        (None, None) => report::print(&report, args.format)?,
    }
    Ok(Exit::Clean)
}

/// The report in a folder or a file. Of a stream, it is the last line.
pub(super) fn read(path: &Path) -> anyhow::Result<Report> {
    let name = path.display();
    let file = if path.is_dir() { path.join(REPORT) } else { path.to_owned() };
    if path.is_dir() && !file.exists() {
        anyhow::bail!("`{name}` has no report\nhint: `norn hunt` and `norn check` leave one");
    }
    let bytes =
        file::read_regular(&file, MAX_SIZE).with_context(|| format!("cannot read `{name}`"))?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or_default();
    let is_none = || format!("`{name}` is not a report of norn");
    let Version { schema } = serde_json::from_str(line).with_context(is_none)?;
    anyhow::ensure!(
        schema == SCHEMA,
        "cannot read `{name}`: it has version {schema}, and this norn reads {SCHEMA}"
    );
    serde_json::from_str(line).with_context(is_none)
}

#[derive(Deserialize)]
struct Version {
    schema: u32,
}
