//! The lines that `cargo norn test` prints: one for each test, and a summary.

use std::{fmt, time::Duration};

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// Nothing harmful was found.
    Pass,
    /// Something harmful was found.
    Fail,
    /// The hunt was not possible.
    Error,
    /// It is marked with `#[ignore]`, or the options leave it out.
    Skip,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Pass => "PASS",
            Outcome::Fail => "FAIL",
            Outcome::Error => "ERROR",
            Outcome::Skip => "SKIP",
        }
    }
}

/// One line: the outcome, the time, the executions, the program and the test.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) outcome: Outcome,
    pub(super) time: Duration,
    pub(super) executions: usize,
    /// The program and the name of the test.
    pub(super) title: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outcome, title) = (self.outcome.name(), &self.title);
        if self.outcome == Outcome::Skip {
            return write!(f, "{outcome:>12} {:23} {title}", "");
        }
        let (seconds, executions) = (self.time.as_secs_f64(), self.executions);
        write!(f, "{outcome:>12} [{seconds:>8.3}s] {executions:>4} runs  {title}")
    }
}

/// The last line: `Summary [   1.234s] 5 tests hunted in: 4 passed, 1 failed, 2 skipped`.
pub(super) fn summary(rows: &[Row], time: Duration) -> String {
    let count = |outcome| rows.iter().filter(|it| it.outcome == outcome).count();
    let hunted = rows.len() - count(Outcome::Skip);
    let (tests, seconds) = (if hunted == 1 { "test" } else { "tests" }, time.as_secs_f64());
    let executions: usize = rows.iter().map(|it| it.executions).sum();
    let counts = [
        (count(Outcome::Pass), "passed"),
        (count(Outcome::Fail), "failed"),
        (count(Outcome::Error), "not hunted in"),
        (count(Outcome::Skip), "skipped"),
    ];
    let shown = counts.iter().filter(|it| it.0 > 0 || it.1 == "passed");
    let shown: Vec<_> = shown.map(|(number, name)| format!("{number} {name}")).collect();
    let shown = shown.join(", ");
    format!("{:>12} [{seconds:>8.3}s] {hunted} {tests}, {executions} runs: {shown}", "Summary")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_a_line_and_all_have_a_summary() {
        let row = |outcome, executions, title: &str| Row {
            outcome,
            time: Duration::from_millis(1234),
            executions,
            title: title.to_owned(),
        };
        let rows = [
            row(Outcome::Pass, 12, "bank teller::pays"),
            row(Outcome::Fail, 3, "bank::races transfer"),
            row(Outcome::Skip, 0, "bank slow"),
        ];
        let mut text: Vec<_> = rows.iter().map(ToString::to_string).collect();
        text.push(summary(&rows, Duration::from_secs(3)));
        insta::assert_snapshot!(text.join("\n"), @r"
                PASS [   1.234s]   12 runs  bank teller::pays
                FAIL [   1.234s]    3 runs  bank::races transfer
                SKIP                         bank slow
             Summary [   3.000s] 2 tests, 15 runs: 1 passed, 1 failed, 1 skipped
        ");
    }
}
