//! Formats numbers with units.
#![expect(clippy::cast_precision_loss, reason = "three digits are shown")]

use std::time::Duration;

/// `0.123 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// `12.3 MB`.
pub(crate) fn bytes(number: u64) -> String {
    format!("{}B", scaled(number as f64))
}

/// `12.3 M`.
pub(crate) fn count(number: u64) -> String {
    if number < 10_000 { number.to_string() } else { scaled(number as f64).trim_end().to_owned() }
}

/// `97.4 M/s`.
pub(crate) fn rate(number: u64, time: Duration) -> String {
    format!("{}/s", scaled(number as f64 / time.as_secs_f64()))
}

/// `3.42`.
pub(crate) fn each(total: u64, number: u64) -> f64 {
    total as f64 / number as f64
}

fn scaled(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(12_340_000), "12.3 MB");
        assert_eq!(bytes(2_500_000_000), "2.50 GB");
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(205_280_624), "205.3 M");
        assert_eq!(rate(1_000_000, Duration::from_millis(500)), "2.0 M/s");
        assert_eq!(seconds(Duration::from_millis(1234)), "1.234 s");
    }
}
