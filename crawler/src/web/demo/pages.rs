//! The ordinary pages: a tree with additional links across it; pseudo-random numbers that are the same in
//! each run determine the pages.

use fastrand::Rng;
use std::fmt::Write;

/// The number of pages that have the same parent.
const CHILDREN: usize = 8;

/// The number of links from a page to arbitrary other pages.
const ACROSS: usize = 3;

const SECTIONS: usize = 12;

/// The number of words on a page.
const LENGTH: usize = 160;

const WORDS: [&str; 48] = [
    "anchor", "barley", "candle", "dolphin", "ember", "fjord", "garden", "harbour", "island", "juniper",
    "kettle", "lantern", "meadow", "needle", "orchard", "pepper", "quarry", "river", "saddle", "thimble",
    "umbrella", "valley", "willow", "yarrow", "zephyr", "bridge", "copper", "dragon", "engine", "feather",
    "granite", "hammer", "ivory", "jacket", "kernel", "ladder", "mirror", "nutmeg", "oyster", "pillow",
    "quiver", "ribbon", "silver", "tunnel", "velvet", "walnut", "compass", "bucket",
];

/// The ordinary pages of a site.
pub(super) struct Pages {
    pub(super) count: usize,
    /// True if links are written in several equivalent ways.
    pub(super) has_spellings: bool,
}

impl Pages {
    /// Returns the path of a page; page 0 is the start.
    pub(super) fn path(page: usize) -> String {
        match page {
            0 => "/".to_owned(),
            _ => format!("/section-{}/page-{page}.html", chance(page).usize(..SECTIONS)),
        }
    }

    /// Returns the number of the page at a path.
    pub(super) fn at(&self, path: &str) -> Option<usize> {
        if path == "/" {
            return Some(0);
        }
        let number = path.strip_suffix(".html")?.rsplit_once("/page-")?.1;
        let page = number.parse().ok().filter(|page| (1..self.count).contains(page))?;
        (Pages::path(page) == path).then_some(page)
    }

    /// Returns the HTML of a page with its links; `more` is added at its end.
    pub(super) fn html(&self, page: usize, more: &str) -> String {
        let mut chance = chance(page);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Page {page}</title>\n\
             <h1>Page {page}</h1>\n<p>page{page}"
        );
        chance.usize(..SECTIONS); // skips the number that the path uses
        for word in 0..LENGTH {
            html.push_str(if word % 12 == 11 { "\n" } else { " " });
            html.push_str(WORDS[chance.usize(..WORDS.len())]);
        }
        html.push_str("</p>\n<ul>\n");
        let first = page * CHILDREN + 1;
        for child in first..(first + CHILDREN).min(self.count) {
            let _ = writeln!(html, "<li><a href=\"{}\">page {child}</a></li>", Pages::path(child));
        }
        for number in 0..ACROSS {
            let other = chance.usize(..self.count);
            let _ = writeln!(html, "<li><a href=\"{}\">see page {other}</a></li>", self.spelt(other, number));
        }
        html.push_str("</ul>\n");
        html.push_str(more);
        html.push_str("</html>\n");
        html
    }

    /// Returns the address of a page, written in one of several ways.
    fn spelt(&self, page: usize, way: usize) -> String {
        let path = Pages::path(page);
        match way {
            0 if self.has_spellings => format!("{path}#part"),
            1 if self.has_spellings => format!("/about/..{path}"),
            _ => path,
        }
    }
}

/// Returns a random number generator for a page, which gives the same numbers in each run.
fn chance(page: usize) -> Rng {
    Rng::with_seed(1 ^ (page as u64).wrapping_mul(0x2545_f491_4f6c_dd1d))
}
