//! `norn doctor`: checks whether this machine can run norn.

mod kernel;
mod limits;
mod self_test;
mod tool;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use norn_report::writer::escape_json;
use serde::Serialize;
use serde_json::json;

use crate::{
    cli::{self, Format},
    exit::Exit,
    terminal,
};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    /// No problem.
    Ok,
    /// Norn can be used with restrictions.
    Warning,
    /// Norn cannot be used.
    Problem,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    area: &'static str,
    name: &'static str,
    level: Level,
    /// The result.
    found: String,
    /// The remedy.
    hint: Option<String>,
}

impl Check {
    fn ok(area: &'static str, name: &'static str, found: impl Into<String>) -> Check {
        Check { area, name, level: Level::Ok, found: found.into(), hint: None }
    }

    /// Makes this a failed check with a remedy.
    fn bad(self, level: Level, hint: impl Into<String>) -> Check {
        Check { level, hint: Some(hint.into()), ..self }
    }
}

pub(super) fn run(args: &cli::Doctor) -> anyhow::Result<Exit> {
    let mut checks = kernel::checks();
    checks.extend(limits::checks());
    checks.extend(tool::checks());
    checks.extend(self_test::checks()?);
    let is_usable = checks.iter().all(|it| it.level != Level::Problem);
    let mut out = terminal::colored_stdout();
    match args.format {
        Format::Text => text(&mut out, &checks, is_usable)?,
        Format::Json => {
            let json = json!({ "usable": is_usable, "checks": checks });
            writeln!(out, "{}", escape_json(&format!("{json:#}")))?;
        }
    }
    Ok(if is_usable { Exit::Clean } else { Exit::Impossible })
}

fn text(out: &mut impl Write, checks: &[Check], is_usable: bool) -> io::Result<()> {
    let mut area = "";
    for check in checks {
        if check.area != area {
            area = check.area;
            writeln!(out, "{area}")?;
        }
        let (word, color) = match check.level {
            Level::Ok => ("ok", AnsiColor::Green),
            Level::Warning => ("warning", AnsiColor::Yellow),
            Level::Problem => ("problem", AnsiColor::Red),
        };
        let style = Style::new().fg_color(Some(color.into()));
        writeln!(out, "  {style}{word:8}{style:#} {:20} {}", check.name, check.found)?;
        if let Some(hint) = &check.hint {
            writeln!(out, "           hint: {hint}")?;
        }
    }
    let warnings = checks.iter().filter(|it| it.level == Level::Warning).count();
    let verdict = if is_usable { "norn can be used" } else { "norn cannot be used" };
    match warnings {
        0 => writeln!(out, "{verdict}"),
        1 => writeln!(out, "{verdict}; 1 warning"),
        _ => writeln!(out, "{verdict}; {warnings} warnings"),
    }
}
