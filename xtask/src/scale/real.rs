//! Real programs, given by their command lines.

use std::{path::Path, process::Command};

/// A program that the user built with `norn cc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealProgram {
    pub(crate) name: String,
    /// The program and its arguments.
    words: Vec<String>,
}

impl RealProgram {
    /// `x264=/path/x264 --threads 2 in.yuv`. Arguments are separated by spaces.
    pub(crate) fn parse(text: &str) -> Result<RealProgram, String> {
        let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
        let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
        if name.is_empty() || words.is_empty() {
            return Err("expected NAME=COMMAND".to_owned());
        }
        Ok(RealProgram { name: name.to_owned(), words })
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// The command line without the folders of this machine.
    pub(crate) fn shown(&self) -> String {
        let short = |word: &String| {
            let path = Path::new(word);
            let name = path.file_name().filter(|_| path.is_absolute());
            name.map_or_else(|| word.clone(), |it| it.to_string_lossy().into_owned())
        };
        self.words.iter().map(short).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names() {
        let program = RealProgram::parse("sum=/opt/bin/sum -n 3 /data/in.txt").unwrap();
        assert_eq!(program.name, "sum");
        assert_eq!(program.command().get_args().count(), 3);
        assert_eq!(program.shown(), "sum -n 3 in.txt");
        assert!(RealProgram::parse("/opt/bin/sum").is_err());
        assert!(RealProgram::parse("sum=").is_err());
    }
}
