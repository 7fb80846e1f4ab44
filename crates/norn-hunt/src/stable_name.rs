//! Names without the parts that differ between runs or versions of a program.

/// A text without numbers that may differ in another run or version of the program: lines, array
/// indices, addresses.
pub fn stable(text: &str) -> String {
    let words = text
        .split(' ')
        .map(|word| if word.starts_with("0x") { "0x?".to_owned() } else { without_numbers(word) });
    words.collect::<Vec<_>>().join(" ")
}

/// Removes indices, lines and the numbers of blocks: `name[12]` becomes `name[]`, `file.c:12` becomes
/// `file.c`, `Account#2` becomes `Account`.
fn without_numbers(word: &str) -> String {
    let mut kept = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(['[', ':', '#']) {
        let (before, mark) = rest.split_at(at);
        let behind = mark[1..].trim_start_matches(|it: char| it.is_ascii_digit());
        let counted = behind.len() < mark.len() - 1;
        kept.push_str(before);
        if !(counted && mark.starts_with([':', '#'])) {
            kept.push_str(&mark[..1]);
        }
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_omit_lines_indices_and_addresses() {
        assert_eq!(stable("slots[17].next"), "slots[].next");
        assert_eq!(stable("heap[24]+8 from make list.c:31"), "heap[]+8 from make list.c");
        assert_eq!(stable("Account#2::mutex_"), "Account::mutex_");
        assert_eq!(stable("0x7fff5000"), "0x?");
        assert_eq!(stable("std::list<int>::size"), "std::list<int>::size");
        assert_eq!(stable("bank.c:12:7: total"), "bank.c: total");
    }
}
