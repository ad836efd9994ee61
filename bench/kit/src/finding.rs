//! The result of a comparison: the ratio of our value to the peer's value, how certain the ratio is, and whether
//! it meets its goal.

use serde::{Deserialize, Serialize};

use crate::figures::{median, ratios, shown};

/// The probability with which an interval should contain the true median, if there are enough rounds.
const WANTED: f64 = 0.95;

/// The ratios that meet a goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// The decision about a goal. Only `Met` counts as met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval meets the goal.
    Met,
    /// No part of the interval meets the goal.
    Missed,
    /// The goal lies inside the interval.
    Undecided,
    /// The peer is not on this machine, or the value cannot be measured here.
    NoPeer,
}

/// One figure of a row, ours beside a peer's. This is an object of the array that `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub row: String,
    pub peer: String,
    /// What was measured: `time`, `cpu`, `rate`, `memory` and so on.
    pub figure: String,
    pub unit: String,
    /// The medians of both sides.
    pub ours: Option<f64>,
    pub theirs: Option<f64>,
    /// The median of the rounds' ratios, ours to theirs.
    pub ratio: Option<f64>,
    /// The lowest and the highest value that the true median of the ratios probably has.
    pub interval: Option<(f64, f64)>,
    pub goal: Option<Goal>,
    pub verdict: Option<Verdict>,
}

impl Finding {
    /// Compares the pairs of our values and the peer's values. No pairs mean that the peer is not there.
    pub fn new(
        row: &str,
        peer: &str,
        figure: &str,
        unit: &str,
        pairs: &[(f64, f64)],
        goal: Option<Goal>,
    ) -> Self {
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let middle = |values: &[f64]| (!values.is_empty()).then(|| rounded(median(values)));
        let ratios = ratios(pairs);
        let interval = interval(&ratios);
        Self {
            row: row.to_owned(),
            peer: peer.to_owned(),
            figure: figure.to_owned(),
            unit: unit.to_owned(),
            ours: middle(&ours),
            theirs: middle(&theirs),
            ratio: middle(&ratios),
            interval: interval.map(|(low, high)| (rounded(low), rounded(high))),
            goal,
            verdict: goal.map(|goal| goal.verdict(interval)),
        }
    }

    /// Returns the goal and the verdict for people, or an empty text if there is no goal.
    pub fn told(&self) -> String {
        let Some((goal, verdict)) = self.goal.zip(self.verdict) else { return String::new() };
        format!("{} {}: {} {}", self.figure, goal.told(), verdict.told(), self.certainty())
            .trim_end()
            .to_owned()
    }

    /// Returns the interval for people.
    pub fn certainty(&self) -> String {
        self.interval.map_or_else(String::new, |(low, high)| {
            format!("({} to {})", shown(Some(low)), shown(Some(high)))
        })
    }
}

impl Goal {
    pub fn told(self) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {most}"),
            Self::AtLeast(least) => format!("≥ {least}"),
        }
    }

    fn verdict(self, interval: Option<(f64, f64)>) -> Verdict {
        let Some((low, high)) = interval else { return Verdict::NoPeer };
        let is_met = |ratio: f64| match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
        };
        match (is_met(low), is_met(high)) {
            (true, true) => Verdict::Met,
            (false, false) => Verdict::Missed,
            _ => Verdict::Undecided,
        }
    }
}

impl Verdict {
    pub fn told(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
            Self::NoPeer => "no peer",
        }
    }
}

/// Rounds to four significant digits, because no more can be measured.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Returns the interval of the median: two of the values, such that the true median lies between them with
/// a known probability, whatever the distribution of the values is. See [`coverage`].
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let left_out = left_out(sorted.len());
    Some((*sorted.get(left_out)?, *sorted.get(sorted.len() - 1 - left_out)?))
}

/// Returns how many of the values at each end are outside the interval: as many as possible while the interval
/// still has the wanted probability.
fn left_out(count: usize) -> usize {
    (1..count.div_ceil(2)).take_while(|&left_out| probability(count, left_out) >= WANTED).last().unwrap_or(0)
}

/// Returns the probability that the true median lies in the interval of so many values.
///
/// A value is below the true median with a probability of one half. So the number of values below it has
/// a binomial distribution, and the median is outside the interval only if the number is too small or too large.
pub fn coverage(count: usize) -> f64 {
    probability(count, left_out(count))
}

fn probability(count: usize, left_out: usize) -> f64 {
    let mut below = 0.0; // the probability that at most `left_out` values are below the median
    let mut exactly = 0.5_f64.powf(count as f64); // that exactly `number` are below it
    for number in 0..=left_out {
        below += exactly;
        exactly *= (count - number) as f64 / (number + 1) as f64;
    }
    1.0 - 2.0 * below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(ratios: &[f64], goal: Goal) -> Finding {
        let pairs: Vec<_> = ratios.iter().map(|&ratio| (ratio, 1.0)).collect();
        Finding::new("A", "theirs", "time", "ns", &pairs, Some(goal))
    }

    #[test]
    fn the_interval_of_a_few_rounds_is_the_whole_range_and_of_nine_leaves_out_the_extremes() {
        assert_eq!(interval(&[]), None);
        assert_eq!(interval(&[7.0]), Some((7.0, 7.0)));
        assert_eq!(interval(&[3.0, 1.0, 2.0]), Some((1.0, 3.0)));
        let nine = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0];
        assert_eq!(interval(&nine), Some((2.0, 8.0)));
    }

    /// The probabilities are those of the tables of the sign test: 3/4, 15/16, 246/256, and 0.9567 for 25
    /// values, from the 8th to the 18th.
    #[test]
    fn the_probability_of_an_interval_is_that_of_the_sign_test() {
        for (count, expected) in [(1, 0.0), (3, 0.75), (5, 0.9375), (9, 246.0 / 256.0)] {
            assert!((coverage(count) - expected).abs() < 1e-9, "{count}: {}", coverage(count));
        }
        assert!((coverage(25) - 0.9567).abs() < 1e-4, "{}", coverage(25));
        assert!((6..200).all(|count| coverage(count) >= WANTED));
    }

    #[test]
    fn a_goal_inside_the_interval_is_undecided() {
        let verdict = |ratios: &[f64], goal| finding(ratios, goal).verdict;
        let ratios = [0.4, 0.6, 0.5];
        assert_eq!(verdict(&ratios, Goal::AtMost(0.6)), Some(Verdict::Met));
        assert_eq!(verdict(&ratios, Goal::AtMost(0.55)), Some(Verdict::Undecided));
        assert_eq!(verdict(&ratios, Goal::AtMost(0.3)), Some(Verdict::Missed));
        assert_eq!(verdict(&ratios, Goal::AtLeast(0.4)), Some(Verdict::Met));
        assert_eq!(verdict(&ratios, Goal::AtLeast(0.45)), Some(Verdict::Undecided));
        assert_eq!(verdict(&ratios, Goal::AtLeast(0.7)), Some(Verdict::Missed));
        assert_eq!(verdict(&[], Goal::AtMost(1.0)), Some(Verdict::NoPeer));
        assert_eq!(Finding::new("A", "theirs", "time", "ns", &[(1.0, 1.0)], None).verdict, None);
    }

    /// Of nine rounds, one may be disturbed at each end.
    #[test]
    fn one_disturbed_round_of_nine_decides_nothing() {
        let mut ratios = [0.5; 9];
        ratios[3] = 8.0;
        assert_eq!(finding(&ratios, Goal::AtMost(0.6)).verdict, Some(Verdict::Met));
        ratios[5] = 8.0;
        assert_eq!(finding(&ratios, Goal::AtMost(0.6)).verdict, Some(Verdict::Undecided));
    }

    #[test]
    fn a_finding_is_told_and_read_back() {
        let found = finding(&[0.25, 0.5, 0.75], Goal::AtMost(0.6));
        assert_eq!(found.told(), "time ≤ 0.6: undecided (0.25 to 0.75)");
        let text = serde_json::to_string(&found).unwrap();
        assert!(text.contains(r#""goal":{"at_most":0.6},"verdict":"undecided""#), "{text}");
        assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), found);
        assert_eq!(finding(&[], Goal::AtLeast(1.5)).told(), "time ≥ 1.5: no peer");
        assert!(serde_json::to_string(&finding(&[], Goal::AtMost(1.0))).unwrap().contains(r#""ratio":null"#));
    }

    #[test]
    fn four_digits_are_kept() {
        let told = [123_456.0, 0.123_456, 1.0].map(|value| rounded(value).to_string());
        assert_eq!(told, ["123500", "0.1235", "1"]);
    }
}
