//! `norn property`: lints, lists and prints properties, without a program.

use std::io::Write as _;

use anyhow::Context as _;

use crate::{
    cli::Property,
    exit::Exit,
    property_file,
    terminal::{self, line},
};

pub(super) fn run(args: &Property) -> anyhow::Result<Exit> {
    let mut out = terminal::stdout();
    match args {
        Property::Lint { files } => {
            let mut has_errors = false;
            for file in files {
                let path = file.to_string_lossy();
                match property_file::parse(&path)? {
                    Some(file) => {
                        let names = file.properties.iter().map(norn_property::Property::name);
                        let names = names.collect::<Vec<_>>().join(", ");
                        line(&mut out, format_args!("{path}: {names}"))?;
                    }
                    None => has_errors = true,
                }
            }
            Ok(if has_errors { Exit::Error } else { Exit::Clean })
        }
        Property::List => {
            for (name, text) in property_file::BUILT_IN {
                writeln!(out, "{name:28} {}", summary(text))?;
            }
            Ok(Exit::Clean)
        }
        Property::Show { name } => {
            let text = property_file::built_in(name).with_context(|| {
                format!("there is no built-in property `{name}`; see `norn property list`")
            })?;
            write!(out, "{text}")?;
            Ok(Exit::Clean)
        }
    }
}

/// The comment in the first line of a built-in property, which summarises it.
fn summary(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('/').trim()
}
