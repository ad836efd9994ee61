//! What a run of `crawl` says at its end.

use super::args::CrawlArgs;
use super::graph::{self, Broken};
use super::run::Run;
use crate::stage::INTERRUPTED;
use anyhow::Context;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// The exit status of a crawl that found broken links.
const BROKEN: u8 = 3;

/// Pages with a link to a broken one that are named.
const NAMED: usize = 5;

/// How a crawl ended.
pub struct Ended {
    /// All pages are over.
    pub is_whole: bool,
    /// Pages that were being fetched when it was stopped.
    pub cut_off: usize,
}

/// Writes what is asked for, says what came of the crawl, and by which exit status.
///
/// # Errors
/// If a file cannot be written, or the state is damaged.
pub fn finish(args: &CrawlArgs, run: &Run, ended: &Ended) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.graph {
        graph::write_lines(&run.state, path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if let Some(path) = &args.dot {
        graph::write_dot(&run.state, path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let report = Report {
        counts: run.state.counts()?,
        broken: graph::broken(&run.state)?,
        notes: run.visitor.notes(),
        left_out: run.frontier.left_out(),
        ended,
        seconds: run.begun.elapsed().as_secs_f64(),
    };
    if args.json {
        report.print_as_json();
    } else {
        report.print();
    }
    Ok(match (ended.is_whole, report.broken.is_empty()) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(BROKEN),
    })
}

struct Report<'r> {
    counts: BTreeMap<&'static str, usize>,
    broken: Vec<Broken>,
    notes: Vec<String>,
    left_out: usize,
    ended: &'r Ended,
    seconds: f64,
}

impl Report<'_> {
    fn count(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or_default()
    }

    fn print_as_json(&self) {
        let broken = |broken: &Broken| json!({ "url": broken.url, "why": broken.why, "linked_from": broken.linked_from });
        let report = json!({
            "fetched": self.count("fetched"),
            "failed": self.count("failed"),
            "refused": self.count("refused"),
            "waiting": self.count("waiting"),
            "cut_off": self.ended.cut_off,
            "complete": self.ended.is_whole,
            "broken": self.broken.iter().map(broken).collect::<Vec<_>>(),
            "notes": self.notes,
            "left_out": self.left_out,
            "seconds": self.seconds,
        });
        println!("{report}");
    }

    fn print(&self) {
        for broken in &self.broken {
            println!("{}: {}", broken.url, visible(&broken.why));
            broken.linked_from.iter().take(NAMED).for_each(|from| println!("  on {from}"));
            if broken.linked_from.len() > NAMED {
                println!("  and {} more", broken.linked_from.len() - NAMED);
            }
        }
        self.notes.iter().for_each(|note| println!("{}", visible(note)));
        println!(
            "{} pages fetched, {} failed, {} not allowed by robots.txt, {} broken, in {:.1} s",
            self.count("fetched"),
            self.count("failed"),
            self.count("refused"),
            self.broken.len(),
            self.seconds
        );
        if self.left_out > 0 {
            println!("{} links were left out: there are more pages than --pages takes on.", self.left_out);
        }
        if !self.ended.is_whole {
            println!(
                "Incomplete: {} pages wait, {} of them were being fetched. The same command goes on from here.",
                self.count("waiting"),
                self.ended.cut_off
            );
        }
    }
}

/// Without what a terminal could take for a command: parts of it are from servers.
fn visible(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_talk_to_the_terminal() {
        assert_eq!(visible("encoded as \u{9b}2J\u{1b}[2J, né"), "encoded as \\u{9b}2J\\u{1b}[2J, né");
    }
}
