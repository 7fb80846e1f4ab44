//! How signals are written in the numbers that identify objects of the kernel. These numbers are usually
//! hashes; those of signals can be decoded, so that reports name the signals.

/// The most significant byte of the channel of a signal. Other channels have other ones, all below 128.
const CHANNEL: u64 = 17;
const TAG_SHIFT: u32 = 56;
const SIGNAL_SHIFT: u32 = 40;
/// Distinguishes what a thread waits for from channels.
const WAIT: u64 = 1 << 63;
/// The signals that programs can use: 1 to 31, and 34 to 64. libc keeps the two in between.
const STANDARD: u64 = 0x7fff_ffff;
const STANDARD_COUNT: u32 = 31;
const FIRST_QUEUED: u32 = 33;

/// The channel of a signal that is sent to the thread with this number, or to the process.
pub const fn channel(signal: u8, thread: Option<u32>) -> u64 {
    let to = match thread {
        Some(number) => number as u64 + 1,
        None => 0,
    };
    CHANNEL << TAG_SHIFT | (signal as u64) << SIGNAL_SHIFT | to
}

/// The signal of a channel, and the number of the thread that it is sent to; none if the channel is not
/// that of a signal.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the masks leave no more bits than the types have"
)]
pub const fn of_channel(channel: u64) -> Option<(u8, Option<u32>)> {
    if channel >> TAG_SHIFT != CHANNEL {
        return None;
    }
    let signal = (channel >> SIGNAL_SHIFT) as u8;
    match channel & ((1 << SIGNAL_SHIFT) - 1) {
        0 => Some((signal, None)),
        to => Some((signal, Some((to - 1) as u32))),
    }
}

/// The object that a thread waits for which waits for one of these signals.
pub const fn wait_key(signals: u64) -> u64 {
    WAIT | signals & STANDARD | (signals >> FIRST_QUEUED) << STANDARD_COUNT
}

/// The signals that a thread waits for; none if it waits for something else.
pub const fn awaited(object: u64) -> Option<u64> {
    if object & WAIT == 0 {
        return None;
    }
    let object = object & !WAIT;
    Some(object & STANDARD | object >> STANDARD_COUNT << FIRST_QUEUED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_signals_are_decoded() {
        for (signal, thread) in [(1, None), (10, Some(0)), (64, Some(u32::MAX))] {
            assert_eq!(of_channel(channel(signal, thread)), Some((signal, thread)));
        }
        assert_eq!(of_channel(18 << TAG_SHIFT | 5), None);
    }

    #[test]
    fn sets_of_signals_are_decoded() {
        let usable: u64 = !(0b11 << STANDARD_COUNT);
        for signals in [1, 1 << 30, 1 << 33, 1 << 63, usable] {
            assert_eq!(awaited(wait_key(signals)), Some(signals));
        }
        assert_eq!(awaited(channel(10, None)), None);
    }
}
