//! Writes the result of a crawl for other programs: pages and their links, and the broken links.

use crate::web::crawl::results::Results;
use crate::web::crawl::state::{Progress, Record, State};
use crate::web::sites::urls::{Refused, Scope};
use anyhow::Context;
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use url::Url;

/// The largest number of pages that are named for each problem.
const NAMED: usize = 5;

/// The reason that is reported for one redirect too many.
const TOO_OFTEN: &str = "it redirects again, more often than --depth allows";

/// The largest number of redirects that are followed to find the page that has a part.
const MOST_MOVES: usize = 20;

/// Writes a line of JSON for each page that was fetched, with the keys `{"url", "status", "links"}`.
///
/// The new file is written in the directory of the old file and then renamed, so that a reader sees either
/// the old file or the new file. If the file cannot be written, no partial file is left.
///
/// # Errors
/// Fails if the state is damaged, or if the file cannot be written.
pub fn write_lines(state: &State, path: &Path) -> anyhow::Result<()> {
    let cannot = || format!("{} cannot be written", path.display());
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut out = BufWriter::new(File::create(&beside).with_context(cannot)?);
    let lines = state.each(|url, page| {
        if page.progress == Progress::Fetched && !page.is_other {
            writeln!(out, "{}", json!({ "url": url, "status": page.status, "links": page.links }))?;
        }
        Ok(())
    });
    let written = lines.and_then(|()| {
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(fs::rename(&beside, path)?)
    });
    written.with_context(cannot).inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Returns the pages, and parts of pages, that do not exist, each with the reason; `scope` and `depth` are
/// those of the crawl. The allowed targets of a redirect depend on scope and depth, so redirects are judged
/// here: another run may have other limits. A page with a status in `accepted` is not broken.
///
/// # Errors
/// Fails if the state is damaged.
pub fn broken(
    store: &impl Results,
    scope: &Scope,
    depth: u32,
    accepted: &[u16],
) -> anyhow::Result<Vec<Broken>> {
    let state = &*store.state();
    let (mut broken, mut moved) = (BTreeMap::new(), HashMap::new());
    let mut wanted: Wanted = BTreeMap::new();
    let mut add = |url: &str, why| {
        broken.insert(url.to_owned(), Broken { url: url.to_owned(), why, linked_from: Pages::default() });
    };
    state.each(|url, page| {
        if let Some(why) = trouble(&page, accepted) {
            add(url, why);
        }
        for (to, part) in &page.fragments {
            wanted.entry(to.clone()).or_default().entry(part.clone()).or_default().add(url);
        }
        if is_moved(&page)
            && let Some(to) = page.links.into_iter().next()
        {
            match refusal(scope, &to) {
                Some(Refused::Pattern) => (), // not requested, so not broken
                Some(Refused::Host) if !page.is_other => (),
                Some(refused) if refused != Refused::Host => add(url, astray(&refused, &to)),
                _ if page.depth > depth && !store.has_seen(&to) => add(url, TOO_OFTEN.to_owned()),
                _ => (),
            }
            moved.insert(url.to_owned(), to);
        }
        Ok(())
    })?;
    for url in circles(&moved) {
        add(url, "it redirects in a circle".to_owned());
    }
    for (url, why) in scope.starts().filter_map(|start| way_out(start.as_str(), &moved, scope)) {
        add(url, why);
    }
    name_links(&mut broken, state, &moved)?;
    let parts = missing_parts(state, wanted, &moved)?;
    Ok(broken.into_values().chain(parts).collect())
}

/// Records for each broken page the pages that link to it.
fn name_links(
    broken: &mut BTreeMap<String, Broken>,
    state: &State,
    moved: &HashMap<String, String>,
) -> anyhow::Result<()> {
    if broken.is_empty() {
        return Ok(());
    }
    state.each(|url, page| {
        for link in page.links.iter().chain(&page.copy_of).filter(|_| !is_moved(&page)) {
            // A link to a redirect leads to the target of the redirect.
            let mut at = link;
            while !broken.contains_key(at)
                && let Some(to) = moved.get(at)
            {
                at = to;
            }
            if let Some(broken) = broken.get_mut(at) {
                broken.linked_from.add(url);
            }
        }
        Ok(())
    })
}

/// Parts of pages, by the address to which links lead and by the name of the part, each with the pages that
/// have these links.
type Wanted = BTreeMap<String, BTreeMap<String, Pages>>;

/// Returns the parts of pages that do not exist although links lead to them, for pages whose parts the
/// crawl has collected.
fn missing_parts(
    state: &State,
    wanted: Wanted,
    moved: &HashMap<String, String>,
) -> anyhow::Result<Vec<Broken>> {
    let (mut by_page, mut missing) = (Wanted::new(), Vec::new());
    for (mut to, parts) in wanted {
        // Like a browser, the check follows redirects.
        for _ in 0..MOST_MOVES {
            let Some(next) = moved.get(&to) else { break };
            to.clone_from(next);
        }
        let all = by_page.entry(to).or_default();
        for (part, pages) in parts {
            all.entry(part).or_default().extend(pages);
        }
    }
    if by_page.is_empty() {
        return Ok(missing);
    }
    state.each(|url, page| {
        let parts = by_page.remove(url).unwrap_or_default();
        let Some(there) = page.parts else { return Ok(()) };
        let gone = parts.into_iter().filter(|(part, _)| !there.contains(part));
        missing.extend(gone.map(|(part, linked_from)| {
            let why = "the page has no such part".to_owned();
            Broken { url: format!("{url}#{part}"), why, linked_from }
        }));
        Ok(())
    })?;
    Ok(missing)
}

/// Returns the redirect that leads a start page out of the crawl, with the text to report; the crawl does not
/// fetch the target of this redirect.
fn way_out<'m>(start: &str, moved: &'m HashMap<String, String>, scope: &Scope) -> Option<(&'m str, String)> {
    let mut passed = HashSet::new();
    let (mut from, mut to) = moved.get_key_value(start)?;
    loop {
        match refusal(scope, to) {
            Some(refused) => return Some((from, astray(&refused, to))),
            None if passed.insert(from) => (from, to) = moved.get_key_value(to)?,
            None => return None, // a cycle
        }
    }
}

/// Returns the text to report about a redirect to an address that the crawl does not visit.
fn astray(refused: &Refused, to: &str) -> String {
    let to = Url::parse(to).ok();
    match (refused, to.as_ref().and_then(Url::host_str)) {
        (Refused::Host, Some(host)) => format!("it leads to another host: say --allow {host}"),
        _ => format!("it leads where the crawl does not go: {refused}"),
    }
}

/// Returns the reason why the crawl does not follow a redirect.
fn refusal(scope: &Scope, to: &str) -> Option<Refused> {
    scope.admits(&Url::parse(to).ok()?).err()
}

fn is_moved(page: &Record) -> bool {
    page.status.is_some_and(|status| (300..400).contains(&status))
}

/// Returns one redirect of each cycle of redirects: the redirect whose address is first in alphabetical
/// order.
fn circles(moved: &HashMap<String, String>) -> Vec<&String> {
    let (mut known, mut circles) = (HashSet::new(), Vec::new());
    for start in moved.keys() {
        let (mut way, mut at) = (Vec::new(), start);
        while let Some((from, to)) = moved.get_key_value(at).filter(|(from, _)| known.insert(*from)) {
            way.push(from);
            at = to;
        }
        circles.extend(way.into_iter().skip_while(|from| *from != at).min());
    }
    circles
}

/// A page that cannot be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The page.
    pub url: String,
    /// The server's status, or the reason why there is no answer.
    pub why: String,
    /// The pages that have a link to this page.
    pub linked_from: Pages,
}

/// A list of pages that may be very long: the number of pages, and the first pages by name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Pages {
    /// The number of pages.
    pub count: usize,
    /// The first pages of the list, at most five.
    pub named: Vec<String>,
}

impl Pages {
    /// Adds a page.
    pub fn add(&mut self, url: &str) {
        self.count += 1;
        if self.count <= NAMED {
            self.named.push(url.to_owned());
        }
    }

    /// Adds the pages of another list; both lists are in the order of the names.
    fn extend(&mut self, more: Pages) {
        self.count += more.count;
        self.named.extend(more.named);
        self.named.sort_unstable();
        self.named.truncate(NAMED);
    }
}

fn trouble(page: &Record, accepted: &[u16]) -> Option<String> {
    if page.status.is_some_and(|status| accepted.contains(&status)) {
        return None;
    }
    match (page.progress, page.status, &page.why) {
        (Progress::Failed, _, Some(why)) => Some(why.clone()),
        (Progress::Failed, ..) => Some("no answer".to_owned()),
        (Progress::Fetched, Some(status @ 400..), _) => Some(format!("status {status}")),
        (Progress::Fetched, _, Some(why)) => Some(why.clone()),
        _ => None,
    }
}
