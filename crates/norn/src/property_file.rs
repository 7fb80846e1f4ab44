//! Property files: the built-in ones, and those of the user.

use std::{io::Write as _, path::Path};

use anyhow::Context as _;
use norn_property::{File, Property};

use crate::{terminal, text_file};

/// Maximum size of a property file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The built-in properties: name and text.
pub(crate) const BUILT_IN: [(&str, &str); 10] = [
    ("authenticate-before-use", include_str!("../../../properties/authenticate-before-use.norn")),
    ("check-then-act", include_str!("../../../properties/check-then-act.norn")),
    ("data-race", include_str!("../../../properties/data-race.norn")),
    ("init-before-use", include_str!("../../../properties/init-before-use.norn")),
    (
        "lock-held-during-callback",
        include_str!("../../../properties/lock-held-during-callback.norn"),
    ),
    ("null-dereference", include_str!("../../../properties/null-dereference.norn")),
    ("open-write-close", include_str!("../../../properties/open-write-close.norn")),
    (
        "read-write-write-atomicity",
        include_str!("../../../properties/read-write-write-atomicity.norn"),
    ),
    ("unsafe-iteration", include_str!("../../../properties/unsafe-iteration.norn")),
    ("use-after-close", include_str!("../../../properties/use-after-close.norn")),
];

/// The text of a built-in property.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Loads the properties of all given files and built-in names. Prints the errors of all files; none if
/// there is any error.
pub(crate) fn load(names: &[String]) -> anyhow::Result<Option<Vec<Property>>> {
    let mut properties = Vec::new();
    let mut has_errors = false;
    for name in names {
        match parse(name)? {
            Some(file) => properties.extend(file.properties),
            None => has_errors = true,
        }
    }
    Ok(Some(properties).filter(|_| !has_errors))
}

/// Parses one file and prints its diagnostics. None if it has errors.
pub(crate) fn parse(name: &str) -> anyhow::Result<Option<File>> {
    // A file of the user takes precedence over a built-in property of the same name.
    let text = match built_in(name).filter(|_| !Path::new(name).exists()) {
        Some(text) => text.to_owned(),
        None => text_file::read(Path::new(name), MAX_SIZE).with_context(|| {
            format!("cannot read `{name}`, and there is no built-in property of that name")
        })?,
    };
    let (file, diagnostics) = match File::parse(&text) {
        Ok(file) => (Some(file.clone()), file.warnings),
        Err(errors) => (None, errors),
    };
    let mut err = terminal::stderr();
    for it in &diagnostics {
        writeln!(err, "{}", it.show(name, &text))?;
    }
    Ok(file)
}
