//! Compares two recordings of a command.
//!
//! If a program prints the time, two recordings of it always differ. So each recording has a *core*: the text
//! of the recording without times, dates, ports and the numbers of pool threads, and without the parts that
//! the recipe excludes. Two recordings are equal if their cores are equal.

use crate::book::recipes::Equal;
use regex::{Captures, Regex};

/// Text that may differ between any two recordings.
const DIFFERS: [(&str, &str); 6] = [
    (r"\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT", "<date>"),
    (r"\d+\.\d+ ?(s|ms|µs)\b", "<time>"),
    (r"127\.0\.0\.1:\d+", "<address>"),
    (r"pool-\d+-thread-\d+", "<thread>"),
    (r"' \(\d+\) panicked", "' panicked"),
    (r"\d+ filtered out", "<others> filtered out"),
];

/// The character that replaces a line end in text that was left out. So the line number in the recording is
/// still known for each line of a core.
const LEFT_OUT: char = '\u{1f}';

/// The largest number of pairs of lines that are compared. If there are more pairs, all these lines count as
/// different.
const PAIRS: usize = 4_000_000;

/// The lines in which two recordings differ. Lines are counted from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// The lines of the old recording that the new one does not have.
    pub(crate) old: Vec<usize>,
    /// The lines of the new recording that the old one does not have.
    pub(crate) new: Vec<usize>,
    /// The expressions of the recipe that the new recording must match, but does not match.
    pub(crate) lacks: Vec<String>,
}

/// Compares two recordings line by line.
///
/// # Errors
/// Returns an error if an expression of the recipe is malformed.
pub(crate) fn differences(old: &str, new: &str, equal: &Equal) -> anyhow::Result<Differences> {
    let (old, lacks) = (lines(old, equal)?, lacks(new, equal)?);
    let new = lines(new, equal)?;
    let (old, new) = without_common(&old, &new);
    Ok(Differences { old, new, lacks })
}

/// Returns the core of a recording: the part in which two recordings must agree.
///
/// # Errors
/// Returns an error if an expression of the recipe is malformed.
pub(super) fn core(text: &str, equal: &Equal) -> anyhow::Result<String> {
    let lines: Vec<String> = lines(text, equal)?.into_iter().map(|(_, line)| line).collect();
    Ok(lines.join("\n"))
}

/// Returns the expressions that a recording must match, but does not match.
///
/// # Errors
/// Returns an error if an expression is malformed.
pub(super) fn lacks(text: &str, equal: &Equal) -> anyhow::Result<Vec<String>> {
    let mut lacks = Vec::new();
    for expected in &equal.with {
        if !Regex::new(expected)?.is_match(text) {
            lacks.push(expected.clone());
        }
    }
    Ok(lacks)
}

/// Returns the lines of a core. Each line of the core is paired with a number: the number of the line at
/// which it begins in the recording.
fn lines(text: &str, equal: &Equal) -> anyhow::Result<Vec<(usize, String)>> {
    let mut core = text.to_owned();
    for (pattern, what) in DIFFERS {
        core = replace(&core, &Regex::new(pattern).expect("a valid expression"), what);
    }
    for pattern in &equal.but {
        core = replace(&core, &Regex::new(pattern)?, "<…>");
    }
    let mut next = 0;
    let mut lines: Vec<(usize, String)> = core
        .trim_end()
        .lines()
        .map(|line| {
            let begins = next;
            next += 1 + line.matches(LEFT_OUT).count();
            (begins, line.replace(LEFT_OUT, "").trim_end().to_owned())
        })
        .collect();
    if equal.unordered {
        lines.sort_by(|(_, one), (_, other)| one.cmp(other));
    }
    Ok(lines)
}

fn replace(text: &str, pattern: &Regex, what: &str) -> String {
    let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
        let ends = found[0].matches(['\n', LEFT_OUT]).count();
        format!("{what}{}", LEFT_OUT.to_string().repeat(ends))
    });
    replaced.into_owned()
}

/// Returns the numbers of the lines that remain if the longest common subsequence is left out of both sides.
fn without_common(old: &[(usize, String)], new: &[(usize, String)]) -> (Vec<usize>, Vec<usize>) {
    let same = |(old, new): &(&(usize, String), &(usize, String))| old.1 == new.1;
    let before = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[before..], &new[before..]);
    let after = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
    let numbers = |lines: &[(usize, String)]| lines.iter().map(|(number, _)| *number).collect::<Vec<_>>();
    if old.len().saturating_mul(new.len()) > PAIRS {
        return (numbers(old), numbers(new));
    }
    // For each pair of positions, the length of the longest common subsequence of the lines that begin at
    // these positions.
    let mut longest = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            longest[a][b] = if old[a].1 == new[b].1 {
                longest[a + 1][b + 1] + 1
            } else {
                longest[a + 1][b].max(longest[a][b + 1])
            };
        }
    }
    let (mut a, mut b, mut only_old, mut only_new) = (0, 0, Vec::new(), Vec::new());
    while a < old.len() && b < new.len() {
        if old[a].1 == new[b].1 {
            (a, b) = (a + 1, b + 1);
        } else if longest[a + 1][b] >= longest[a][b + 1] {
            only_old.push(old[a].0);
            a += 1;
        } else {
            only_new.push(new[b].0);
            b += 1;
        }
    }
    only_old.append(&mut numbers(&old[a..]));
    only_new.append(&mut numbers(&new[b..]));
    (only_old, only_new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(unordered: bool, but: &str) -> Equal {
        Equal { unordered, but: vec![but.into()], with: Vec::new() }
    }

    #[test]
    fn times_dates_ports_and_thread_numbers_may_differ_and_nothing_else() {
        let line = |date: &str, time: &str, thread: u32| {
            format!(
                "127.0.0.1:{thread} [{date}] \"GET /hello HTTP/1.1\" 200 13 {time} pool-1-thread-{thread}\n"
            )
        };
        let one = line("Sat, 21 Nov 2026 22:58:05 GMT", "2000.3ms", 1);
        let other = line("Sun, 22 Nov 2026 09:00:00 GMT", "1.9 s", 2);
        let core = |text: &str| core(text, &Equal::default()).unwrap();
        assert_eq!(core(&one), core(&other));
        assert_ne!(core(&one), core(&other.replace("200", "503")));
        assert_ne!(core("2000 ms"), core("2001 ms")); // not a measured time
    }

    #[test]
    fn a_recipe_may_allow_more() {
        assert_eq!(
            core("b 7\na 8\n", &equal(true, r"\d")).unwrap(),
            core("a 1\nb 2\n", &equal(true, r"\d")).unwrap()
        );
        assert_ne!(core("b\na\n", &equal(false, "x")).unwrap(), core("a\nb\n", &equal(false, "x")).unwrap());
    }

    #[test]
    fn lines_that_differ_are_named_on_both_sides() {
        let differ = |old: &str, new: &str, equal: &Equal| {
            let differences = differences(old, new, equal).unwrap();
            (differences.old, differences.new)
        };
        let strict = Equal::default();
        assert_eq!(differ("a\nb\nc\n", "a\nb\nc\n\n", &strict), (vec![], vec![]));
        assert_eq!(differ("a\nb\nc\n", "a\nx\ny\nc\n", &strict), (vec![1], vec![1, 2]));
        assert_eq!(differ("a\nb\nc\nd\n", "b\nd\ne\n", &strict), (vec![0, 2], vec![2]));
        assert_eq!(differ("1.5 s\nb\n", "2.5 s\nc\n", &strict), (vec![1], vec![1]));
        assert_eq!(differ("b\na\n", "x\na\nb\n", &equal(true, "-")), (vec![], vec![0]));
        // A recipe can leave out the end of a line, even the end of the last line.
        assert_eq!(differ("a 1\nb 2\n", "a 1\nb 3\n", &equal(false, r"\d\n")), (vec![], vec![]));
        // The lines after a left-out text keep their numbers, even if this text spans several lines.
        let between = equal(false, r"(?s)<.*>");
        assert_eq!(differ("a\n<1\n2\n3>\nz\n", "a\n<1>\ny\n", &between), (vec![4], vec![2]));
        assert_eq!(differ("a\nb\n", "a\nc\nd\n", &equal(false, r"(?s)\n.*")), (vec![], vec![]));
    }

    #[test]
    fn too_many_lines_to_compare_all_count_as_different() {
        let (old, new) = ("a\nb\n".repeat(2_000), "b\na\n".repeat(2_000));
        let differences = differences(&old, &new, &Equal::default()).unwrap();
        assert_eq!((differences.old.len(), differences.new.len()), (4_000, 4_000));
    }

    #[test]
    fn what_a_recording_must_contain_is_missed() {
        let equal = Equal { with: vec!["status 200".into(), "after [12]".into()], ..Equal::default() };
        let differences = differences("status 200 after 1\n", "status 200 after 3\n", &equal).unwrap();
        assert_eq!(differences.lacks, ["after [12]"]);
    }
}
