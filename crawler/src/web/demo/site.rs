//! The answers of the site, by path.

use super::answer::{Answer, Reply};
use super::pages::Pages;
use super::{DemoOptions, traps};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The site of a demo.
pub(super) struct Site {
    origin: String,
    pages: Pages,
    has_traps: bool,
    delay: Duration,
    /// The number of requests so far for the page that is unavailable at first.
    times: AtomicUsize,
}

impl Site {
    pub(super) fn new(options: &DemoOptions, origin: String) -> Site {
        let pages = Pages { count: options.pages.max(1), has_spellings: options.traps };
        Site { origin, pages, has_traps: options.traps, delay: options.delay, times: AtomicUsize::new(0) }
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the addresses of all pages that a complete crawl keeps.
    pub(super) fn kept(&self) -> BTreeSet<String> {
        let ordinary = (0..self.pages.count).map(Pages::path);
        let special = traps::KEPT.iter().filter(|_| self.has_traps).map(|&path| path.to_owned());
        ordinary.chain(special).map(|path| format!("{}{path}", self.origin)).collect()
    }

    /// Returns the time that the answer takes before its first byte.
    pub(super) fn delay(&self, target: &str) -> Duration {
        if self.has_traps && target == "/slow.html" { self.delay.max(traps::SLOW) } else { self.delay }
    }

    pub(super) fn answer(&self, target: &str, takes_gzip: bool) -> Answer {
        if let Some(page) = self.pages.at(target) {
            let more = if page == 0 && self.has_traps { "<a href=\"/traps.html\">traps</a>\n" } else { "" };
            return Answer::Whole(Reply::html(self.pages.html(page, more)));
        }
        let trap = match target {
            "/robots.txt" => {
                return Answer::Whole(Reply::new(200, "text/plain", self.robots()));
            }
            "/sitemap.xml" if self.has_traps => {
                return Answer::Whole(Reply::new(200, "application/xml", self.sitemap()));
            }
            _ if self.has_traps => {
                let times = if target == traps::HEALS { self.times.fetch_add(1, Relaxed) } else { 0 };
                traps::answer(target, times, &self.origin, takes_gzip)
            }
            _ => None,
        };
        trap.unwrap_or_else(|| Answer::Whole(Reply::error(404)))
    }

    fn robots(&self) -> String {
        if self.has_traps {
            let origin = &self.origin;
            format!(
                "# Not below this path:\nUser-agent: *\nDisallow: /private/\n\nSitemap: {origin}/sitemap.xml\n"
            )
        } else {
            "User-agent: *\nDisallow:\n".to_owned()
        }
    }

    fn sitemap(&self) -> String {
        let mut map = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
        );
        for path in ["/only-in-sitemap.html", "/", "/private/in-sitemap.html"] {
            let _ = writeln!(map, "<url><loc>{}{path}</loc></url>", self.origin);
        }
        map.push_str("</urlset>\n");
        map
    }
}
