//! The arithmetic of a comparison: medians, ranges, and the ratio of two sides that are measured alternately.

/// The median and the range of several measurements of the same thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

/// Returns the median and the range of at least one value.
pub fn spread(values: &[f64]) -> Spread {
    Spread {
        median: median(values),
        least: values.iter().copied().fold(f64::INFINITY, f64::min),
        most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Returns the median of at least one value; for an even number of values, the mean of the two values in the
/// middle.
///
/// # Panics
/// Panics if there is no value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// Returns the median of the ratios of all pairs; the two runs of a pair were measured one right after the
/// other.
///
/// This median is different from the ratio of the medians. If one measurement of a pair was disturbed, the
/// other was probably disturbed, too; in that case the ratio is right although both numbers are wrong. A pair
/// is left out if its processor time was too short to be measured; if no pair is left, the function returns
/// `None`.
pub fn median_ratio(pairs: &[(f64, f64)]) -> Option<f64> {
    let ratios = ratios(pairs);
    if ratios.is_empty() { None } else { Some(median(&ratios)) }
}

/// Returns the ratios of all pairs that can be divided.
pub(crate) fn ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(ours, theirs)| ours / theirs).filter(|ratio| ratio.is_finite()).collect()
}

/// Formats the median of several values, with the minimum and maximum.
pub fn range(values: &[f64], digits: usize) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    let Spread { median, least, most } = spread(values);
    format!("{median:>8.digits$} ({least:.digits$} to {most:.digits$})")
}

/// Formats a ratio for a table.
pub fn shown(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Estimates the cost of an operation with any number of threads, from its cost with one thread and with
/// `threads`. A cost is the time divided by the operations of all threads.
///
/// By Amdahl's law, the parallel part of the cost is divided by the number of threads, and the serial part
/// stays the same. If threads hinder each other so much that more threads are slower, the function assumes
/// that there is no parallel part; in that case the measured cost is the best estimate.
///
/// # Panics
/// Panics if `threads` is less than two.
pub fn with_any_number_of_threads(alone: f64, together: f64, threads: usize) -> f64 {
    assert!(threads > 1, "one thread does not show what threads do to each other");
    let threads = threads as f64;
    let serial = (threads * together - alone) / (threads - 1.0);
    serial.clamp(0.0, together)
}

/// Maps each number to a number that looks random; the Java peers have the same function.
pub fn mix(number: u64) -> u64 {
    let mut mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn a_median_is_in_the_middle() {
        for (values, middle) in [(&[3.0, 1.0, 2.0][..], 2.0), (&[4.0, 1.0], 2.5), (&[7.0], 7.0)] {
            assert!(is_near(median(values), middle));
        }
    }

    #[test]
    fn a_spread_has_the_least_and_the_most() {
        let Spread { median, least, most } = spread(&[5.0, 9.0, 2.0]);
        assert!(is_near(median, 5.0) && is_near(least, 2.0) && is_near(most, 9.0));
    }

    /// In the second round, both sides were ten times slower, so the ratio of this round equals the ratios of
    /// the other rounds. The medians of the two sides come from different rounds, and no round has the ratio
    /// of these medians.
    #[test]
    fn ratios_are_of_pairs() {
        let pairs = [(10.0, 20.0), (100.0, 200.0), (30.0, 40.0)];
        assert!(is_near(median_ratio(&pairs).unwrap(), 0.5));
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        assert!(is_near(median(&ours) / median(&theirs), 0.75));
    }

    #[test]
    fn a_round_that_fell_out_of_line_does_not_move_the_median_of_ratios() {
        let pairs = [(1.0, 2.0), (1.0, 2.0), (50.0, 1.0), (1.0, 2.0), (1.0, 2.0)];
        assert!(is_near(median_ratio(&pairs).unwrap(), 0.5));
    }

    #[test]
    fn what_cannot_be_divided_is_left_out() {
        assert!(is_near(median_ratio(&[(1.0, 0.0), (0.0, 0.0), (3.0, 4.0)]).unwrap(), 0.75));
        assert_eq!(median_ratio(&[(1.0, 0.0)]), None);
        assert_eq!(median_ratio(&[]), None);
    }

    #[test]
    fn what_is_done_side_by_side_goes_away_and_the_rest_stays() {
        // The cost is 12 ns, of which 4 ns are serial: 4 + 8 / 2 with two threads, 4 + 8 / 4 with four
        // threads.
        assert!(is_near(with_any_number_of_threads(12.0, 8.0, 2), 4.0));
        assert!(is_near(with_any_number_of_threads(12.0, 6.0, 4), 4.0));
        assert!(is_near(with_any_number_of_threads(12.0, 6.0, 2), 0.0), "all of it side by side");
        assert!(is_near(with_any_number_of_threads(12.0, 5.0, 2), 0.0), "noise is no negative time");
        assert!(is_near(with_any_number_of_threads(12.0, 12.0, 2), 12.0), "nothing side by side");
        assert!(is_near(with_any_number_of_threads(12.0, 20.0, 2), 20.0), "slower together");
    }
}
