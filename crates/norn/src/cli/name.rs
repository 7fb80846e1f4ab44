//! Names of variables on the command line.

/// The variables of one atomic set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl Names {
    /// Several names: `head,tail`.
    pub(crate) fn parse(text: &str) -> Result<Names, String> {
        let names: Vec<_> = text.split(',').map(|it| it.trim().to_owned()).collect();
        if names.len() < 2 || names.iter().any(String::is_empty) {
            return Err("expected at least two variables such as head,tail".to_owned());
        }
        Ok(Names(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_names() {
        assert_eq!(
            Names::parse("head, tail"),
            Ok(Names(vec!["head".to_owned(), "tail".to_owned()]))
        );
        assert!(Names::parse("head").is_err());
        assert!(Names::parse("head,,tail").is_err());
    }
}
