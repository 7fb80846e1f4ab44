//! How failures and patterns are written in a store, and read again.

use norn_localize::{Pattern, PatternKind};
use norn_report::Access;
use norn_store::{FailureRow, PatternRow};
use sha2::{Digest as _, Sha256};

use crate::{CampaignError, CodeSite, Failure, title::title};

/// The row of a failure.
pub(crate) fn failure_row(
    failure: &Failure,
    seed: u64,
    clip: Option<String>,
) -> Result<FailureRow, CampaignError> {
    let site = serde_json::to_string(&failure.site)?;
    let (kind, title) = (failure.site.kind.clone(), failure.title.clone());
    Ok(FailureRow { id: id(&[&site]), kind, title, site, seed, clip })
}

/// The failure of a row.
pub(crate) fn failure(row: &FailureRow) -> Result<Failure, CampaignError> {
    Ok(Failure { site: serde_json::from_str(&row.site)?, title: row.title.clone() })
}

/// A pattern without an example, and its number.
#[derive(Debug)]
pub(crate) struct PatternKey {
    pub(crate) id: i64,
    sites: String,
}

impl PatternKey {
    pub(crate) fn new(pattern: &Pattern<CodeSite>) -> Result<PatternKey, CampaignError> {
        let sites = serde_json::to_string(&pattern.sites.to_vec())?;
        Ok(PatternKey { id: id(&[pattern.kind.name(), &sites]), sites })
    }

    /// The row of the pattern, with its accesses in a run.
    pub(crate) fn row(
        self,
        pattern: &Pattern<CodeSite>,
        accesses: &[Access],
        (seed, failing): (u64, bool),
    ) -> Result<PatternRow, CampaignError> {
        Ok(PatternRow {
            id: self.id,
            shape: pattern.kind.name().to_owned(),
            title: title(pattern.kind, accesses),
            sites: self.sites,
            accesses: serde_json::to_string(accesses)?,
            seed,
            failing,
        })
    }
}

/// The pattern of a row, and its accesses in a run.
pub(crate) fn pattern(row: &PatternRow) -> Result<(Pattern<CodeSite>, Vec<Access>), CampaignError> {
    let kind = PatternKind::from_name(&row.shape).ok_or(CampaignError::Shape)?;
    let sites: Vec<CodeSite> = serde_json::from_str(&row.sites)?;
    if sites.len() != if kind.is_triple() { 3 } else { 2 } {
        return Err(CampaignError::Shape);
    }
    let pattern = Pattern { kind, sites: sites.into_iter().collect() };
    Ok((pattern, serde_json::from_str(&row.accesses)?))
}

/// A number that follows from texts alone, so that it is the same in all stores.
fn id(texts: &[&str]) -> i64 {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.finalize()[..8]);
    i64::from_le_bytes(bytes) & i64::MAX
}

#[cfg(test)]
mod tests {
    use norn_model::{Consequence, Location};

    use super::*;

    #[test]
    fn rows_are_read_back() {
        let site = |line| CodeSite {
            frames: vec![Location {
                function: Some("pay".to_owned()),
                line: Some(line),
                ..Location::default()
            }],
        };
        let before = Pattern {
            kind: PatternKind::ReadWrite,
            sites: [site(3), site(4)].into_iter().collect(),
        };
        let key = PatternKey::new(&before).unwrap();
        let row = key.row(&before, &[], (7, true)).unwrap();
        assert_eq!(pattern(&row).unwrap(), (before, Vec::new()));
        assert!(matches!(
            pattern(&PatternRow { shape: "R1-W2-W1".to_owned(), ..row }),
            Err(CampaignError::Shape)
        ));
        let crash = Failure::new(&Consequence::Exit(3), None);
        let row = failure_row(&crash, 7, None).unwrap();
        assert_eq!(failure(&row).unwrap(), crash);
    }
}
