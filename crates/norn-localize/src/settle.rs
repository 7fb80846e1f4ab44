//! Decides when more runs would not change the answer.

use crate::{Cluster, Ranked};

/// The number of failing runs of each cluster before its ranking can be settled.
pub const MIN_FAILED: u64 = 10;
/// The number of passing runs before a ranking can be settled.
pub const MIN_PASSED: u64 = 10;

/// Whether all rankings have settled. A ranking has, if there are at least [`MIN_FAILED`] failing and
/// [`MIN_PASSED`] passing runs, and the 95 % interval of the first pattern's score lies above that of
/// every pattern with a lower score. Patterns with the same score as the first one are not compared:
/// they occur in the same runs, and are shown together.
pub fn is_settled<F, S>(clusters: &[Cluster<F, S>], passed: u64) -> bool {
    let settled = |it: &Cluster<F, S>| it.failed >= MIN_FAILED && is_separated(&it.ranking);
    !clusters.is_empty() && passed >= MIN_PASSED && clusters.iter().all(settled)
}

fn is_separated<S>(ranking: &[Ranked<S>]) -> bool {
    let Some(first) = ranking.first() else { return false };
    let lower = ranking.iter().filter(|it| it.score < first.score);
    first.score > 0.0 && lower.into_iter().all(|it| it.interval.high < first.interval.low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evidence, Formula, Pattern, PatternKind};

    fn settled(runs: impl IntoIterator<Item = (bool, Vec<u32>)>) -> bool {
        let mut evidence = Evidence::default();
        for (failed, sites) in runs {
            let patterns = sites.into_iter().map(|it| Pattern {
                kind: PatternKind::WriteRead,
                sites: [it, it].into_iter().collect(),
            });
            evidence.add(failed.then_some(&"crash"), patterns);
        }
        is_settled(&evidence.clusters(Formula::Jaccard), evidence.passed())
    }

    #[test]
    fn a_ranking_settles_with_enough_runs() {
        // Pattern 1 occurs in the failing runs alone, pattern 2 in all.
        let runs = |count: usize| {
            let pair = [(true, vec![1, 2]), (false, vec![2])];
            std::iter::repeat_n(pair, count).flatten().collect::<Vec<_>>()
        };
        assert!(!settled(runs(9)), "too few runs");
        assert!(settled(runs(12)));
    }

    #[test]
    fn close_scores_do_not_settle() {
        let mut runs = vec![(true, vec![1, 2]); 12];
        runs.extend(vec![(false, vec![]); 12]);
        assert!(settled(runs.clone()), "both patterns occur in the same runs");
        runs.push((false, vec![2]));
        assert!(!settled(runs));
    }

    #[test]
    fn without_failures_or_without_suspects_nothing_is_settled() {
        assert!(!settled(vec![(false, vec![1]); 50]));
        let mut runs = vec![(true, vec![]); 20];
        runs.extend(vec![(false, vec![1]); 20]);
        assert!(!settled(runs));
    }
}
