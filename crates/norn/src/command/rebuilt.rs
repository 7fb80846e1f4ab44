//! Clips of a program that was rebuilt since: the lines that they name may have moved.

use std::{fs, io};

use norn_frontend::PROGRAM;
use norn_native::ProgramBuild;
use norn_replay::Clip;

use crate::verbosity::note;

/// Lines that are named in a message.
const NAMED: usize = 5;

/// Finds the lines that a clip names again in the current source, if the program is another build than the
/// one that the clip was made from. Of the same build, places are known exactly.
pub(super) fn find_lines_again(clip: &mut Clip) -> io::Result<()> {
    let Some(name) = clip.command.first() else { return Ok(()) };
    let directory = clip.directory.as_ref().map(|it| it.as_path().to_owned());
    let Some(build) = ProgramBuild::open(&name.0, directory.as_deref()) else { return Ok(()) };
    let known = clip.modules.get(PROGRAM).and_then(|it| it.build.as_deref());
    if known.is_none() || known == Some(build.identity()) {
        return Ok(());
    }
    let source = |name: &str| fs::read_to_string(build.source(name)?).ok();
    let moved = clip.find_lines_again(source);
    if moved.lines > 0 {
        note(format_args!(
            "norn: the program was rebuilt: {} lines of the clip have moved, and were found again by \
             their text",
            moved.lines
        ))?;
    }
    if !moved.gone.is_empty() {
        let named: Vec<_> = moved.gone.iter().take(NAMED).map(String::as_str).collect();
        let more = moved.gone.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        note(format_args!(
            "norn: the program was rebuilt: these lines of the clip are not in its source any more: \
             {}{more}",
            named.join(", ")
        ))?;
    }
    Ok(())
}
