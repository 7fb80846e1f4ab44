//! Compiles `native/total.c` as the crate `cc` does: with the compiler that a variable names for the target.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=native/total.c");
    let target = env::var("TARGET").unwrap().replace('-', "_");
    let compiler = env::var(format!("CC_{target}")).unwrap_or_else(|_| "cc".to_owned());
    let folder = env::var("OUT_DIR").unwrap();
    let object = Path::new(&folder).join("total.o");
    let mut compile = Command::new(compiler);
    compile.args(["-g", "-O1", "-fPIC", "-c", "native/total.c", "-o"]).arg(&object);
    assert!(compile.status().unwrap().success());
    let mut archive = Command::new("ar");
    archive.arg("crs").arg(Path::new(&folder).join("libtotal.a")).arg(&object);
    assert!(archive.status().unwrap().success());
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=static=total");
}
