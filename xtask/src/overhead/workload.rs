//! The programs that are measured, each with two threads.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

use crate::{
    norn::Norn,
    overhead::{column::Column, run_to},
    realworld::pbzip2,
    toolchain::Toolchain,
    workspace,
};

/// A program and how much work to give it.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) name: &'static str,
    source: Source,
    /// The size of its input in a full and in a quick run.
    size: [u32; 2],
}

#[derive(Debug)]
enum Source {
    /// A file of `subjects/bench`, which takes its size as its argument.
    Bench,
    /// The parallel compressor with its library compiled in; the size is that of its input.
    Pbzip2,
}

impl Workload {
    pub(super) const ALL: [Workload; 7] = [
        bench("mutex_counter", [5_000_000, 100_000]),
        bench("memory_kernel", [400, 100]),
        bench("lock_queue", [500_000, 20_000]),
        bench("hash_mix", [2_000_000, 50_000]),
        bench("merge_sort", [1_500_000, 50_000]),
        bench("atomic_bins", [10_000_000, 100_000]),
        Workload { name: "pbzip2", source: Source::Pbzip2, size: [2_000_000, 300_000] },
    ];

    /// Builds it in every way that is needed.
    pub(super) fn prepare(
        &self,
        norn: &Norn,
        folder: &Path,
        quick: bool,
        skipped: &BTreeSet<Column>,
    ) -> Result<Subject> {
        let size = self.size[usize::from(quick)];
        let mut toolchains = vec![Toolchain::native(), Toolchain::norn(norn)];
        if !skipped.contains(&Column::Libtsan) {
            toolchains.push(Toolchain::libtsan());
        }
        let programs = toolchains.iter().map(|it| self.build(it, folder)).collect::<Result<_>>()?;
        let (arguments, packed) = self.arguments(folder, size)?;
        Ok(Subject { programs, arguments, packed, expected: folder.join("expected") })
    }

    fn build(&self, toolchain: &Toolchain, folder: &Path) -> Result<PathBuf> {
        match self.source {
            Source::Bench => {
                let file = format!("subjects/bench/{}.c", self.name);
                let program = folder.join(format!("{}.{}", self.name, toolchain.name));
                toolchain.compile(&workspace::root().join(file), &program)?;
                Ok(program)
            }
            Source::Pbzip2 => pbzip2::build(toolchain),
        }
    }

    /// The arguments, and the file that the output is the packed form of.
    fn arguments(&self, folder: &Path, size: u32) -> Result<(Vec<String>, Option<PathBuf>)> {
        match self.source {
            Source::Bench => Ok((vec![size.to_string()], None)),
            Source::Pbzip2 => {
                let input = folder.join("input.txt");
                pbzip2::write_text(&input, size as usize)?;
                let mut arguments = pbzip2::ARGUMENTS.map(str::to_owned).to_vec();
                arguments.push(input.display().to_string());
                Ok((arguments, Some(input)))
            }
        }
    }
}

const fn bench(name: &'static str, size: [u32; 2]) -> Workload {
    Workload { name, source: Source::Bench, size }
}

/// A workload that is built.
#[derive(Debug)]
pub(super) struct Subject {
    /// Native, for Norn, and with libtsan unless there is none.
    programs: Vec<PathBuf>,
    arguments: Vec<String>,
    packed: Option<PathBuf>,
    /// Where the native run's output is kept.
    expected: PathBuf,
}

impl Subject {
    pub(super) fn native(&self) -> Command {
        self.command(0)
    }

    pub(super) fn norn(&self) -> Command {
        self.command(1)
    }

    pub(super) fn libtsan(&self) -> Command {
        self.command(2)
    }

    fn command(&self, way: usize) -> Command {
        let mut command = Command::new(&self.programs[way]);
        command.args(&self.arguments);
        command
    }

    /// The command as it is shown to people, without folders.
    pub(super) fn shown(&self) -> String {
        let name = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        let program = name(&self.programs[0].display().to_string());
        let program = program.trim_end_matches(".native").to_owned();
        let words = self.arguments.iter().map(|it| name(it));
        std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// The output must be the native run's, and the native run's must be right.
    pub(super) fn check(&self, answer: &Path, column: Column) -> Result<()> {
        if column == Column::Native {
            fs::copy(answer, &self.expected)?;
            return self.unpack(answer);
        }
        ensure!(fs::read(answer)? == fs::read(&self.expected)?, "its output differs from native");
        Ok(())
    }

    fn unpack(&self, answer: &Path) -> Result<()> {
        let Some(input) = &self.packed else { return Ok(()) };
        let unpacked = answer.with_extension("unpacked");
        run_to(Command::new("bzip2").arg("-dc").arg(answer), &unpacked)?;
        ensure!(fs::read(unpacked)? == fs::read(input)?, "unpacked, it is not the input");
        Ok(())
    }
}
