//! The measured programs, each with two threads.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
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
    workspace::{self, same_bytes},
};

/// A program and its input sizes.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) name: &'static str,
    source: Source,
    sizes: Sizes,
}

/// The input sizes: in a full run, for valgrind's tools in a full run (they would take minutes
/// otherwise), and for all tools in a quick run.
#[derive(Debug)]
struct Sizes {
    full: u32,
    small: u32,
    quick: u32,
}

/// Selects one of a run's two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Full,
    Small,
}

#[derive(Debug)]
enum Source {
    /// A file of `subjects/bench`, which takes its size as an argument.
    Bench,
    /// A file of `subjects/bench_rust`, in the same way.
    Rust,
    /// The parallel compressor with its library compiled in; the size is that of its input.
    Pbzip2,
}

impl Workload {
    pub(super) const ALL: [Workload; 8] = [
        bench("mutex_counter", Sizes { full: 5_000_000, small: 300_000, quick: 100_000 }),
        bench("memory_kernel", Sizes { full: 500, small: 300, quick: 100 }),
        bench("lock_queue", Sizes { full: 500_000, small: 100_000, quick: 20_000 }),
        bench("hash_mix", Sizes { full: 2_000_000, small: 200_000, quick: 50_000 }),
        bench("merge_sort", Sizes { full: 1_500_000, small: 500_000, quick: 50_000 }),
        bench("random_sort", Sizes { full: 2_000_000, small: 500_000, quick: 50_000 }),
        bench("atomic_bins", Sizes { full: 10_000_000, small: 2_000_000, quick: 100_000 }),
        Workload {
            name: "pbzip2",
            source: Source::Pbzip2,
            sizes: Sizes { full: 2_000_000, small: 1_000_000, quick: 300_000 },
        },
    ];

    /// Those in Rust. Valgrind's tools are not used with them.
    pub(super) const RUST: [Workload; 6] = [
        rust("mutex_counter", 10_000_000, 100_000),
        rust("atomic_bins", 20_000_000, 100_000),
        rust("channel_queue", 2_000_000, 20_000),
        rust("matrix_product", 700, 100),
        rust("merge_sort", 3_000_000, 50_000),
        rust("word_count", 2_000_000, 20_000),
    ];

    /// Builds it in every required way.
    pub(super) fn prepare(
        &self,
        norn: &Norn,
        folder: &Path,
        quick: bool,
        skipped: &BTreeSet<Column>,
    ) -> Result<Subject> {
        let mut toolchains = vec![Toolchain::native(), Toolchain::norn(norn)];
        if !skipped.contains(&Column::Libtsan) {
            toolchains.push(Toolchain::libtsan());
        }
        let programs = toolchains.iter().map(|it| self.build(it, folder)).collect::<Result<_>>()?;
        let Sizes { full, small, quick: least } = self.sizes;
        let full = self.input(folder, if quick { least } else { full })?;
        let small = self.input(folder, if quick { least } else { small })?;
        Ok(Subject { programs, full, small })
    }

    fn build(&self, toolchain: &Toolchain, folder: &Path) -> Result<PathBuf> {
        match self.source {
            Source::Bench => {
                let file = format!("subjects/bench/{}.c", self.name);
                let program = folder.join(format!("{}.{}", self.name, toolchain.name));
                toolchain.compile(&workspace::root().join(file), &program)?;
                Ok(program)
            }
            Source::Rust => {
                let file = format!("subjects/bench_rust/{}.rs", self.name);
                let program = folder.join(format!("{}_rust.{}", self.name, toolchain.name));
                toolchain.compile_rust(&workspace::root().join(file), &program)?;
                Ok(program)
            }
            Source::Pbzip2 => pbzip2::build(toolchain),
        }
    }

    fn input(&self, folder: &Path, size: u32) -> Result<Input> {
        let expected = folder.join(format!("expected-{size}"));
        match self.source {
            Source::Bench | Source::Rust => {
                Ok(Input { arguments: vec![size.to_string()], packed: None, expected })
            }
            Source::Pbzip2 => {
                let file = folder.join(format!("input-{size}.txt"));
                pbzip2::write_text(&file, size as usize)?;
                let mut arguments = pbzip2::ARGUMENTS.map(str::to_owned).to_vec();
                arguments.push(file.display().to_string());
                Ok(Input { arguments, packed: Some(file), expected })
            }
        }
    }
}

const fn bench(name: &'static str, sizes: Sizes) -> Workload {
    Workload { name, source: Source::Bench, sizes }
}

const fn rust(name: &'static str, full: u32, quick: u32) -> Workload {
    Workload { name, source: Source::Rust, sizes: Sizes { full, small: quick, quick } }
}

/// The input of a workload, and its expected output.
#[derive(Debug)]
struct Input {
    arguments: Vec<String>,
    /// The file whose compressed form is the output.
    packed: Option<PathBuf>,
    /// The file with the native run's output.
    expected: PathBuf,
}

/// A built workload.
#[derive(Debug)]
pub(super) struct Subject {
    /// Native, for Norn, and with libtsan if it is available.
    programs: Vec<PathBuf>,
    full: Input,
    small: Input,
}

impl Subject {
    pub(super) fn native(&self, size: Size) -> Command {
        let input = match size {
            Size::Full => &self.full,
            Size::Small => &self.small,
        };
        command(&self.programs[0], input)
    }

    pub(super) fn norn(&self) -> Command {
        command(&self.programs[1], &self.full)
    }

    pub(super) fn libtsan(&self) -> Command {
        command(&self.programs[2], &self.full)
    }

    /// The command for display, without folders.
    pub(super) fn shown(&self, size: Size) -> String {
        let name = |text: &OsStr| Path::new(text).file_name().map(|it| it.display().to_string());
        let native = self.native(size);
        let words = std::iter::once(native.get_program()).chain(native.get_args());
        let text = words.filter_map(name).collect::<Vec<_>>().join(" ");
        text.replacen(".native", "", 1)
    }

    /// The output must equal the native run's, and the native run's must be correct.
    pub(super) fn check(&self, answer: &Path, column: Column) -> Result<()> {
        let input = if column.base() == Column::Native { &self.full } else { &self.small };
        if column == column.base() {
            fs::copy(answer, &input.expected)?;
            return unpack(input, answer);
        }
        ensure!(same_bytes(answer, &input.expected)?, "its output differs from native");
        Ok(())
    }
}

fn command(program: &Path, input: &Input) -> Command {
    let mut command = Command::new(program);
    command.args(&input.arguments);
    command
}

fn unpack(input: &Input, answer: &Path) -> Result<()> {
    let Some(file) = &input.packed else { return Ok(()) };
    let unpacked = answer.with_extension("unpacked");
    run_to(Command::new("bzip2").arg("-dc").arg(answer), &unpacked)?;
    ensure!(same_bytes(&unpacked, file)?, "unpacked, it is not the input");
    Ok(())
}
