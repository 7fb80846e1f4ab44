//! Granules: memory in pieces of eight bytes, by which analyses find accesses to the same memory.

/// Size of a granule in bytes.
pub const GRANULE: u64 = 8;
/// Approximate number of granules that are sampled in longer blocks.
const PLACES: u64 = 64;

/// The granules of an access. Of a block of more than 512 bytes only every second, fourth, eighth
/// one, at the same addresses in every block.
#[inline]
pub fn granules(addr: u64, size: u64) -> Granules {
    let (next, last) = ends(addr, size);
    if last - next < PLACES {
        return Granules { next, last, step: 1 };
    }
    let step = ((last - next) / PLACES + 1).next_power_of_two();
    Granules { next: next.next_multiple_of(step), last, step }
}

/// The granules of an access. Nearly every access has one or two, and every event of a trace comes
/// through here, so this is simpler than an iterator that the standard library composes.
#[derive(Clone, Debug)]
pub struct Granules {
    next: u64,
    last: u64,
    step: u64,
}

impl Iterator for Granules {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let granule = self.next;
        self.next += self.step;
        (granule <= self.last).then_some(granule)
    }
}

/// Whether some granules of an access are skipped.
#[inline]
pub fn is_sampled(addr: u64, size: u64) -> bool {
    let (first, last) = ends(addr, size);
    last - first >= PLACES
}

/// The bytes of a granule that an access touches, the first one lowest.
pub fn mask(granule: u64, addr: u64, size: u64) -> u8 {
    let start = granule * GRANULE;
    let from = addr.saturating_sub(start).min(GRANULE);
    let to = addr.saturating_add(size.max(1)).saturating_sub(start).min(GRANULE);
    let below = |bytes: u64| u8::try_from((1u32 << bytes) - 1).unwrap_or(u8::MAX);
    below(to) & !below(from)
}

fn ends(addr: u64, size: u64) -> (u64, u64) {
    (addr / GRANULE, addr.saturating_add(size.max(1) - 1) / GRANULE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_blocks_meet_in_the_same_places() {
        assert_eq!(granules(8, 8).collect::<Vec<_>>(), [1]);
        assert_eq!(granules(15, 2).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(granules(0, 512).count(), 64);
        let (one, other): (Vec<_>, Vec<_>) =
            (granules(0, 4096).collect(), granules(8 * 5, 4096).collect());
        assert!(other.iter().filter(|it| one.contains(it)).count() > 50);
    }

    #[test]
    fn masks_are_the_bytes() {
        assert_eq!(mask(1, 8, 8), 0xff);
        assert_eq!(mask(1, 12, 2), 0b0011_0000);
        assert_eq!(mask(1, 6, 3), 0b0000_0001);
        assert_eq!(mask(1, 15, 8), 0b1000_0000);
    }
}
