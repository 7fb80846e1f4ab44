//! Rules that come with norn, and rules from files.

use std::{fs, path::Path};

use anyhow::Context as _;
use norn_property::{File, Mistake, Rule};

/// The rules that come with norn: name and text.
pub(crate) const SHIPPED: [(&str, &str); 10] = [
    ("authenticate-before-use", include_str!("../../../rules/authenticate-before-use.norn")),
    ("check-then-act", include_str!("../../../rules/check-then-act.norn")),
    ("data-race", include_str!("../../../rules/data-race.norn")),
    ("init-before-use", include_str!("../../../rules/init-before-use.norn")),
    ("lock-held-during-callback", include_str!("../../../rules/lock-held-during-callback.norn")),
    ("null-dereference", include_str!("../../../rules/null-dereference.norn")),
    ("open-write-close", include_str!("../../../rules/open-write-close.norn")),
    ("read-write-write-atomicity", include_str!("../../../rules/read-write-write-atomicity.norn")),
    ("unsafe-iteration", include_str!("../../../rules/unsafe-iteration.norn")),
    ("use-after-close", include_str!("../../../rules/use-after-close.norn")),
];

/// The text of a rule that comes with norn.
pub(crate) fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// The rules of files, or of those that come with norn. If one is wrong, that is said, and there
/// are none.
pub(crate) fn load(names: &[String]) -> anyhow::Result<Option<Vec<Rule>>> {
    let mut rules = Vec::new();
    let mut wrong = false;
    for name in names {
        match parse(name)? {
            Ok(file) => rules.extend(file.rules),
            Err(()) => wrong = true,
        }
    }
    Ok(Some(rules).filter(|_| !wrong))
}

/// Reads a file, and says what is wrong with it.
pub(crate) fn parse(name: &str) -> anyhow::Result<Result<File, ()>> {
    let text = match shipped(name).filter(|_| !Path::new(name).exists()) {
        Some(text) => text.to_owned(),
        None => fs::read_to_string(name).with_context(|| {
            format!("cannot read `{name}`, and no rule that comes with norn has this name")
        })?,
    };
    let (file, mistakes) = match File::parse(&text) {
        Ok(file) => (Ok(file.clone()), file.warnings),
        Err(mistakes) => (Err(()), mistakes),
    };
    let mut err = anstream::stderr().lock();
    for mistake in &mistakes {
        say(&mut err, mistake, name, &text)?;
    }
    Ok(file)
}

fn say(
    err: &mut impl std::io::Write,
    mistake: &Mistake,
    name: &str,
    text: &str,
) -> std::io::Result<()> {
    writeln!(err, "{}", mistake.show(name, text))
}
