//! Labels for the modules of a clip.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use norn_frontend::{ModuleRef, PROGRAM, Symbols};

use crate::SymbolizedTrace;

/// The labels of all modules of a run, and which of them have been used.
#[derive(Debug)]
pub(crate) struct Labels<'a> {
    symbolized: &'a SymbolizedTrace,
    program: Option<&'a Path>,
    all: BTreeMap<&'a Path, String>,
    used: BTreeSet<&'a Path>,
}

impl<'a> Labels<'a> {
    pub(crate) fn new(symbolized: &'a SymbolizedTrace) -> Labels<'a> {
        let started = symbolized.symbols.program();
        let mut modules = symbolized.trace.modules().iter().map(|it| &*it.path);
        // A script starts its interpreter, which is then the first mapped module.
        let first = modules.clone().next();
        let program = modules.find(|it| started == Some(it)).or(first);
        let paths = symbolized.trace.modules().iter().map(|it| &*it.path);
        Labels { symbolized, program, all: labels(paths, program), used: BTreeSet::new() }
    }

    /// The label of the module of an address, and the offset from the module's lowest page.
    pub(crate) fn place(&mut self, pc: u64) -> Option<(String, u64)> {
        let modules = self.symbolized.trace.modules().iter().rev();
        let module = modules.into_iter().find(|it| (it.start..it.end).contains(&pc))?;
        Some((self.label(&module.path), pc - module.start))
    }

    fn label(&mut self, path: &'a Path) -> String {
        self.used.insert(path);
        self.all.get(path).cloned().unwrap_or_default()
    }

    /// Notes that the module with a label is used.
    pub(crate) fn note(&mut self, label: &str) {
        let path = self.all.iter().find(|it| it.1 == label).map(|it| *it.0);
        self.used.extend(path);
    }

    /// The modules that were used.
    pub(crate) fn listed(&self) -> BTreeMap<String, ModuleRef> {
        let used = self.all.iter().filter(|it| self.used.contains(it.0));
        used.map(|(path, label)| (label.clone(), self.listing(path))).collect()
    }

    /// The build ids of the modules that were used, if they are known.
    pub(crate) fn builds(&self) -> BTreeMap<String, String> {
        let used = self.all.iter().filter(|it| self.used.contains(it.0));
        used.filter_map(|(path, label)| Some((label.clone(), self.symbols().build(path)?)))
            .collect()
    }

    /// The build id of the module with a label, if it has one.
    pub(crate) fn build(&self, label: &str) -> Option<String> {
        self.all.iter().find(|it| it.1 == label).and_then(|it| self.symbols().build(it.0))
    }

    /// The program itself.
    pub(crate) fn program(&self) -> ModuleRef {
        self.program.map(|it| self.listing(it)).unwrap_or_default()
    }

    fn listing(&self, path: &Path) -> ModuleRef {
        let build = self.symbols().build(path);
        let path = (self.symbols().program() != Some(path)).then(|| path.into());
        ModuleRef { path, build }
    }

    fn symbols(&self) -> &'a dyn Symbols {
        &*self.symbolized.symbols
    }
}

/// A label for each module. It does not depend on which modules are used first.
fn labels<'a>(
    paths: impl Iterator<Item = &'a Path>,
    program: Option<&Path>,
) -> BTreeMap<&'a Path, String> {
    let mut labels = BTreeMap::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let more = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(more);
        let taken = |it: &String| it == PROGRAM || labels.values().any(|known| known == it);
        let label = match program {
            Some(program) if program == path => PROGRAM.to_owned(),
            _ => names.find(|it| !taken(it)).unwrap_or_default(),
        };
        labels.entry(path).or_insert(label);
    }
    labels
}
