//! Durations on the command line.

use std::time::Duration;

/// Seconds in each unit.
const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3600), ('d', 86400)];

/// A duration: `90s`, `10m`, `1h30m`. There must be a unit, because other options count seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time such as 90s, 10m or 1h30m".to_owned();
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = rest[digits..].chars().next();
        let (name, seconds) = UNITS.into_iter().find(|it| Some(it.0) == unit).ok_or_else(wrong)?;
        let part = number.checked_mul(seconds).ok_or("is too long")?;
        total = total.checked_add(part).ok_or("is too long")?;
        rest = &rest[digits + name.len_utf8()..];
    }
    if total == 0 { Err(wrong()) } else { Ok(Duration::from_secs(total)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let seconds = |text| parse(text).map(|it| it.as_secs());
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("10m"), Ok(600));
        assert_eq!(seconds("1h30m"), Ok(5400));
        assert_eq!(seconds("1d"), Ok(86400));
        for wrong in ["", "10", "m", "10 m", "-5s", "0s", "10x", "1h30", "é"] {
            let error = parse(wrong).unwrap_err();
            assert_eq!(error, "expected a time such as 90s, 10m or 1h30m", "{wrong}");
        }
        assert_eq!(parse("99999999999999999999s").unwrap_err(), parse("x").unwrap_err());
        assert_eq!(parse("9999999999999999999h").unwrap_err(), "is too long");
    }
}
