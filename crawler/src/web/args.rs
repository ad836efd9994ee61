//! The command line of `crawl`.

use super::sites::urls::{Refused, Scope, normalise};
use anyhow::bail;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The largest number of threads in a pool.
const MOST_THREADS: usize = 256;

/// Crawls web sites, and continues where the last run was stopped
#[derive(clap::Parser, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(name = "crawl", version)]
pub struct CrawlArgs {
    /// Addresses at which the crawl begins; the scheme is http:// if an address has no scheme
    #[arg(required_unless_present = "demo", value_parser = address)]
    pub starts: Vec<Url>,

    /// The file that records which pages have been crawled; a new file is created if it does not exist
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,

    /// Other hosts to crawl: example.org, or .example.org for all hosts below it
    #[arg(long, value_name = "HOST", help_heading = "Which pages")]
    pub allow: Vec<String>,

    /// Crawl only addresses that match, such as `*/docs/*`; * stands for any characters, including slashes
    #[arg(long, value_name = "PATTERN", help_heading = "Which pages")]
    pub only: Vec<String>,

    /// Crawl no addresses that match, such as `*.pdf`
    #[arg(long, value_name = "PATTERN", help_heading = "Which pages")]
    pub not: Vec<String>,

    /// Also check that linked addresses on other hosts exist
    #[arg(long, help_heading = "Which links are broken")]
    pub check: bool,

    /// Also check that linked parts of pages exist, as in `page#part`
    #[arg(long, help_heading = "Which links are broken")]
    pub fragments: bool,

    /// Statuses that do not make a link broken, such as 403,429
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(100..=999), help_heading = "Which links are broken")]
    pub accept: Vec<u16>,

    /// The largest number of links and redirects that lead from the start to a page
    #[arg(long, value_name = "COUNT", default_value = "20", help_heading = "Which pages")]
    pub depth: u32,

    /// The largest number of pages in the crawl
    #[arg(long, value_name = "COUNT", default_value = "100000", value_parser = pages, help_heading = "Which pages")]
    pub pages: usize,

    /// Also crawl private addresses, such as the addresses of this machine or of an office network
    #[arg(long, help_heading = "Which pages")]
    pub allow_private: bool,

    /// Do not request robots.txt; use this flag only for your own site
    #[arg(long, help_heading = "Which pages")]
    pub ignore_robots: bool,

    /// The pause before the next request to the same site
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = delay, help_heading = "Politeness")]
    pub delay: Duration,

    /// The number of pages of a site that are fetched at the same time
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = command_line::threads::<MOST_THREADS>, help_heading = "Politeness")]
    pub per_site: NonZeroUsize,

    /// The name that the crawler sends to sites as its User-Agent
    #[arg(long, value_name = "TEXT", default_value = concat!("crawl/", env!("CARGO_PKG_VERSION")), help_heading = "Politeness")]
    pub user_agent: String,

    /// The name by which robots.txt addresses the crawler [default: the product of --user-agent]
    #[arg(long, value_name = "NAME", help_heading = "Politeness")]
    pub robots_name: Option<String>,

    /// Threads that fetch
    #[arg(long, value_name = "COUNT", default_value = "16", value_parser = command_line::threads::<MOST_THREADS>, help_heading = "Limits")]
    pub threads: NonZeroUsize,

    /// The number of times that a page is tried again
    #[arg(long, value_name = "COUNT", default_value = "3", help_heading = "Limits")]
    pub retries: u32,

    /// How long a site may fail to answer before its pages are left to another run
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = delay, help_heading = "Limits")]
    pub patience: Duration,

    /// Also try pages that could not be fetched in an earlier run
    #[arg(long, help_heading = "Which pages")]
    pub retry_failed: bool,

    /// Request again the pages that were requested at least AGE ago, such as --again=7d or 12h; without AGE,
    /// all pages. A server need not send an unchanged page again
    #[arg(long, value_name = "AGE", num_args = 0..=1, require_equals = true, default_missing_value = "0s", value_parser = age, help_heading = "Which pages")]
    pub again: Option<Duration>,

    /// The time limit for a page
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = command_line::duration, help_heading = "Limits")]
    pub timeout: Duration,

    /// The number of bytes of a page that are read; robots.txt and lists of pages have their own limits
    #[arg(long, value_name = "BYTES", default_value = "4194304", help_heading = "Limits")]
    pub max_bytes: u64,

    /// A proxy for all connections
    #[arg(long, value_name = "URL", help_heading = "Limits")]
    pub proxy: Option<Url>,

    /// Write pages into this directory
    #[arg(long, value_name = "DIRECTORY", help_heading = "What is written")]
    pub save: Option<PathBuf>,

    /// Write a line of JSON for each page and its links into this file
    #[arg(long, value_name = "FILE", help_heading = "What is written")]
    pub graph: Option<PathBuf>,

    /// Print the report as JSON
    #[arg(long, help_heading = "What is written")]
    pub json: bool,

    /// Share the crawl with other processes: the address of a Redis or Valkey, such as
    /// `redis://USER:PASSWORD@HOST:6379/0`, or `rediss://` for TLS. The state then has only the records of
    /// this process
    #[arg(long, value_name = "URL", requires = "crawl", conflicts_with_all = ["demo", "again", "retry_failed"], help_heading = "Many processes")]
    pub frontier: Option<String>,

    /// The name of the crawl. `crawl status --frontier URL --crawl NAME` prints the progress of the crawl
    #[arg(long, value_name = "NAME", requires = "frontier", help_heading = "Many processes")]
    pub crawl: Option<String>,

    /// How long the fetch of a page may take before another process fetches the page again [default: 30 s
    /// more than --timeout]
    #[arg(long, value_name = "TIME", hide = true, value_parser = command_line::duration)]
    pub lease: Option<Duration>,

    /// Crawl a built-in site with this number of pages
    #[arg(long, value_name = "PAGES", num_args = 0..=1, default_missing_value = "2000", conflicts_with = "starts")]
    pub demo: Option<usize>,
}

/// Prints the progress of a crawl that many processes share
#[cfg(feature = "redis")]
#[derive(clap::Parser, Debug)]
#[command(name = "crawl status")]
pub struct StatusArgs {
    /// The address of the Redis or Valkey
    #[arg(long, value_name = "URL")]
    pub frontier: String,

    /// The name of the crawl
    #[arg(long, value_name = "NAME")]
    pub crawl: String,
}

#[cfg(feature = "redis")]
impl StatusArgs {
    /// Returns the flags after `crawl status`, if the command line begins with these words. The address of
    /// a host with the name `status` is written `http://status/`.
    pub fn asked_for() -> Option<StatusArgs> {
        let mut line = std::env::args_os().skip(1);
        let is_status = line.next().is_some_and(|word| word == "status");
        is_status.then(|| clap::Parser::parse_from(std::iter::once("crawl status".into()).chain(line)))
    }
}

impl CrawlArgs {
    /// Makes the scope of the crawl from the command line; the scope includes all start addresses.
    ///
    /// # Errors
    /// Returns a sentence for the user if a host or a pattern is not valid, or if a start page is at a
    /// private address.
    pub fn scope(&self) -> anyhow::Result<Scope> {
        let starts: Vec<_> = self.starts.iter().cloned().map(normalise).collect();
        let scope = Scope::new(&starts, &self.allow, self.allow_private || self.demo.is_some())?;
        let scope = scope.with_patterns(&self.only, &self.not)?;
        for start in &starts {
            match scope.admits(start) {
                Ok(()) => (),
                Err(Refused::Private) => {
                    bail!("{start}: the address is private; --allow-private is for a site of one's own")
                }
                Err(refused) => bail!("{start}: {refused}"),
            }
        }
        Ok(scope)
    }

    /// Returns the name with which sites address the crawler in `robots.txt`; the name is `MyBot` if the user
    /// agent is `MyBot/1.0` or `Mozilla/5.0 (compatible; MyBot/1.0)`.
    pub fn robots_name(&self) -> &str {
        let agent = self.user_agent.as_str();
        let product = agent.split_once("compatible;").map_or(agent, |(_, product)| product);
        let said = self.robots_name.as_deref().unwrap_or(product).trim_start();
        said.split(['/', ' ', ';', ')']).next().unwrap_or_default()
    }
}

/// Parses an address as people write it; the scheme of `example.org` and `localhost:8000` is `http://`.
fn address(written: &str) -> Result<Url, String> {
    let is_port = |behind: &str| {
        let port = behind.split(['/', '?', '#']).next().unwrap_or_default();
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    // `[::1]:8000` and `example.org/?from=http://other.org` have a colon, but no scheme before it.
    let is_scheme =
        |before: &str| before.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let has_scheme =
        written.split_once(':').is_some_and(|(before, behind)| is_scheme(before) && !is_port(behind));
    let whole = if has_scheme { written.to_owned() } else { format!("http://{written}") };
    match Url::parse(&whole) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(url) => Err(format!("{}: is not crawled, only http and https are", url.scheme())),
        Err(error) => Err(error.to_string()),
    }
}

fn pages(written: &str) -> Result<usize, String> {
    written.parse().ok().filter(|count| *count > 0).ok_or_else(|| "a number from 1 on is wanted".to_owned())
}

fn age(written: &str) -> Result<Duration, String> {
    command_line::time(written).ok_or_else(|| "expected a time such as 7d, 12h or 30m, or nothing".to_owned())
}

fn delay(written: &str) -> Result<Duration, String> {
    if written == "0" { Ok(Duration::ZERO) } else { command_line::duration(written) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_start_is_written_as_people_write_it() {
        for (written, start) in [
            ("example.org", Ok("http://example.org/")),
            ("localhost:8000/a?b", Ok("http://localhost:8000/a?b")),
            ("127.0.0.1:80", Ok("http://127.0.0.1/")),
            ("[::1]:8000", Ok("http://[::1]:8000/")),
            ("example.org/?from=http://other.org:1/", Ok("http://example.org/?from=http://other.org:1/")),
            ("HTTPS://example.org", Ok("https://example.org/")),
            ("ftp://example.org/", Err("ftp: is not crawled, only http and https are")),
            ("mailto:9a@example.org", Err("mailto: is not crawled, only http and https are")),
            ("http:", Err("empty host")),
            ("", Err("empty host")),
        ] {
            let read = address(written);
            assert_eq!(read.as_ref().map(Url::as_str).map_err(String::as_str), start, "{written}");
        }
    }

    #[test]
    fn a_crawler_is_addressed_by_the_product_that_it_says_it_is() {
        for (flags, name) in [
            (&[][..], "crawl"),
            (&["--user-agent", "MyBot"], "MyBot"),
            (&["--user-agent", "MyBot/1.0 (+https://example.org/bot)"], "MyBot"),
            (&["--user-agent", "Mozilla/5.0 (compatible; MyBot/1.0; +https://example.org)"], "MyBot"),
            (&["--user-agent", "Mozilla/5.0 (compatible;MyBot)"], "MyBot"),
            (&["--user-agent", "Mozilla/5.0 (KHTML, like Gecko; compatible; MyBot/1.0) Chrome/1"], "MyBot"),
            (&["--user-agent", "Mozilla/5.0", "--robots-name", "MyBot"], "MyBot"),
            (&["--robots-name", "MyBot/1.0"], "MyBot"),
        ] {
            let line = [&["crawl", "example.org", "--state", "state"], flags].concat();
            assert_eq!(CrawlArgs::try_parse_from(line).unwrap().robots_name(), name, "{flags:?}");
        }
    }
}
