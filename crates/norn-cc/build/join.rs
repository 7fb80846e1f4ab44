//! Joins the members of a static library into one relocatable object.
//!
//! A linker takes from a library only the members that define a symbol still undefined. The
//! runtime must be in a program in any case, and must bring its own helpers (the compiler's
//! built-in functions) without offering them to the program. So the runtime's own members are
//! linked with those of the other members that they need.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use object::read::archive::ArchiveFile;

/// The compilers to try, in order.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// Joins the runtime's own members of a library into one object in `directory`.
pub(crate) fn relocatable(library: &Path, directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let output = directory.join("joined.o");
    let members = own_members(library, directory)?;
    for compiler in COMPILERS {
        let mut link = Command::new(compiler);
        link.args(["-r", "-nostdlib", "-Wl,--strip-debug,--force-group-allocation", "-o"]);
        let Ok(status) = link.arg(&output).args(&members).arg(library).status() else { continue };
        if status.success() {
            return Ok(output);
        }
        return Err(format!("cannot join the objects of the runtime: {link:?}").into());
    }
    Err(format!("joining the objects of the runtime takes one of {}", COMPILERS.join(", ")).into())
}

/// Unpacks the members that were compiled from the runtime itself.
fn own_members(library: &Path, directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let data = fs::read(library)?;
    let mut paths = Vec::new();
    for member in ArchiveFile::parse(&*data)?.members() {
        let member = member?;
        if member.name().starts_with(b"norn_rt") {
            let path = directory.join(format!("member-{}.o", paths.len()));
            fs::write(&path, member.data(&*data)?)?;
            paths.push(path);
        }
    }
    Ok(paths)
}
