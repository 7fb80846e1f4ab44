//! `norn property`: rules themselves, without a program.

use std::io::Write as _;

use anyhow::Context as _;

use crate::{cli::Property, exit::Exit, rules};

pub(super) fn run(args: &Property) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout().lock();
    match args {
        Property::Lint { files } => {
            let mut wrong = false;
            for file in files {
                let name = file.to_string_lossy();
                match rules::parse(&name)? {
                    Ok(file) => {
                        let names = file.rules.iter().map(norn_property::Rule::name);
                        writeln!(out, "{name}: {}", names.collect::<Vec<_>>().join(", "))?;
                    }
                    Err(()) => wrong = true,
                }
            }
            Ok(if wrong { Exit::Error } else { Exit::Clean })
        }
        Property::List => {
            for (name, text) in rules::SHIPPED {
                writeln!(out, "{name:28} {}", first_comment(text))?;
            }
            Ok(Exit::Clean)
        }
        Property::Show { name } => {
            let text = rules::shipped(name);
            let text = text.with_context(|| {
                format!("no rule `{name}` comes with norn; see `norn property list`")
            })?;
            write!(out, "{text}")?;
            Ok(Exit::Clean)
        }
    }
}

/// What the first line says.
fn first_comment(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('/').trim()
}
