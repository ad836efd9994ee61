//! The line of a text that best shows why the file was found.

use crate::query::Query;
use crate::words;
use std::collections::HashMap;
use std::ops::Range;
use tantivy::tokenizer::TokenStream;

/// The number of characters of a line that are shown.
const SHOWN: usize = 160;

/// The largest number of characters that are shown before the first match in a line that is too long.
const BEFORE: usize = 40;

/// Part of a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The whole line, or a part of the line that is short enough to be shown. Control characters in the text
    /// are replaced.
    pub text: String,
    /// The positions of the words in `text`, as byte ranges, in order and without overlaps.
    pub found: Vec<Range<usize>>,
}

/// A word or phrase of the query that was found.
struct Match {
    part: usize,
    at: Range<usize>,
}

impl Place {
    /// Returns the line that has the most parts of the query, or the first of several such lines. Returns
    /// `None` if no line has any part of the query, for example because only the file's name has the words.
    pub fn find(text: &str, query: &Query) -> Option<Place> {
        let matches = matches(text, query);
        let (mut best, mut most, mut begin) = (0..0, 0, 0);
        while begin < matches.len() {
            let line = line_of(text, &matches[begin].at);
            let end = begin + matches[begin..].iter().take_while(|found| found.at.start < line.end).count();
            let mut parts: Vec<_> = matches[begin..end].iter().map(|found| found.part).collect();
            parts.sort_unstable();
            parts.dedup();
            if parts.len() > most {
                (best, most) = (begin..end, parts.len());
            }
            begin = end;
        }
        let first = matches.get(best.start).filter(|_| most > 0)?;
        let line = line_of(text, &first.at);
        let number = text[..line.start].bytes().filter(|byte| *byte == b'\n').count() + 1;
        Some(Place::of(number, text, line, &matches[best]))
    }

    fn of(number: usize, text: &str, line: Range<usize>, matches: &[Match]) -> Place {
        let line = trimmed(text, line);
        let begin = if text[line.clone()].chars().count() <= SHOWN {
            line.start
        } else {
            let before = text[line.start..matches[0].at.start].char_indices().rev();
            before.take(BEFORE).last().map_or(matches[0].at.start, |(at, _)| line.start + at)
        };
        let end = text[begin..line.end].char_indices().nth(SHOWN).map_or(line.end, |(at, _)| begin + at);
        let mut place = Place { line: number, text: String::new(), found: Vec::new() };
        let mut at = begin;
        for found in matches {
            let (from, to) = (found.at.start.max(at), found.at.end.min(end));
            if from >= to {
                continue;
            }
            place.push(&text[at..from]);
            let begin = place.text.len();
            place.push(&text[from..to]);
            place.found.push(begin..place.text.len());
            at = to;
        }
        place.push(&text[at.min(end)..end]);
        place
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(&crate::printable(&text.replace('\t', " ")));
    }
}

/// Returns every part of the query that the text has, in the order of the text.
fn matches(text: &str, query: &Query) -> Vec<Match> {
    let mut number_of = HashMap::new();
    for word in query.wanted.iter().flatten() {
        let next = number_of.len();
        number_of.entry(word.as_str()).or_insert(next);
    }
    let phrases: Vec<Vec<usize>> = query
        .wanted
        .iter()
        .map(|words| words.iter().map(|word| number_of[word.as_str()]).collect())
        .collect();
    let mut analyzer = words::analyzer();
    let mut stream = analyzer.token_stream(text);
    // The words of the text that also occur in the query: their numbers in the query, and their positions
    // in the text, counted in words and in bytes.
    let mut words: Vec<(usize, usize, Range<usize>)> = Vec::new();
    while stream.advance() {
        let token = stream.token();
        if let Some(number) = number_of.get(token.text.as_str()) {
            words.push((*number, token.position, token.offset_from..token.offset_to));
        }
    }
    let mut matches = Vec::new();
    for (first, (_, position, at)) in words.iter().enumerate() {
        for (part, phrase) in phrases.iter().enumerate() {
            let Some(here) = words.get(first..first + phrase.len()) else { continue };
            let mut steps = here.iter().zip(phrase).enumerate();
            if steps.all(|(step, (word, wanted))| word.0 == *wanted && word.1 == position + step) {
                matches.push(Match { part, at: at.start..here[phrase.len() - 1].2.end });
            }
        }
    }
    matches
}

/// Returns the line in which the range `at` begins.
fn line_of(text: &str, at: &Range<usize>) -> Range<usize> {
    let begin = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at.start..].find('\n').map_or(text.len(), |length| at.start + length);
    begin..end
}

fn trimmed(text: &str, line: Range<usize>) -> Range<usize> {
    let whole = &text[line.clone()];
    let begin = line.start + (whole.len() - whole.trim_start().len());
    begin..line.start + whole.trim_end().len().max(begin - line.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, typed: &[&str]) -> Option<(usize, String, Vec<String>)> {
        let typed: Vec<_> = typed.iter().map(|argument| (*argument).to_owned()).collect();
        let place = Place::find(text, &Query::parse(&typed).unwrap())?;
        let found = place.found.iter().map(|range| place.text[range.clone()].to_owned()).collect();
        Some((place.line, place.text, found))
    }

    type Shown = Option<(usize, String, Vec<String>)>;

    fn expect(line: usize, text: &str, found: &[&str]) -> Shown {
        let found = found.iter().map(|word| (*word).to_owned()).collect();
        Shown::from((line, text.to_owned(), found))
    }

    #[test]
    fn the_line_with_the_most_is_shown() {
        let text = "a pool\nthe queue\n\t a Queue of a pool \nqueue, pool\n";
        assert_eq!(find(text, &["pool", "queue"]), expect(3, "a Queue of a pool", &["Queue", "pool"]));
        assert_eq!(find(text, &["queue"]), expect(2, "the queue", &["queue"]));
        assert_eq!(find(text, &["queue pool"]), expect(4, "queue, pool", &["queue, pool"]));
        assert_eq!(find(text, &["of a"]), expect(3, "a Queue of a pool", &["of a"]));
        assert_eq!(find(text, &["thread"]), None);
    }

    #[test]
    fn a_phrase_may_go_on_in_the_next_line() {
        assert_eq!(find("one two\nthree four", &["two three"]), expect(1, "one two", &["two"]));
    }

    #[test]
    fn what_overlaps_is_marked_once() {
        assert_eq!(find("a b a b c", &["a b", "b a"]), expect(1, "a b a b c", &["a b", " a", " b"]));
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        assert_eq!(
            find("red\u{1b}[31m x\ty\u{9b}", &["x"]),
            expect(1, "red\u{fffd}[31m x y\u{fffd}", &["x"])
        );
    }

    #[test]
    fn a_long_line_is_shown_in_part() {
        let text = format!("{}needle{}", "é ".repeat(500_000), " ü".repeat(500_000));
        let (line, shown, found) = find(&text, &["needle"]).unwrap();
        assert_eq!((line, shown.chars().count(), found), (1, SHOWN, vec!["needle".to_owned()]));
        assert!(shown.starts_with("é é") && shown.ends_with('ü'), "{shown}");
    }

    /// In a line with a million words of the query, the work for one word must not grow with the length of
    /// the line.
    #[test]
    fn an_endless_line_takes_no_endless_time() {
        let begin = std::time::Instant::now();
        let (line, ..) = find(&"needle ".repeat(1_000_000), &["needle", "needle needle"]).unwrap();
        assert_eq!(line, 1);
        assert!(begin.elapsed().as_secs() < 60, "it took {:?}", begin.elapsed());
    }
}
