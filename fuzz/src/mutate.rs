//! Mutates inputs at random, deterministically for a seed.

/// A pseudo-random number generator (xorshift).
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end as u64).max(1)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

/// Boundary values.
const EDGES: [u32; 8] = [0, 1, 0x7f, 0x80, 0xffff, 0x3_ffc0, 0x7fff_ffff, u32::MAX];

/// One of the seeds with a few mutations; sometimes only random bytes.
pub fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut data = seeds.get(random.below(seeds.len())).cloned().unwrap_or_default();
    if random.below(50) == 0 {
        data = (0..random.below(400)).map(|_| random.byte()).collect();
    }
    for _ in 0..random.below(6) {
        change(&mut data, seeds, random);
    }
    data
}

fn change(data: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(data.len() + 1);
    let longest = 1 << random.below(9);
    let len = random.below(longest).min(data.len() - at);
    match random.below(8) {
        0 => data.truncate(at),
        1 => drop(data.drain(at..at + len)),
        2 => drop(data.splice(at..at, (0..len).map(|_| random.byte()).collect::<Vec<_>>())),
        3 => {
            let part = data[at..at + len].to_vec();
            let to = random.below(data.len() + 1);
            drop(data.splice(to..to, part));
        }
        4 => {
            let other = seeds.get(random.below(seeds.len())).map_or(&[][..], Vec::as_slice);
            let from = random.below(other.len() + 1);
            drop(data.splice(at.., other[from..].iter().copied()));
        }
        5 => {
            let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
            data.iter_mut().skip(at).zip(edge).for_each(|(byte, new)| *byte = new);
        }
        6 => data.iter_mut().skip(at).take(1).for_each(|it| *it = random.byte()),
        _ => data.iter_mut().skip(at).take(1).for_each(|it| *it ^= 1 << random.below(8)),
    }
}
