//! Suggestions for misspelt words.

/// The closest word to a misspelt one, if one is close enough.
pub fn closest<'a>(word: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = |it: &&str| distance(word, it);
    let best = all.into_iter().min_by_key(far)?;
    (3 * distance(word, best) <= word.chars().count()).then_some(best)
}

/// The edit distance of two words: insertions, deletions and replacements.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_are_recognised() {
        let words = ["update", "create", "next"];
        assert_eq!(closest("updat", words), Some("update"));
        assert_eq!(closest("nxt", words), Some("next"));
        assert_eq!(closest("delete", words), None);
        assert_eq!(closest("x", ["y"]), None);
    }
}
