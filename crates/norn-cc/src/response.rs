//! Response files: `@file` stands for the arguments inside that file.
//!
//! Build systems use them when a command line would be too long, and the decisive flag
//! (`-shared`, `-c`) may be in such a file. Norn reads the files only to *understand* a call; the
//! compiler gets the `@file` argument itself. The syntax is that of both compilers: white space
//! separates arguments, single and double quotes group, a backslash makes the next character
//! literal, and an `@file` that cannot be read is an ordinary argument.

use std::{collections::VecDeque, ffi::OsString, fs};

/// Files may include each other in a cycle; the GNU tools give up after the same number of files.
const MOST_FILES: usize = 2000;

/// The arguments as the compiler will see them. Bytes that are not UTF-8 are replaced, which does
/// no harm: no option contains any, and only the extensions of file names matter.
pub(crate) fn expand(arguments: &[OsString]) -> Vec<String> {
    let mut waiting: VecDeque<String> =
        arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut files = 0;
    let mut result = Vec::with_capacity(waiting.len());
    while let Some(word) = waiting.pop_front() {
        let content = word.strip_prefix('@').filter(|_| files < MOST_FILES).map(fs::read);
        if let Some(Ok(content)) = content {
            files += 1;
            for inner in split(&String::from_utf8_lossy(&content)).into_iter().rev() {
                waiting.push_front(inner);
            }
        } else {
            result.push(word);
        }
    }
    result
}

/// Splits the text of a response file into arguments.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.get_or_insert_default().extend(characters.next()),
            _ if quote == Some(character) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(character),
            '\'' | '"' => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            _ if character.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_the_compilers_do() {
        insta::assert_compact_debug_snapshot!(
            split("-c  'a b'.c\n\"-DX=\\\"q\\\"\" \t-I\\ dir '' -o\\\n x"),
            @r#"["-c", "a b.c", "-DX=\"q\"", "-I dir", "", "-o\n", "x"]"#
        );
    }

    #[test]
    fn expands_nested_files_and_survives_circles() {
        let directory = tempfile::tempdir().unwrap();
        let (outer, inner) = (directory.path().join("outer"), directory.path().join("inner"));
        fs::write(&outer, format!("-shared @{} last", inner.display())).unwrap();
        fs::write(&inner, "-fPIC @missing").unwrap();
        let argument = |path: &std::path::Path| OsString::from(format!("@{}", path.display()));
        assert_eq!(
            expand(&[argument(&outer), "x.c".into()]),
            ["-shared", "-fPIC", "@missing", "last", "x.c"]
        );

        fs::write(&inner, format!("@{0} @{0}", inner.display())).unwrap();
        assert_eq!(expand(&[argument(&inner)]).len(), MOST_FILES + 1);
    }
}
