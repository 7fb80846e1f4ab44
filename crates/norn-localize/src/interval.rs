//! Confidence intervals of shares.

/// The range in which a value lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The quantile of the normal distribution for 95 %, two-sided.
const Z: f64 = 1.959_963_984_540_054;

impl Interval {
    /// The Wilson score interval of a share: `hits` of `all`. Unlike the normal approximation it is
    /// usable for few runs and for shares of 0 and 1. Without any observation nothing is known.
    pub fn of_share(hits: u64, all: u64) -> Interval {
        if all == 0 {
            return Interval { low: 0.0, high: 1.0 };
        }
        let (hits, all) = (hits as f64, all as f64);
        let (share, square) = (hits / all, Z * Z);
        let center = share + square / (2.0 * all);
        let radius = Z * (share * (1.0 - share) / all + square / (4.0 * all * all)).sqrt();
        let scale = 1.0 + square / all;
        // Rounding must not exclude the share itself.
        let low = ((center - radius) / scale).clamp(0.0, share);
        let high = ((center + radius) / scale).clamp(share, 1.0);
        Interval { low, high }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn published_values() {
        // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (hits, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0000, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let it = Interval::of_share(hits, all);
            assert!((it.low - low).abs() < 5e-5 && (it.high - high).abs() < 5e-5, "{it:?}");
        }
    }

    proptest! {
        #[test]
        fn contains_the_share_and_narrows(all in 1u64..1000, hits in 0u64..1000) {
            let hits = hits % (all + 1);
            let it = Interval::of_share(hits, all);
            let share = hits as f64 / all as f64;
            prop_assert!(0.0 <= it.low && it.low <= share && share <= it.high && it.high <= 1.0);
            let more = Interval::of_share(10 * hits, 10 * all);
            prop_assert!(more.high - more.low < it.high - it.low);
        }
    }
}
