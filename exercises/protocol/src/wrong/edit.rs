//! An edit of a text: hunks without line numbers.
//!
//! The lines of a hunk that are kept (` `) or removed (`-`) must occur, one after the other, at exactly one
//! place after the previous hunk. So a hunk that applies means what its author intended, even if its lines
//! have moved. A hunk whose surrounding lines have changed is refused, and cannot break something else. The
//! cost is that hunks need more lines if a text has the same lines twice.

use anyhow::{bail, ensure};

/// A hunk: consecutive lines of an answer, and how the edit changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The lines from top to bottom.
    pub lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Stays(String),
    Goes(String),
    Comes(String),
}

impl Hunk {
    /// Reads a hunk from its numbered lines, without the `@@`.
    fn of(numbered: &[(usize, &str)]) -> anyhow::Result<Self> {
        let mut lines = Vec::new();
        for (number, line) in numbered {
            let text = line.get(1..).unwrap_or_default().to_owned();
            lines.push(match line.as_bytes().first() {
                None | Some(b' ') => Line::Stays(text),
                Some(b'-') => Line::Goes(text),
                Some(b'+') => Line::Comes(text),
                Some(_) => {
                    bail!("line {number}: a line of a hunk begins with ` `, `-` or `+`, and this one is {line:?}")
                }
            });
        }
        while lines.pop_if(|line| matches!(line, Line::Stays(text) if text.is_empty())).is_some() {}
        Ok(Self { lines })
    }

    fn changes_something(&self) -> bool {
        self.lines.iter().any(|line| !matches!(line, Line::Stays(_)))
    }

    /// Returns the lines before the edit.
    fn before(&self) -> Vec<&str> {
        let is_one = |line: &&Line| !matches!(line, Line::Comes(_));
        self.lines.iter().filter(is_one).map(Line::text).collect()
    }

    /// Returns the lines after the edit.
    fn after(&self) -> Vec<&str> {
        let is_one = |line: &&Line| !matches!(line, Line::Goes(_));
        self.lines.iter().filter(is_one).map(Line::text).collect()
    }
}

impl Line {
    fn text(&self) -> &str {
        let (Self::Stays(text) | Self::Goes(text) | Self::Comes(text)) = self;
        text
    }
}

/// Reads the hunks in these numbered lines.
pub(super) fn hunks(lines: &[(usize, &str)]) -> anyhow::Result<Vec<Hunk>> {
    if let Some((number, line)) = lines.first()
        && *line != "@@"
    {
        bail!("line {number}: a hunk begins with a line `@@`, and this one is {line:?}");
    }
    lines.split(|(_, line)| *line == "@@").skip(1).map(Hunk::of).collect()
}

/// Applies the hunks to the text.
///
/// # Errors
/// Returns an error if a hunk changes nothing, or if its lines occur at no place after the previous hunk, or
/// at several places.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> anyhow::Result<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut edited: Vec<&str> = Vec::new();
    let mut rest = 0;
    for (hunk, place) in hunks.iter().zip(places(&lines, hunks)?) {
        edited.extend(&lines[rest..place]);
        edited.extend(hunk.after());
        rest = place + hunk.before().len();
    }
    edited.extend(&lines[rest..]);
    let edited = edited.join("\n");
    ensure!(edited != text, "the edit leaves the answer as it was");
    Ok(edited)
}

/// Returns the hunks with the given number of further lines before and after each, and without repeating a
/// line.
pub(super) fn with_context(text: &str, hunks: &[Hunk], context: usize) -> anyhow::Result<Vec<Hunk>> {
    let lines: Vec<&str> = text.split('\n').collect();
    let places = places(&lines, hunks)?;
    let ends = hunks.iter().zip(&places).map(|(hunk, place)| place + hunk.before().len());
    let mut shown = 0;
    let mut wider = Vec::new();
    for ((hunk, place), (end, next)) in
        hunks.iter().zip(&places).zip(ends.zip(places.iter().skip(1).chain([&lines.len()])))
    {
        let stays =
            |lines: &[&str]| lines.iter().map(|line| Line::Stays((*line).to_owned())).collect::<Vec<_>>();
        let after = (end + context).min(*next);
        let before = stays(&lines[shown.max(place.saturating_sub(context))..*place]);
        wider.push(Hunk { lines: [before, hunk.lines.clone(), stays(&lines[end..after])].concat() });
        shown = after;
    }
    Ok(wider)
}

/// Returns the line of the text at which each hunk applies.
fn places(lines: &[&str], hunks: &[Hunk]) -> anyhow::Result<Vec<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for hunk in hunks {
        let old = hunk.before();
        ensure!(hunk.changes_something(), "a hunk changes nothing{}", quoted(&old));
        ensure!(
            !old.is_empty(),
            "a hunk needs a line that stays or goes, which says where it applies{}",
            quoted(&hunk.after())
        );
        let stands = |window: &(usize, &[&str])| window.1 == old;
        let all: Vec<usize> =
            lines.windows(old.len()).enumerate().filter(stands).map(|(line, _)| line).collect();
        let later: Vec<usize> = all.iter().copied().filter(|line| *line >= at).collect();
        match later.as_slice() {
            [place] => found.push(*place),
            [] if all.is_empty() => {
                bail!("these lines do not stand in the answer that it edits{}", quoted(&old))
            }
            [] => bail!("these lines stand before those of the hunk before{}", quoted(&old)),
            several => bail!(
                "these lines stand in {} places, so the hunk needs more of what is around them{}",
                several.len(),
                quoted(&old)
            ),
        }
        at = found[found.len() - 1] + old.len();
    }
    Ok(found)
}

fn quoted(lines: &[&str]) -> String {
    lines.iter().fold(":".to_owned(), |text, line| format!("{text}\n    {line}"))
}
