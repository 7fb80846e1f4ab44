//! The modes in which each workload runs.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::{
    norn::Norn,
    overhead::workload::{Size, Subject},
    toolchain::Toolchain,
};

/// One mode of running a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    /// Built and run without Norn.
    Native,
    /// Built with Norn, not recorded.
    Idle,
    /// Recorded with a per-thread order and values.
    Local,
    /// Recorded with a per-thread order, without values.
    NoValues,
    /// Recorded with a total order and values.
    Global,
    /// Patterns are collected, and nothing is recorded.
    Collect,
    /// Built with the compiler's own ThreadSanitizer.
    Libtsan,
    /// Native, on the smaller input of valgrind's tools.
    NativeSmall,
    Helgrind,
    Drd,
}

impl Column {
    /// The modes of the comparison of recorders.
    pub(super) const ALL: [Column; 9] = [
        Column::Native,
        Column::Idle,
        Column::Local,
        Column::NoValues,
        Column::Global,
        Column::Libtsan,
        Column::NativeSmall,
        Column::Helgrind,
        Column::Drd,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Column::Native => "native",
            Column::Idle => "norn, idle",
            Column::Local => "norn, local",
            Column::NoValues => "norn, local, no values",
            Column::Global => "norn, global",
            Column::Collect => "norn, collecting",
            Column::Libtsan => "libtsan",
            Column::NativeSmall => "native, smaller input",
            Column::Helgrind => "helgrind",
            Column::Drd => "drd",
        }
    }

    /// Whether it writes a trace.
    pub(super) fn records(self) -> bool {
        self == Column::Collect || self.records_events()
    }

    /// Whether it writes a trace whose events are counted.
    pub(super) fn records_events(self) -> bool {
        matches!(self, Column::Local | Column::NoValues | Column::Global)
    }

    /// The baseline: the native run on the same input.
    pub(super) fn base(self) -> Column {
        match self {
            Column::NativeSmall | Column::Helgrind | Column::Drd => Column::NativeSmall,
            _ => Column::Native,
        }
    }

    /// Valgrind's tools are so slow that they get fewer turns.
    pub(super) fn turns(self, repeat: u32) -> u32 {
        match self {
            Column::Helgrind | Column::Drd => repeat.div_ceil(3),
            _ => repeat,
        }
    }

    /// The command that runs the subject in this mode.
    pub(super) fn command(self, norn: &Norn, trace: &Path, subject: &Subject) -> Result<Command> {
        let record = |options: &[&str]| norn.record(trace, options, &subject.norn());
        Ok(match self {
            Column::Native => subject.native(Size::Full),
            Column::NativeSmall => subject.native(Size::Small),
            Column::Idle => subject.norn(),
            Column::Local => record(&["--order", "local"])?,
            Column::NoValues => record(&["--order", "local", "--no-values"])?,
            Column::Global => record(&["--order", "global"])?,
            Column::Collect => record(&["--collect"])?,
            Column::Libtsan => with_libtsan(subject),
            Column::Helgrind => under_valgrind("helgrind", subject),
            Column::Drd => under_valgrind("drd", subject),
        })
    }
}

/// Without reports and without the pause at the end, which would distort the comparison.
fn with_libtsan(subject: &Subject) -> Command {
    let mut command = subject.libtsan();
    command.env("TSAN_OPTIONS", "report_bugs=0:atexit_sleep_ms=0");
    command
}

fn under_valgrind(tool: &str, subject: &Subject) -> Command {
    let native = subject.native(Size::Small);
    let mut command = Command::new("valgrind");
    command.args(["-q", "--log-file=/dev/null"]).arg(format!("--tool={tool}"));
    command.arg(native.get_program()).args(native.get_args());
    command
}

/// Columns that cannot be measured on this system, with a hint.
pub(super) fn missing(folder: &Path) -> BTreeMap<Column, &'static str> {
    let mut missing = BTreeMap::new();
    if !has_libtsan(folder) {
        let remedy = "gcc cannot link its thread sanitizer; install the package libtsan2";
        missing.insert(Column::Libtsan, remedy);
    }
    if !has_valgrind() {
        for column in [Column::Helgrind, Column::Drd] {
            missing.insert(column, "valgrind is not installed; install the package valgrind");
        }
    }
    missing
}

fn has_libtsan(folder: &Path) -> bool {
    let source = folder.join("empty.c");
    let written = fs::write(&source, "int main(void) { return 0; }\n");
    written.is_ok() && Toolchain::libtsan().compile(&source, &folder.join("empty")).is_ok()
}

fn has_valgrind() -> bool {
    let mut command = Command::new("valgrind");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}
