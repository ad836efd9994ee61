//! A site of small files, for a crawler.

use std::fs;
use std::path::Path;

/// The number of pages below each page. A page links to the pages below it.
const BELOW: usize = 10;

/// Makes pages of about a kilobyte, each with links to the pages below it, to the page above, and
/// to some other pages.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(site: &Path, pages: usize) -> anyhow::Result<()> {
    let words = "A page that says little, and says it again. ".repeat(20);
    for page in 0..pages {
        let below = (1..=BELOW).map(|number| page * BELOW + number).filter(|number| *number < pages);
        let across = [page / BELOW, (page * 7 + 3) % pages, (page * 13 + 5) % pages];
        let link = |to: usize| format!("<li><a href=\"{to}.html\">page {to}</a></li>\n");
        let links = below.chain(across).map(link).collect::<Vec<_>>().concat();
        let title = format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Page {page}</title>\n");
        fs::write(site.join(format!("{page}.html")), format!("{title}<p>{words}</p>\n<ul>\n{links}</ul>\n"))?;
    }
    fs::write(site.join("robots.txt"), "User-agent: *\nDisallow:\n")?;
    Ok(())
}
