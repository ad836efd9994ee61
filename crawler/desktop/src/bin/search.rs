//! The searching half of desktop search: it finds the files that have the given words, and prints the best
//! matches first. Each match has a line of text that shows why the file was found.
//!
//! ```sh
//! cargo run -p desktop-search --bin search -- demo-index poison pill
//! cargo run -p desktop-search --bin search -- demo-index "poison pill" -- -queue
//! ```
//!
//! The exit status is the same as that of `grep`: 0 if a file was found, 1 if no file was found, and 2 if the
//! search failed.

use anyhow::anyhow;
use clap::Parser;
use command_line::TROUBLE;
use desktop_search::{Hit, Hits, Now, Query, SearchArgs, Store, guarded, printable, search};
use serde_json::json;
use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The size, in bytes, of the largest file in which `search` looks for a line; `index` indexes no larger
/// files.
const LARGEST: u64 = 1 << 30;

fn main() -> ExitCode {
    let args = SearchArgs::parse();
    command_line::ended("search", TROUBLE, find(&args))
}

fn find(args: &SearchArgs) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let query = Query::parse(&args.words).map_err(|why| anyhow!(why))?;
    let (hits, is_complete) = guarded("the index is damaged: remove its directory and index again", || {
        let store = Store::open(&args.index)?;
        let hits = search(&store, &query, args.limit as usize, LARGEST)?;
        Ok((hits, store.is_complete()?))
    })?;
    command_line::print(if args.json {
        format!("{}\n", report(&hits, is_complete, begun))
    } else {
        lines(&hits)
    })?;
    if !is_complete {
        command_line::say("search: the index is incomplete, there may be more; `index` goes on with it");
    }
    Ok(ExitCode::from(u8::from(hits.count == 0)))
}

fn lines(hits: &Hits) -> String {
    let mut out = String::new();
    let is_coloured =
        io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let here = env::current_dir().unwrap_or_default();
    for hit in &hits.best {
        let path = printable(&near(&hit.path, &here).to_string_lossy());
        match &hit.place {
            Some(place) => out.extend([path, format!(":{}: {}", place.line, marked(hit, is_coloured))]),
            None => out += &path,
        }
        out += match hit.now {
            Now::Same => "\n",
            Now::Changed => "  (changed since it was indexed)\n",
            Now::Unreadable => "  (cannot be read any more)\n",
        };
    }
    match hits.count - hits.best.len() {
        0 if hits.count == 0 => out + "nothing found\n",
        0 => out,
        more => out + &format!("and {more} more: --limit {} shows all\n", hits.count),
    }
}

/// Returns the line of a match, with the found words in bold.
fn marked(hit: &Hit, is_coloured: bool) -> String {
    let Some(place) = &hit.place else { return String::new() };
    let (mut line, mut at) = (String::new(), 0);
    for found in place.found.iter().filter(|_| is_coloured) {
        line.push_str(&place.text[at..found.start]);
        line.extend(["\x1b[1m", &place.text[found.clone()], "\x1b[0m"]);
        at = found.end;
    }
    line + &place.text[at..]
}

/// Returns a path in the form in which a user would type it in the directory `here`.
fn near<'p>(path: &'p Path, here: &PathBuf) -> &'p Path {
    path.strip_prefix(here).unwrap_or(path)
}

fn report(hits: &Hits, is_complete: bool, begun: Instant) -> serde_json::Value {
    let files = hits.best.iter().map(|hit| {
        let place = hit.place.as_ref();
        json!({
            "path": hit.path.to_string_lossy(),
            "score": hit.score,
            "line": place.map(|place| place.line),
            "text": place.map(|place| &place.text),
            "found": place.map(|place| place.found.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>()),
            "now": match hit.now {
                Now::Same => "same",
                Now::Changed => "changed",
                Now::Unreadable => "unreadable",
            },
        })
    });
    json!({
        "count": hits.count,
        "files": files.collect::<Vec<_>>(),
        "complete": is_complete,
        "milliseconds": begun.elapsed().as_secs_f64() * 1e3,
    })
}
