//! The programs that a build makes, and how cargo would run them.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use cargo_metadata::{Artifact, BuildScript, Message, Metadata, Package, PackageId, TargetKind};

use crate::{CargoError, Toolchain, is_for_host};

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its path.
    pub path: PathBuf,
    /// The name of its package.
    pub package: String,
    /// Its name: of the binary, the example, the test.
    pub name: String,
    /// The option of cargo that selects it: `--bin`, `--lib`.
    pub option: &'static str,
    /// The folder of its package, in which cargo runs tests.
    pub folder: PathBuf,
    /// Variables that cargo sets when it runs the program.
    pub environment: Vec<(String, OsString)>,
    /// Options for it in the manifest: `package.metadata.norn`.
    pub(crate) settings: serde_json::Value,
    /// Whether it is the one that `cargo run` runs by default.
    is_default: bool,
}

impl Program {
    /// What `cargo run` would choose: the only program, or else the default of the package.
    pub fn only(programs: &[Program]) -> Result<&Program, CargoError> {
        let mut defaults = programs.iter().filter(|it| it.is_default);
        match (programs, defaults.next(), defaults.next()) {
            ([only], _, _) | (_, Some(only), None) => Ok(only),
            _ => {
                let names = programs.iter().map(Program::selection).collect();
                Err(CargoError::Choice { names })
            }
        }
    }

    /// How the program is called in lists: its package and, where that has several, its name.
    pub fn title(&self) -> String {
        match self.option {
            "--lib" => self.package.clone(),
            "--bin" => format!("{}::bin/{}", self.package, self.name),
            "--example" => format!("{}::example/{}", self.package, self.name),
            "--bench" => format!("{}::bench/{}", self.package, self.name),
            _ => format!("{}::{}", self.package, self.name),
        }
    }

    fn selection(&self) -> String {
        format!("-p {} {} {}", self.package, self.option, self.name)
    }
}

/// The programs and libraries that the messages of a build name.
#[derive(Debug)]
pub(crate) struct Collection<'a> {
    packages: BTreeMap<&'a PackageId, &'a Package>,
    tests: bool,
    artifacts: Vec<Artifact>,
    libraries: BTreeSet<PathBuf>,
    outputs: BTreeMap<PackageId, PathBuf>,
}

impl<'a> Collection<'a> {
    pub(crate) fn new(metadata: &'a Metadata, tests: bool) -> Self {
        let packages = metadata.packages.iter().map(|it| (&it.id, it)).collect();
        let (artifacts, libraries) = (Vec::new(), BTreeSet::new());
        Self { packages, tests, artifacts, libraries, outputs: BTreeMap::new() }
    }

    pub(crate) fn read(&mut self, message: &Message) {
        match message {
            Message::CompilerArtifact(it) if it.executable.is_some() => {
                self.artifacts.push(it.clone());
            }
            Message::BuildScriptExecuted(it) => self.script(it),
            _ => {}
        }
    }

    /// A build script may say where the libraries are that it links: `native=/folder`.
    fn script(&mut self, script: &BuildScript) {
        let folder = |it: &str| PathBuf::from(it.split_once('=').map_or(it, |it| it.1));
        self.libraries.extend(script.linked_paths.iter().map(|it| folder(it.as_str())));
        self.outputs.insert(script.package_id.clone(), script.out_dir.clone().into());
    }

    /// Tests are built together with the binaries that they may run, which are not tests themselves. The tests
    /// of procedural macros run on the host, without hooks, and are left out.
    pub(crate) fn programs(self, toolchain: &Toolchain) -> Vec<Program> {
        let wanted = |it: &&Artifact| {
            let path = it.executable.as_ref().map(|it| it.as_std_path());
            it.profile.test == self.tests && path.is_some_and(|it| !is_for_host(it))
        };
        let programs = self.artifacts.iter().filter(wanted);
        programs.filter_map(|it| self.program(it, toolchain)).collect()
    }

    fn program(&self, artifact: &Artifact, toolchain: &Toolchain) -> Option<Program> {
        let package = self.packages.get(&artifact.package_id)?;
        let path = artifact.executable.clone()?.into_std_path_buf();
        let option = option(artifact.target.kind.first()?)?;
        let mut environment = package_variables(package);
        environment.push(("CARGO".to_owned(), toolchain.cargo.clone()));
        if let Some(folder) = self.outputs.get(&package.id) {
            environment.push(("OUT_DIR".to_owned(), folder.into()));
        }
        let own = path.ancestors().skip(1).take(2).map(Path::to_owned);
        let inherited = toolchain.library_path.iter().flat_map(env::split_paths);
        let folders = self.libraries.iter().cloned().chain(own).chain(inherited);
        let library_path = env::join_paths(folders).ok()?;
        environment.push(("LD_LIBRARY_PATH".to_owned(), library_path));
        Some(Program {
            path,
            package: package.name.to_string(),
            name: artifact.target.name.clone(),
            option,
            folder: package.manifest_path.parent()?.to_owned().into_std_path_buf(),
            environment,
            is_default: option == "--bin"
                && package.default_run.as_ref() == Some(&artifact.target.name),
            settings: package.metadata.get("norn").cloned().unwrap_or_default(),
        })
    }
}

/// The option of cargo that selects a target.
fn option(kind: &TargetKind) -> Option<&'static str> {
    Some(match kind {
        TargetKind::Bin => "--bin",
        TargetKind::Example => "--example",
        TargetKind::Test => "--test",
        TargetKind::Bench => "--bench",
        TargetKind::CustomBuild => return None,
        _ => "--lib",
    })
}

/// Variables about a package that cargo sets for the programs that it runs.
fn package_variables(package: &Package) -> Vec<(String, OsString)> {
    let version = &package.version;
    let folder = package.manifest_path.parent().map(ToString::to_string).unwrap_or_default();
    let variables = [
        ("CARGO_MANIFEST_DIR", folder),
        ("CARGO_MANIFEST_PATH", package.manifest_path.to_string()),
        ("CARGO_PKG_NAME", package.name.to_string()),
        ("CARGO_PKG_VERSION", version.to_string()),
        ("CARGO_PKG_VERSION_MAJOR", version.major.to_string()),
        ("CARGO_PKG_VERSION_MINOR", version.minor.to_string()),
        ("CARGO_PKG_VERSION_PATCH", version.patch.to_string()),
        ("CARGO_PKG_VERSION_PRE", version.pre.to_string()),
        ("CARGO_PKG_AUTHORS", package.authors.join(":")),
        ("CARGO_PKG_DESCRIPTION", package.description.clone().unwrap_or_default()),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
