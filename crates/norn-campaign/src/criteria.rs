//! Decides whether a run passed.

use std::{fs, path::Path};

use norn_replay::{Check, CompletedRun, ReplayError, RunFolder, failure_site, story};
use regex::bytes::Regex;

use crate::{Failure, RunOutcome};

/// What counts as a failure besides what any program must not do: crash, hang up in a deadlock, or end
/// with an error status.
#[derive(Clone, Debug, Default)]
pub struct Criteria {
    /// A command of the user that checks the output.
    pub check: Option<Check>,
    /// A pattern in the output of failing runs.
    pub fail_regex: Option<Regex>,
    /// The expected standard output.
    pub expected_output: Option<Vec<u8>>,
}

impl Criteria {
    /// Judges a run whose output is in a folder.
    pub(crate) fn judge(
        &self,
        run: &mut CompletedRun,
        folder: &RunFolder,
    ) -> Result<RunOutcome, ReplayError> {
        let (stdout, stderr) = (folder.stdout(), folder.stderr());
        if let Some(check) = &self.check {
            let before = std::mem::take(&mut run.consequence);
            run.consequence = check.apply(&run.recording, before, &stdout)?;
        }
        if run.consequence.is_unfinished() {
            return Ok(RunOutcome::Unfinished);
        }
        if run.consequence.is_failure() {
            let story = story::story(run);
            let site = failure_site(run, story.as_ref());
            return Ok(RunOutcome::Failed(Failure::new(&run.consequence, site)));
        }
        let read = |path: &Path| {
            let failed = |source| ReplayError::Scratch { path: path.to_owned(), source };
            fs::read(path).map_err(failed)
        };
        if let Some(regex) = &self.fail_regex {
            for path in [&stdout, &stderr] {
                if let Some(found) = regex.find(&read(path)?) {
                    return Ok(RunOutcome::Failed(Failure::of_match(
                        regex.as_str(),
                        found.as_bytes(),
                    )));
                }
            }
        }
        if let Some(expected) = &self.expected_output
            && read(&stdout)? != *expected
        {
            let failure = Failure::of_criterion("the output differs from that of the first run");
            return Ok(RunOutcome::Failed(failure));
        }
        Ok(RunOutcome::Passed)
    }
}
