//! Statistics of measurements.

/// The geometric mean, the only mean that does not depend on which side of a ratio is the base.
/// `None` for an empty list, or if a value is not positive.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|it| it.is_nan() || *it <= 0.0) {
        return None;
    }
    let sum: f64 = values.iter().map(|it| it.ln()).sum();
    Some((sum / count(values)).exp())
}

#[expect(clippy::cast_precision_loss, reason = "there are never so many")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|left| (left - right).abs() < 1e-9)
    }

    #[test]
    fn means() {
        assert!(close(geometric_mean(&[2.0, 8.0]), 4.0));
        assert!(close(geometric_mean(&[0.5, 2.0]), 1.0));
        assert!(close(geometric_mean(&[3.0]), 3.0));
    }

    #[test]
    fn no_mean() {
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, -2.0]), None);
        assert_eq!(geometric_mean(&[f64::NAN]), None);
    }
}
