//! Folds lines to a width: at blanks, with the rest indented below.
//!
//! Escape sequences that choose a style take no room, and a style goes on in the next line. A word that is
//! wider than a line, such as a path, is not cut, because it would become useless. Only in the columns of
//! tables does a word have to break.

/// How much further the continuation of a line is indented.
const INDENT: usize = 2;

/// The lines into which a line is folded. One that fits stays as it is.
pub(super) fn fold(line: &str, width: usize) -> Vec<String> {
    if visible(line) <= width {
        return vec![line.to_owned()];
    }
    let begin = line.len() - line.trim_start_matches(' ').len();
    let indent = (begin + INDENT).min(width / 2);
    let mut lines = Vec::new();
    let (mut current, mut used) = (" ".repeat(begin), begin);
    for word in line[begin..].split_inclusive(' ') {
        let length = visible(word.trim_end());
        if used + length > width && !current.trim().is_empty() {
            lines.push(current.trim_end().to_owned());
            (current, used) = (" ".repeat(indent), indent);
        }
        current.push_str(word);
        used += visible(word);
    }
    lines.push(current.trim_end().to_owned());
    lines
}

/// The lines into which a text without styles is folded that stands in a column of a table.
pub(super) fn fold_column(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in fold(text, width.max(1)) {
        let letters: Vec<char> = line.chars().collect();
        lines.extend(letters.chunks(width.max(1)).map(|it| it.iter().collect()));
    }
    lines
}

/// The number of characters that a text takes on the screen.
pub(super) fn visible(text: &str) -> usize {
    let mut count = 0;
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter == '\u{1b}' {
            // `ESC [ numbers m`: nothing else is in the text, because names are printable.
            let _ = rest.by_ref().find(|it| *it == 'm');
        } else {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_folded_at_blanks() {
        let line = "   T0.1 reads account.balance = 100 in read_balance";
        assert_eq!(fold(line, 30), ["   T0.1 reads account.balance", "     = 100 in read_balance"]);
        assert_eq!(fold(line, 80), [line]);
    }

    #[test]
    fn a_word_that_is_wider_than_a_column_breaks() {
        let lines = fold_column("read pool::workers.queue = 3", 16);
        assert_eq!(lines, ["read", "  pool::workers.", "queue", "  = 3"]);
        assert_eq!(fold_column("lock m", 16), ["lock m"]);
    }

    #[test]
    fn styles_take_no_room_and_words_stay_whole() {
        let line = "\u{1b}[31mbug\u{1b}[0m at /a/very/long/path/that/does/not/fit.c:12";
        assert_eq!(visible("\u{1b}[31mbug\u{1b}[0m"), 3);
        assert_eq!(
            fold(line, 20),
            ["\u{1b}[31mbug\u{1b}[0m at", "  /a/very/long/path/that/does/not/fit.c:12"]
        );
    }
}
