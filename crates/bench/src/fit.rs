//! Curves through measurements.

/// The exponent `e` and factor `c` of `y = c·x^e` nearest to some points, by least squares of logarithms.
pub fn power_law(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|p| p.0 > 0.0 && p.1 > 0.0).map(|p| (p.0.ln(), p.1.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    if logs.len() < 2 || spread == 0.0 {
        return None;
    }
    let e = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
    Some((e, (my - e * mx).exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_recognised() {
        let points: Vec<(f64, f64)> = (1..20).map(|x| (f64::from(x), 3.0 * f64::from(x).powi(2))).collect();
        let (e, c) = power_law(&points).expect("points at different places");
        assert!((e - 2.0).abs() < 1e-9 && (c - 3.0).abs() < 1e-6);
        assert_eq!(power_law(&points[..1]), None);
    }
}
