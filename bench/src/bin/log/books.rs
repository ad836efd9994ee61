//! Reads a log back. Each line of each thread must be in the file exactly once, must be complete, and must be
//! in the order of its thread.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::load::{Load, Message, TEXT};

/// The counts of a log file's lines, compared with the lines that were logged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    /// The number of different lines that the file contains.
    pub(crate) written: u64,
    /// The number of additional copies of lines.
    pub(crate) again: u64,
    /// The number of lines that are placed after a later line of the same thread.
    pub(crate) out_of_order: u64,
    /// The number of lines that are incomplete, have no time or level, or do not belong to the
    /// load.
    pub(crate) broken: u64,
    /// The number of bytes of all lines.
    pub(crate) bytes: u64,
}

impl Books {
    /// Counts the lines of a log file.
    pub(crate) fn of(path: &Path, load: Load) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
        let (mut books, mut line) = (Self::default(), Vec::new());
        let mut seen = vec![vec![false; load.lines as usize]; load.threads as usize];
        let mut next = vec![0; load.threads as usize];
        while file.read_until(b'\n', &mut line)? > 0 {
            books.bytes += line.len() as u64;
            let message = message(&line).filter(|it| it.thread < load.threads && it.line < load.lines);
            if let Some(Message { thread, line }) = message {
                let seen = &mut seen[thread as usize][line as usize];
                let next = &mut next[thread as usize];
                *(if *seen { &mut books.again } else { &mut books.written }) += 1;
                books.out_of_order += u64::from(line < *next);
                (*seen, *next) = (true, line + 1);
            } else {
                books.broken += 1;
            }
            line.clear();
        }
        Ok(books)
    }

    /// Returns how many lines are wrong: missing, repeated, out of order, or broken.
    pub(crate) fn wrong(&self, load: Load) -> u64 {
        load.total() - self.written + self.again + self.out_of_order
    }

    /// Returns the counts as a text for human readers.
    pub(crate) fn told(&self, load: Load) -> String {
        let Books { written, again, out_of_order, broken, bytes } = self;
        let each = *bytes as f64 / (written + again + broken).max(1) as f64;
        let lost = (load.total() - written) as f64 * 100.0 / load.total() as f64;
        let facts = [
            (*again, format!("{again} twice")),
            (*out_of_order, format!("{out_of_order} out of order")),
            (*broken, format!("{broken} not of the load")),
        ];
        let facts = facts.into_iter().filter(|(count, _)| *count > 0).map(|(_, fact)| fact);
        let always = [format!("{each:.0} bytes per line"), format!("{lost:.2} % lost")];
        always.into_iter().chain(facts).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the message of a complete line that has a time and a level, in any of the formats.
fn message(line: &[u8]) -> Option<Message> {
    let line = str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (before, rest) = line.split_once("thread ")?;
    let (thread, rest) = rest.split_once(" line ")?;
    let (number, rest) = rest.split_once(' ')?;
    let after = rest.strip_prefix(TEXT)?;
    let is_json = line.starts_with('{') && line.ends_with('}') && after.starts_with('"');
    let marks = if is_json { line } else { before };
    let is_whole = (is_json || after.is_empty()) && has_level(marks) && has_time(marks);
    let parsed = Message { thread: thread.parse().ok()?, line: number.parse().ok()? };
    is_whole.then_some(parsed)
}

fn has_level(text: &str) -> bool {
    text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"info"))
}

/// Returns whether the text contains a time like `08:15:59`.
fn has_time(text: &str) -> bool {
    let is_time = |it: &[u8]| {
        it.iter().enumerate().all(|(n, byte)| if n % 3 == 2 { *byte == b':' } else { byte.is_ascii_digit() })
    };
    text.as_bytes().windows(8).any(is_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books(lines: &[String]) -> Books {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.concat()).unwrap();
        Books::of(file.path(), Load { threads: 2, lines: 3 }).unwrap()
    }

    fn line(thread: u32, line: u32) -> String {
        format!("2026-11-25T08:15:59Z INFO log: {}\n", Message { thread, line })
    }

    fn all() -> Vec<String> {
        [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (1, 2)].map(|(thread, n)| line(thread, n)).to_vec()
    }

    #[test]
    fn what_is_as_it_has_to_be_is_right() {
        let books = books(&all());
        assert!(books.wrong(Load { threads: 2, lines: 3 }) == 0, "{books:?}");
        assert_eq!(books.bytes, all().concat().len() as u64);
    }

    #[test]
    fn json_is_read_too() {
        let json = format!(
            "{{\"msg\":\"{}\",\"level\":\"INFO\",\"ts\":\"08:15:59\"}}\n",
            Message { thread: 1, line: 2 }
        );
        assert_eq!(message(json.as_bytes()), Some(Message { thread: 1, line: 2 }));
        assert_eq!(message(json.trim_end().as_bytes()), None, "no line feed");
        assert_eq!(message(json.replace('}', "").as_bytes()), None);
    }

    #[test]
    fn what_is_lost_or_there_again_is_counted() {
        let mut lines = all();
        lines[3] = line(0, 1);
        assert_eq!(
            books(&lines),
            Books {
                written: 5,
                again: 1,
                out_of_order: 1,
                bytes: 6 * lines[0].len() as u64,
                ..Books::default()
            }
        );
    }

    #[test]
    fn two_lines_that_have_changed_places_are_out_of_order() {
        let mut lines = all();
        lines.swap(2, 3);
        assert_eq!(books(&lines).out_of_order, 1);
        assert_eq!(books(&lines).written, 6);
    }

    #[test]
    fn a_line_that_is_not_whole_or_misses_something_is_broken() {
        for broken in [
            line(0, 2).replace(TEXT, &TEXT[1..]),
            line(0, 2).replace('\n', " \n"),
            line(0, 2).replace("INFO", "IN"),
            line(0, 2).replace("08:15", "0815"),
            line(0, 3),
            line(2, 0),
            "\n".to_owned(),
        ] {
            let mut lines = all();
            lines[3] = broken;
            let books = books(&lines);
            assert_eq!((books.written, books.broken), (5, 1), "{lines:?}");
        }
    }
}
