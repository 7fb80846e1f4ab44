//! Builds Norn's runtime and packs it for embedding.
//!
//! The runtime (`rt/`) is a crate outside of this workspace, since it is `no_std` and runs inside
//! the programs under test. It is built twice, for dynamically and for statically linked
//! programs, and each library becomes one relocatable object whose only global symbols are those
//! that programs must see. The build needs only cargo and a C compiler.

#[path = "build/flavour.rs"]
mod flavour;
#[path = "build/join.rs"]
mod join;
#[path = "build/symbol.rs"]
mod symbol;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use flavour::Flavour;

/// All sources of the runtime. Each path must exist: cargo reruns a build script on every build if
/// a `rerun-if-changed` path is missing.
const SOURCES: [&str; 14] = [
    "build.rs",
    "build",
    LAYOUT,
    HEADER,
    "../../Cargo.toml",
    "../../rt/.cargo",
    "../../rt/Cargo.toml",
    "../../rt/src",
    "../norn-abi/Cargo.toml",
    "../norn-abi/src",
    "../norn-sched/Cargo.toml",
    "../norn-sched/src",
    "../norn-window/Cargo.toml",
    "../norn-window/src",
];

/// The source of the other files that are installed with the runtime.
const LAYOUT: &str = "src/layout.rs";
const HEADER: &str = "src/norn.h";

fn main() -> Result<(), Box<dyn Error>> {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let dynamic = pack(Flavour::Dynamic, &here, &out)?;
    let r#static = pack(Flavour::Static, &here, &out)?;

    fs::write(out.join("exported.txt"), lines(&dynamic.exported))?;
    let wrapped = r#static.exported.iter().filter_map(|name| name.strip_prefix("__wrap_"));
    fs::write(out.join("wrapped.txt"), lines(wrapped))?;
    let rest = [fs::read(here.join(LAYOUT))?, fs::read(here.join(HEADER))?];
    let id = id(&[&dynamic.object, &r#static.object, &rest[0], &rest[1]]);
    println!("cargo::rustc-env=NORN_RUNTIME_ID={id}");
    Ok(())
}

/// Builds one flavour and writes its object to the output directory.
fn pack(flavour: Flavour, here: &Path, out: &Path) -> Result<symbol::Tidied, Box<dyn Error>> {
    let directory = out.join(flavour.name());
    let library = flavour.build(&here.join("../../rt"), &directory)?;
    let joined = join::relocatable(&library, &directory)?;
    let tidied = symbol::tidy(&fs::read(joined)?)?;
    fs::write(out.join(flavour.name()).with_extension("o"), &tidied.object)?;
    Ok(tidied)
}

fn lines<'a>(names: impl IntoIterator<Item = &'a (impl AsRef<str> + ?Sized + 'a)>) -> String {
    names.into_iter().fold(String::new(), |text, name| text + name.as_ref() + "\n")
}

/// A directory name for this runtime: the version and a hash (FNV-1a) of its whole content.
fn id(parts: &[&[u8]]) -> String {
    let bytes = parts.iter().copied().flatten();
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}-{hash:016x}", env!("CARGO_PKG_VERSION"))
}

fn variable(name: &str) -> Result<String, Box<dyn Error>> {
    env::var(name).map_err(|error| format!("{name}: {error}").into())
}
