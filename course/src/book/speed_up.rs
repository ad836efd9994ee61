//! Checks speed-ups in transcripts: `p` processors can make a program at most `p` times as fast. If a
//! measurement shows more, the measurement was disturbed: another program used a processor while the
//! sequential time was measured.
//!
//! The text of a transcript does not show which figures are speed-ups. So the recipe names the columns and
//! rows:
//!
//! ```toml
//! [run.speed_up]
//! processors = 2
//! times = ["join", "fork"]          # columns, each with a time as a part of the sequential time
//! rates = { "compute 10 ms" = 2 }   # a row: two other numbers, then what one thread and more do in a second
//! ```

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpeedUp {
    processors: u32,
    #[serde(default)]
    times: Vec<String>,
    #[serde(default)]
    rates: BTreeMap<String, usize>,
}

impl SpeedUp {
    /// Returns two kinds of faults: figures of a transcript that no number of threads can reach, and named
    /// columns and rows that the transcript does not have.
    pub(super) fn faults(&self, transcript: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for column in &self.times {
            let Some(parts) = below(transcript, column) else {
                faults.push(format!("there is no column `{column}`"));
                continue;
            };
            // The printed figure is rounded.
            let too_fast =
                parts.into_iter().filter(|part| (part.value + part.half) * f64::from(self.processors) < 1.0);
            faults.extend(too_fast.map(|part| {
                format!(
                    "{column} {}: {} processors are not so much faster than one",
                    part.text, self.processors
                )
            }));
        }
        for (row, &before) in &self.rates {
            let Some(rates) = after(transcript, row, before) else {
                faults.push(format!("there is no row `{row}`"));
                continue;
            };
            let (one, many) = (&rates[0], &rates[1..]);
            let most = f64::from(self.processors) * (one.value + one.half);
            faults.extend(many.iter().filter(|rate| rate.value - rate.half > most).map(|rate| {
                format!(
                    "{row} {}: {} processors do not so much more than {}",
                    rate.text, self.processors, one.text
                )
            }));
        }
        faults
    }
}

/// A number as the transcript shows it.
struct Printed<'a> {
    text: &'a str,
    value: f64,
    /// The largest error of rounding: half a unit of the last digit.
    half: f64,
}

impl<'a> Printed<'a> {
    fn new(text: &'a str) -> Option<Self> {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 / 10_f64.powi(i32::try_from(decimals).ok()?);
        Some(Self { text, value: text.parse().ok()?, half })
    }
}

/// Returns the numbers below a column's heading. The position of a number in its row is the position of the
/// heading in its line, counted in words. A line is a heading only if there are numbers below it.
fn below<'a>(transcript: &'a str, column: &str) -> Option<Vec<Printed<'a>>> {
    let lines: Vec<Vec<&str>> = transcript.lines().map(|line| line.split_whitespace().collect()).collect();
    lines.iter().enumerate().find_map(|(heading, words)| {
        let place = words.iter().position(|word| *word == column)?;
        let numbers = lines[heading + 1..].iter().map_while(|row| Printed::new(row.get(place)?));
        Some(numbers.collect()).filter(|numbers: &Vec<_>| !numbers.is_empty())
    })
}

/// Returns the numbers of the first row with this label, without the first `before` numbers.
fn after<'a>(transcript: &'a str, row: &str, before: usize) -> Option<Vec<Printed<'a>>> {
    let numbers = transcript.lines().find_map(|line| line.strip_prefix(row))?;
    let numbers = numbers.split_whitespace().skip(before).map_while(Printed::new);
    Some(numbers.collect()).filter(|numbers: &Vec<_>| numbers.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(recipe: &str, transcript: &str) -> Vec<String> {
        toml::from_str::<SpeedUp>(recipe).unwrap().faults(transcript)
    }

    const SWEEP: &str = "a sum, with a join\nthreshold  join  submit\n 8192  0.66  0.65\n16384  0.45  0.50\n";
    const THREADS: &str = "tasks      W/C  1  2  4\ncompute    0.0  90 136 182\nwait       9.0  95 186 363\n";

    #[test]
    fn a_time_below_what_the_processors_can_do_is_named() {
        assert_eq!(
            faults("processors = 2\ntimes = [\"join\", \"submit\"]", SWEEP),
            ["join 0.45: 2 processors are not so much faster than one"]
        );
        assert_eq!(faults("processors = 3\ntimes = [\"join\", \"submit\"]", SWEEP), Vec::<String>::new());
    }

    #[test]
    fn a_rate_above_what_the_processors_can_do_is_named() {
        assert_eq!(
            faults("processors = 2\nrates = { compute = 1 }", THREADS),
            ["compute 182: 2 processors do not so much more than 90"]
        );
        let rounded = THREADS.replace("182", "181"); // 180.9 and 90.45, perhaps
        assert_eq!(faults("processors = 2\nrates = { compute = 1 }", &rounded), Vec::<String>::new());
    }

    #[test]
    fn a_column_or_row_that_is_not_there_is_named() {
        assert_eq!(faults("processors = 2\ntimes = [\"fork\"]", SWEEP), ["there is no column `fork`"]);
        assert_eq!(faults("processors = 2\nrates = { sleep = 1 }", THREADS), ["there is no row `sleep`"]);
    }
}
