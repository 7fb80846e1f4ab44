//! Back-off at frequent sites: which executions of a site are observed, and which are left out.
//!
//! A loop shows its patterns early. So each thread observes the first executions of a site, and then
//! only some of each 32,768: the idea of `LiteRace` (Marino, Musuvathi and Narayanasamy, PLDI 2009), where
//! cold code is observed always and hot code rarely. What is left out is counted. Patterns need accesses
//! of several threads at the same time, so there are also [bursts](Burst), in which all threads observe
//! everything.
//!
//! The counters of a thread have no tags. Two sites with the same counter share its executions, which
//! is rare, and makes both of them frequent earlier.
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]

use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

/// Number of executions that are observed at first.
const FIRST: i16 = 1024;
/// Number of executions that are observed after many that were left out.
const AGAIN: i16 = 32;
/// Number of executions that are left out then.
const LEFT_OUT: i16 = i16::MAX;

/// Counts an execution of the site at an address. Returns whether it is left out, unless there is a
/// burst.
///
/// The counter of a site counts down. While it is positive, executions are left out; this is the usual
/// case, and takes one instruction that changes the counter and one that tests it. From 0, where it
/// begins, down to `-FIRST` they are observed.
#[inline(always)]
pub fn is_left_out<const N: usize>(counters: &mut [i16; N], pc: usize) -> bool {
    let counter = &mut counters[position::<N>(pc)];
    *counter = counter.wrapping_sub(1);
    *counter > 0
}

/// Continues after an execution that is observed. Returns whether it is the first one after many that were
/// left out; their number is [`LEFT_OUT_AT_ONCE`].
#[inline(always)]
pub fn observe<const N: usize>(counters: &mut [i16; N], pc: usize) -> bool {
    let counter = &mut counters[position::<N>(pc)];
    match *counter {
        0 => {
            *counter = AGAIN - FIRST;
            true
        }
        it if it <= -FIRST => {
            // The next execution is the first one that is left out.
            *counter = LEFT_OUT;
            false
        }
        _ => false,
    }
}

/// Number of executions that were left out before [`observe`] returns true.
pub const LEFT_OUT_AT_ONCE: u64 = (LEFT_OUT - 1).unsigned_abs() as u64;

/// Number of executions that were left out according to counters, since those that [`observe`] reported.
pub fn left_out(counters: impl IntoIterator<Item = i16>) -> u64 {
    let positive = counters.into_iter().filter(|it| *it > 0);
    positive.map(|it| u64::from((LEFT_OUT - it).unsigned_abs())).sum()
}

/// Return addresses of hooks are a few bytes apart; all of their lower bits count.
#[inline(always)]
fn position<const N: usize>(pc: usize) -> usize {
    const { assert!(N.is_power_of_two()) };
    pc % N
}

/// A time in which all threads observe everything, since a pattern has accesses of two threads. Bursts
/// are short, and rarer the longer nothing new is found. Times are in ticks of the processor's clock,
/// of which there are two to four in a nanosecond.
#[derive(Debug)]
pub struct Burst {
    is_on: AtomicBool,
    until: AtomicU64,
    /// The earliest time of the next one, and the time between bursts.
    next: AtomicU64,
    gap: AtomicU64,
}

impl Burst {
    /// About 50 microseconds.
    const LENGTH: u64 = 150_000;
    /// About five milliseconds.
    const FIRST_GAP: u64 = 1 << 24;
    /// About a second.
    const LAST_GAP: u64 = 1 << 31;

    /// None yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a default cannot be made for a static")]
    pub const fn new() -> Burst {
        let [until, next] = [const { AtomicU64::new(0) }; 2];
        let gap = AtomicU64::new(Burst::FIRST_GAP);
        Burst { is_on: AtomicBool::new(false), until, next, gap }
    }

    /// Whether there is one.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    /// Ends it if its time is over. Returns whether it goes on.
    pub fn goes_on(&self, now: u64) -> bool {
        if now >= self.until.load(Relaxed) {
            self.is_on.store(false, Relaxed);
        }
        self.is_on()
    }

    /// Begins one because something new was seen: a thread, a pattern. What is new seldom comes alone.
    pub fn news(&self, now: u64) {
        self.gap.store(Burst::FIRST_GAP, Relaxed);
        self.next.store(now + Burst::FIRST_GAP, Relaxed);
        self.begin(now);
    }

    /// Begins one if the last one was long enough ago, at a time that `random` varies. Returns whether it
    /// has begun.
    pub fn maybe(&self, now: u64, random: u64) -> bool {
        let next = self.next.load(Relaxed);
        let gap = self.gap.load(Relaxed);
        let later = now + gap / 2 + random % gap.max(1);
        let begins =
            now >= next && self.next.compare_exchange(next, later, SeqCst, Relaxed).is_ok();
        if begins {
            self.gap.store((2 * gap).min(Burst::LAST_GAP), Relaxed);
            self.begin(now);
        }
        begins
    }

    fn begin(&self, now: u64) {
        self.until.store(now + Burst::LENGTH, Relaxed);
        self.is_on.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PC: usize = 0x5555_5555_4321;

    #[test]
    fn every_execution_is_observed_or_counted() {
        let mut counters = [0; 16];
        let (mut observed, mut skipped) = (0u64, 0);
        for _ in 0..1_000_000 {
            if !is_left_out(&mut counters, PC) {
                observed += 1;
                skipped += u64::from(observe(&mut counters, PC)) * LEFT_OUT_AT_ONCE;
            }
        }
        skipped += left_out(counters);
        assert_eq!(observed + skipped, 1_000_000);
        assert!((1_500..3_000).contains(&observed), "{observed}");
    }

    #[test]
    fn the_first_executions_of_every_site_are_observed() {
        let mut counters = [0; 16];
        for pc in PC..PC + 16 {
            for _ in 0..1024 {
                assert!(!is_left_out(&mut counters, pc));
                assert!(!observe(&mut counters, pc));
            }
            assert!(is_left_out(&mut counters, pc));
        }
    }

    #[test]
    fn bursts_end_and_become_rare_until_there_is_news() {
        let burst = Burst::new();
        let begins = |from: u64, to: u64| {
            let mut count = 0;
            for now in (from..to).step_by(Burst::LENGTH as usize) {
                burst.goes_on(now);
                count += u32::from(burst.maybe(now, 7 * now));
            }
            count
        };
        let (second, early) = (3_000_000_000, begins(1, 300_000_000));
        let late = begins(10 * second, 10 * second + 300_000_000);
        assert!(early > 2 && late <= 1, "{early} {late}");
        burst.news(11 * second);
        assert!(burst.goes_on(11 * second + 1));
        assert!(!burst.goes_on(11 * second + Burst::LENGTH));
        assert!(begins(11 * second + Burst::LENGTH, 11 * second + 300_000_000) > 2);
    }
}
