//! Random numbers: `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014). One state word, so the seed of the
//! plan is the whole state, and every draw is the same on every machine.

/// The increment of `SplitMix64`.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of `SplitMix64`.
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A source of random numbers.
#[derive(Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Restarts from a seed.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.0 = seed;
    }

    /// The next number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_the_published_sequence() {
        let mut rng = Rng::new();
        rng.seed(1_234_567);
        let drawn = [rng.draw(), rng.draw(), rng.draw()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn stays_below_its_limit() {
        let mut rng = Rng::new();
        assert!((1..200).all(|limit| rng.below(limit) < limit));
        assert_eq!(rng.below(0), 0);
    }
}
