//! `norn sites`: lists where a program can visibly fail, and the shared reads that decide whether it does.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
};

use norn_binary::{Instrumented, Module};
use norn_model::{
    CriticalRead, FunctionPattern, PotentialFailure, PotentialFailureKind, printable,
};
use norn_native::find_program;
use norn_report::writer::escape_json;
use norn_sites::{Cache, FailureSites, Options};
use serde::Serialize;

use super::cc;
use crate::{
    cli::{Format, Sites},
    exit::Exit,
    terminal::{self, line},
};

/// The version of the JSON format.
const VERSION: u32 = 1;

/// The folder in which the results of searches are kept.
pub(crate) fn cache() -> PathBuf {
    cc::cache().join("sites")
}

pub(super) fn run(args: &Sites) -> anyhow::Result<Exit> {
    let path = find_program(args.program.as_os_str(), None)?;
    let module = Module::open(&path)?;
    if module.instrumented() == Instrumented::No {
        let text = format!("norn: {} has no instrumented code", path.display());
        let mut err = terminal::stderr();
        line(&mut err, text)?;
        line(&mut err, "hint: build it with `norn cc` or `norn build`")?;
        return Ok(Exit::Impossible);
    }
    let options = options(args);
    let FailureSites { sites, .. } = if args.no_cache {
        FailureSites::find(&module, &options)
    } else {
        Cache::new(cache()).failure_sites(&module, &options)
    };
    let mut out = terminal::stdout();
    match args.format {
        Format::Text => text(&mut out, &groups(&module, &sites))?,
        Format::Json => {
            let list = List {
                version: VERSION,
                program: path.to_string_lossy().into_owned(),
                build: module.identity(),
                distance: args.distance,
                sites: sites.iter().map(|it| Site::new(&module, it)).collect(),
            };
            writeln!(out, "{}", escape_json(&serde_json::to_string_pretty(&list)?))?;
        }
    }
    Ok(Exit::Clean)
}

fn options(args: &Sites) -> Options {
    let patterns = |it: &[String]| it.iter().map(|it| FunctionPattern::new(it)).collect();
    let mut options = Options {
        distance: args.distance,
        error_functions: patterns(&args.function),
        output_functions: patterns(&args.output_function),
        ..Options::default()
    };
    if !args.kind.is_empty() {
        options.kinds = args.kind.iter().map(|it| (*it).into()).collect();
    }
    options
}

/// A place in the source, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Place {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

impl Place {
    fn new(module: &Module, pc: u64) -> Place {
        // Addresses stand behind their instructions.
        let frame = module.frames(pc.saturating_sub(1)).into_iter().next().unwrap_or_default();
        Place {
            function: frame.function.map(|it| it.to_string()),
            file: frame.file.map(|it| it.to_string()),
            line: frame.line,
        }
    }

    /// The place as text: `function at file:line`.
    fn text(&self, pc: u64) -> String {
        let function = self.function.as_deref().unwrap_or("?");
        match (&self.file, self.line) {
            (Some(file), Some(line)) => {
                printable(&format!("{function} at {file}:{line}")).into_owned()
            }
            (Some(file), None) => printable(&format!("{function} at {file}")).into_owned(),
            (None, _) => printable(&format!("{function} at {pc:#x}")).into_owned(),
        }
    }
}

/// Failure sites by kind and place, with their reads by place: the smallest distance of each.
type Groups = BTreeMap<PotentialFailureKind, BTreeMap<(Place, String), BTreeMap<String, u32>>>;

fn groups(module: &Module, sites: &[PotentialFailure]) -> Groups {
    let mut groups = Groups::new();
    for site in sites {
        let place = Place::new(module, site.pc);
        let text = place.text(site.pc);
        let reads = groups.entry(site.kind).or_default().entry((place, text)).or_default();
        for read in &site.reads {
            let text = Place::new(module, read.pc).text(read.pc);
            let distance = reads.entry(text).or_insert(read.distance);
            *distance = read.distance.min(*distance);
        }
    }
    groups
}

fn text(out: &mut impl Write, groups: &Groups) -> io::Result<()> {
    for (kind, sites) in groups {
        writeln!(out, "{}: {}", heading(*kind), sites.len())?;
        for ((_, site), reads) in sites {
            writeln!(out, "  {site}")?;
            let mut reads: Vec<_> =
                reads.iter().map(|(place, distance)| (distance, place)).collect();
            reads.sort();
            for (distance, place) in reads {
                writeln!(out, "    distance {distance}: read in {place}")?;
            }
        }
    }
    if groups.is_empty() {
        writeln!(out, "no failure site depends on a shared read")?;
    }
    Ok(())
}

fn heading(kind: PotentialFailureKind) -> &'static str {
    match kind {
        PotentialFailureKind::Assertion => "assertions",
        PotentialFailureKind::ErrorMessage => "error messages",
        PotentialFailureKind::Output => "output",
        PotentialFailureKind::Loop => "loops",
        PotentialFailureKind::Access => "accesses",
        PotentialFailureKind::Free => "frees",
        PotentialFailureKind::Invariant => "invariants",
    }
}

/// The result as JSON.
#[derive(Debug, Serialize)]
struct List {
    version: u32,
    program: String,
    build: String,
    distance: u32,
    sites: Vec<Site>,
}

#[derive(Debug, Serialize)]
struct Site {
    kind: PotentialFailureKind,
    /// The address behind the instruction, in the file.
    address: u64,
    #[serde(flatten)]
    place: Place,
    reads: Vec<Read>,
}

#[derive(Debug, Serialize)]
struct Read {
    /// The return address of the hook's call, in the file.
    address: u64,
    #[serde(flatten)]
    place: Place,
    distance: u32,
    /// From the failure site to the read.
    chain: Vec<u64>,
}

impl Site {
    fn new(module: &Module, site: &PotentialFailure) -> Site {
        let read = |it: &CriticalRead| Read {
            address: it.pc,
            place: Place::new(module, it.pc),
            distance: it.distance,
            chain: it.chain.clone(),
        };
        let (kind, place) = (site.kind, Place::new(module, site.pc));
        Site { kind, address: site.pc, place, reads: site.reads.iter().map(read).collect() }
    }
}
