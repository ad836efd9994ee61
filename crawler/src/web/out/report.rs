//! The report that a run of `crawl` prints at its end.

use super::graph::{self, Broken, Pages};
use crate::web::args::CrawlArgs;
use crate::web::crawl::results::Results;
use crate::web::crawl::run::Run;
use crate::web::crawl::state::Progress;
use crate::web::sites::urls::{Refused, Scope};
use command_line::INTERRUPTED;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::mem;
use std::process::ExitCode;
use url::Url;

/// The exit status of a crawl that found broken links.
const BROKEN: u8 = 3;

/// The exit status of a crawl that was not stopped, but has left pages to another run.
const LEFT: u8 = 4;

/// The number of links in one question to the store.
const LINKS_AT_ONCE: usize = 1000;

/// The way in which a crawl ended.
pub struct Ended {
    /// True if all pages are finished.
    pub is_whole: bool,
    /// True if the crawl was not stopped, but leaves waiting pages to another run.
    pub is_left: bool,
    /// The number of pages that were being fetched when the crawl was stopped.
    pub cut_off: usize,
}

/// Writes the files that the command line names, prints the report, and returns the exit status. If a file
/// cannot be written, the report is still printed in full.
///
/// # Errors
/// Fails if a file cannot be written, or if the state is damaged.
pub fn finish<S: Results>(args: &CrawlArgs, run: &Run<S>, ended: &Ended) -> anyhow::Result<ExitCode> {
    let (store, state) = (&*run.store, run.store.state());
    let lines = args.graph.as_ref().map(|path| graph::write_lines(&state, path));
    let status = store.status();
    let report = Report {
        tally: Tally::of(store, &run.visitor.scope)?,
        broken: graph::broken(store, &run.visitor.scope, args.depth, &args.accept)?,
        notes: run.visitor.notes(),
        ended,
        is_saved: args.save.is_some(),
        unchanged: store.unchanged(),
        waiting: status.open + status.left + store.beyond(),
        seconds: run.begun.elapsed().as_secs_f64(),
    };
    command_line::print(format_args!(
        "{}\n",
        if args.json { report.json().to_string() } else { report.text() }
    ))?;
    lines.transpose()?;
    Ok(match (ended.is_whole, report.broken.is_empty()) {
        (false, _) if ended.is_left => ExitCode::from(LEFT),
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(BROKEN),
    })
}

/// The counts of all pages and links in the state.
#[derive(Default)]
struct Tally {
    fetched: usize,
    /// The number of addresses on other hosts that have answered.
    checked: usize,
    failed: usize,
    refused: usize,
    waiting: usize,
    /// Pages that are longer than the part that was read.
    truncated: Pages,
    /// The number of pages that name another page as their original.
    copies: usize,
    /// The number of links that are in no list, because their page has too many links or because the links
    /// are too long.
    unlisted: usize,
    /// Addresses of links that are not pages of the crawl.
    elsewhere: Elsewhere,
}

#[derive(Default, Serialize)]
struct Elsewhere {
    other_hosts: usize,
    private: usize,
    /// The number of addresses that are neither http nor https, or are too long.
    no_page: usize,
    /// The number of addresses that --only or --not excludes.
    excluded: usize,
    /// The number of addresses that are beyond --depth or --pages.
    beyond_limits: usize,
}

impl Tally {
    fn of(store: &impl Results, scope: &Scope) -> anyhow::Result<Tally> {
        let waiting = store.elsewhere();
        let mut tally = Tally { waiting, ..Tally::default() };
        let (mut elsewhere, mut links) = (HashSet::new(), HashSet::new());
        store.state().each(|url, record| {
            *match record.progress {
                Progress::Fetched if record.is_other => &mut tally.checked,
                Progress::Fetched => &mut tally.fetched,
                Progress::Failed => &mut tally.failed,
                Progress::Refused => &mut tally.refused,
                Progress::Waiting => &mut tally.waiting,
            } += 1;
            if record.is_truncated {
                tally.truncated.add(url);
            }
            tally.copies += usize::from(record.copy_of.is_some());
            tally.unlisted += record.left_out;
            let others = record.links.into_iter().chain(record.copy_of);
            links.extend(others.filter(|link| !elsewhere.contains(link)));
            if links.len() >= LINKS_AT_ONCE {
                elsewhere.extend(store.unseen(mem::take(&mut links)));
            }
            Ok(())
        })?;
        elsewhere.extend(store.unseen(links));
        for link in &elsewhere {
            tally.elsewhere.count(link, scope);
        }
        Ok(tally)
    }
}

impl Elsewhere {
    fn count(&mut self, link: &str, scope: &Scope) {
        *match Url::parse(link).map(|url| scope.admits(&url)) {
            Ok(Err(Refused::Host)) => &mut self.other_hosts,
            Ok(Err(Refused::Private)) => &mut self.private,
            Ok(Err(Refused::Pattern)) => &mut self.excluded,
            Ok(Ok(())) => &mut self.beyond_limits,
            Ok(Err(Refused::Scheme(_) | Refused::TooLong)) | Err(_) => &mut self.no_page,
        } += 1;
    }

    fn in_words(&self) -> Option<String> {
        let kinds = [
            (self.other_hosts, "on other hosts"),
            (self.private, "at private addresses"),
            (self.no_page, "with another scheme than http and https"),
            (self.excluded, "excluded by --only or --not"),
            (self.beyond_limits, "beyond --depth or --pages"),
        ];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        let words: Vec<_> = kinds.map(|(count, what)| format!("{count} {what}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

struct Report<'r> {
    tally: Tally,
    broken: Vec<Broken>,
    notes: Vec<String>,
    ended: &'r Ended,
    is_saved: bool,
    /// Pages that were requested again and had not changed.
    unchanged: usize,
    /// Pages that this run should have fetched or requested again, but did not request.
    waiting: usize,
    seconds: f64,
}

impl Report<'_> {
    fn json(&self) -> Value {
        let broken = |Broken { url, why, linked_from }: &Broken| json!({ "url": url, "why": why, "links": linked_from.count, "linked_from": linked_from.named });
        let Tally { fetched, checked, failed, refused, waiting, truncated, copies, unlisted, elsewhere } =
            &self.tally;
        json!({
            "fetched": fetched,
            "checked": checked,
            "unchanged": self.unchanged,
            "failed": failed,
            "refused": refused,
            "waiting": waiting,
            "cut_off": self.ended.cut_off,
            "complete": self.ended.is_whole,
            "broken": self.broken.iter().map(broken).collect::<Vec<_>>(),
            "truncated": truncated.count,
            "truncated_pages": truncated.named,
            "copies": copies,
            "unlisted": unlisted,
            "elsewhere": elsewhere,
            "notes": self.notes,
            "seconds": self.seconds,
        })
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        for broken in &self.broken {
            lines.push(format!("{}: {}", broken.url, visible(&broken.why)));
            lines.extend(listed(&broken.linked_from, "on "));
        }
        lines.extend(self.notes.iter().map(|note| visible(note)));
        let Tally { fetched, checked, failed, refused, waiting, truncated, copies, unlisted, elsewhere } =
            &self.tally;
        if *checked > 0 {
            lines.push(format!("{checked} addresses on other hosts have answered."));
        }
        lines.push(format!(
            "{fetched} pages fetched, {failed} failed, {refused} not allowed by robots.txt, {} broken, in {:.1} s",
            self.broken.len(),
            self.seconds
        ));
        if self.unchanged > 0 {
            lines.push(format!("{} pages were asked for again and had not changed.", self.unchanged));
        }
        if let Some(elsewhere) = elsewhere.in_words() {
            lines.push(format!("Not followed, addresses: {elsewhere}."));
        }
        if truncated.count > 0 {
            let files = if self.is_saved { ", and their files are cut there" } else { "" };
            lines.push(format!(
                "{} pages are longer than --max-bytes; links behind that are not known{files}:",
                truncated.count
            ));
            lines.extend(listed(truncated, ""));
        }
        if self.is_saved && *copies > 0 {
            lines.push(format!("{copies} pages are not saved: they say that another page is the real one."));
        }
        if *unlisted > 0 {
            lines.push(format!(
                "{unlisted} links were left out: their pages have too many, or they are too long."
            ));
        }
        if !self.ended.is_whole {
            let (waiting, cut_off) = (self.waiting.max(*waiting), self.ended.cut_off);
            lines.push(format!(
                "Incomplete: {waiting} pages wait, {cut_off} of them were being fetched. The same command goes on from here."
            ));
        }
        lines.join("\n")
    }
}

/// Returns a line for each page that is named, and one line for all pages that are not named.
fn listed(pages: &Pages, before: &str) -> Vec<String> {
    let mut lines: Vec<_> = pages.named.iter().map(|page| format!("  {before}{page}")).collect();
    if pages.count > pages.named.len() {
        lines.push(format!("  and {} more", pages.count - pages.named.len()));
    }
    lines
}

/// Escapes the control characters of a text, because parts of the text are from servers and a terminal
/// obeys control characters.
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
