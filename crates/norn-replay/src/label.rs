//! Labels for the modules of a clip.

use std::{collections::BTreeMap, path::Path};

use norn_binary::Module;

use crate::{ModuleRef, PROGRAM, Scene, code};

/// The modules that were needed so far, by their labels.
#[derive(Debug)]
pub(crate) struct Labels<'a> {
    scene: &'a Scene,
    program: Option<&'a Path>,
    known: BTreeMap<&'a Path, String>,
}

impl<'a> Labels<'a> {
    pub(crate) fn new(scene: &'a Scene) -> Labels<'a> {
        let run = scene.trace.run();
        let started = code::program(&run.command, Some(Path::new(&run.directory))).ok();
        let mut modules = scene.trace.modules().iter().map(|it| &*it.path);
        // A script starts another program than itself: the first that was mapped.
        let first = modules.clone().next();
        let program = modules.find(|it| started.as_deref() == Some(it)).or(first);
        Labels { scene, program, known: BTreeMap::new() }
    }

    /// The label of the module of a place, and how far it is from the module's lowest page.
    pub(crate) fn place(&mut self, pc: u64) -> Option<(String, u64)> {
        let modules = self.scene.trace.modules().iter().rev();
        let module = modules.into_iter().find(|it| (it.start..it.end).contains(&pc))?;
        Some((self.label(&module.path), pc - module.start))
    }

    fn label(&mut self, path: &'a Path) -> String {
        if let Some(label) = self.known.get(path) {
            return label.clone();
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let more = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(more);
        let taken = |it: &String| it == PROGRAM || self.known.values().any(|known| known == it);
        let label = match self.program {
            Some(program) if program == path => PROGRAM.to_owned(),
            _ => names.find(|it| !taken(it)).unwrap_or_default(),
        };
        self.known.insert(path, label.clone());
        label
    }

    /// The modules that have labels now.
    pub(crate) fn listed(&self) -> BTreeMap<String, ModuleRef> {
        self.known.iter().map(|(path, label)| (label.clone(), self.listing(path))).collect()
    }

    /// The program itself.
    pub(crate) fn program(&self) -> ModuleRef {
        self.program.map(|it| self.listing(it)).unwrap_or_default()
    }

    fn listing(&self, path: &Path) -> ModuleRef {
        let build = Module::open(path).ok().map(|it| it.identity());
        let run = self.scene.trace.run();
        let started = code::program(&run.command, Some(Path::new(&run.directory))).ok();
        let path = (started.as_deref() != Some(path)).then(|| path.to_owned());
        ModuleRef { path, build }
    }
}
