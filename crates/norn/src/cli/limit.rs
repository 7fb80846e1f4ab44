//! Limits of a run: events, time and size.

use clap::Args;

/// Limits of a controlled run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Number of events after which a run ends as not finished; runs that follow the recorded run of a
    /// hunt end after twenty times as many events as that one, but not before 4,000,000
    #[arg(long, default_value_t = 1_000_000_000, value_name = "EVENTS")]
    pub(crate) max_steps: u64,
    /// Number of seconds after which a run ends as not finished
    #[arg(long, value_name = "SECONDS", env = "NORN_TIMEOUT")]
    pub(crate) timeout: Option<u64>,
    /// Do not record the values of reads and writes
    #[arg(long)]
    pub(crate) no_values: bool,
    /// Stop recording when the trace has this size (K, M, G); the program runs on
    #[arg(long, default_value = "8G", value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: u64,
}

/// A number of bytes: `500M`, `2G`, `65536`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: u64 =
        digits.parse().map_err(|_| "expected a number of bytes such as 500M or 2G")?;
    number.checked_mul(1 << shift).ok_or_else(|| "is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("65536"), Ok(65536));
        assert_eq!(size("500M"), Ok(500 << 20));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert!(size("").is_err());
        assert!(size("12 apples").is_err());
        assert!(size("99999999999G").is_err());
    }
}
