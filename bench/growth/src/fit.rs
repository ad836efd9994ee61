//! Fits the exponent of a cost: `k` if the total cost of `n` things grows like `n` to the power of `k`.

/// The number of decades at the end of a curve that count. In a short curve, the start of a thread or of a process hides
/// the cost of a single thing.
const DECADES: f64 = 3.0;

/// How much an exponent must exceed that of n log n to be a defect. A thing among many costs more than a thing
/// among few in any program, because fewer of them fit into the processor's caches.
const TOLERANCE: f64 = 0.2;

/// The exponent of a curve, and the exponent that n log n has for the same numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub(crate) exponent: f64,
    pub(crate) of_n_log_n: f64,
}

/// Fits a line through the last three decades of a curve, with logarithms on both axes, by least squares.
///
/// A curve has pairs of a number of things and the total cost of all of them.
pub(crate) fn of(curve: &[(f64, f64)]) -> Fit {
    let last = curve.last().map_or(0.0, |(number, _)| *number);
    let counts = |number: f64| number > 1.0 && number * 10_f64.powf(DECADES) >= last * 0.999;
    let points: Vec<_> = curve.iter().copied().filter(|(number, _)| counts(*number)).collect();
    let n_log_n: Vec<_> = points.iter().map(|(number, _)| (*number, number * number.ln())).collect();
    Fit { exponent: slope(&points), of_n_log_n: slope(&n_log_n) }
}

/// Returns whether the cost clearly grows faster than n log n. Two points or fewer prove nothing.
pub(crate) fn grows_too_fast(curve: &[(f64, f64)]) -> bool {
    let Fit { exponent, of_n_log_n } = of(curve);
    exponent > of_n_log_n + TOLERANCE
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let logarithms: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logarithms.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / count;
    let (middle_x, middle_y) = (mean(|point| point.0), mean(|point| point.1));
    let together: f64 = logarithms.iter().map(|(x, y)| (x - middle_x) * (y - middle_y)).sum();
    let alone: f64 = logarithms.iter().map(|(x, _)| (x - middle_x).powi(2)).sum();
    together / alone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(cost: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..=5).map(|power| 10_f64.powi(power)).map(|number| (number, cost(number))).collect()
    }

    #[test]
    fn the_exponent_of_a_power_is_found() {
        for exponent in [0.5, 1.0, 1.7, 2.0] {
            let fit = of(&curve(|n| 3.0 * n.powf(exponent)));
            assert!((fit.exponent - exponent).abs() < 1e-9, "{fit:?}");
        }
    }

    /// The cost of a start hides the cost of single things in the first decades only.
    #[test]
    fn only_the_last_three_decades_count() {
        let mut curve = curve(|n| n);
        (curve[0].1, curve[1].1) = (1e9, 1e9);
        assert!((of(&curve).exponent - 1.0).abs() < 1e-9);
        curve[2].1 = 1e9;
        assert!((of(&curve).exponent - 1.0).abs() > 0.5);
    }

    #[test]
    fn n_log_n_is_allowed_and_a_square_or_a_root_more_is_not() {
        let n_log_n = curve(|n| n * n.ln().max(1.0));
        let fit = of(&n_log_n);
        assert!((fit.exponent - fit.of_n_log_n).abs() < 1e-9 && fit.exponent > 1.1, "{fit:?}");
        assert!(!grows_too_fast(&n_log_n));
        assert!(grows_too_fast(&curve(|n| n * n)));
        assert!(grows_too_fast(&curve(|n| n * n.sqrt())));
        assert!(grows_too_fast(&curve(|n| n + n * n / 1e3)), "the square counts only from a thousand on");
    }

    #[test]
    fn a_single_point_has_no_exponent() {
        assert!(of(&[(10.0, 1.0)]).exponent.is_nan() && !grows_too_fast(&[(10.0, 1.0)]));
        assert!(!grows_too_fast(&[]));
    }
}
