//! The parts of the travel portal that do not concern concurrency: the list of companies, quotes as JSON,
//! and a page of quotes.

use crate::fetch::{Fetched, fetch};
use crate::gap::Gap;
use crate::reach;
use anyhow::{Context, bail, ensure};
use executor::{CancelToken, Cancelled};
use serde_json::{Value, json};
use std::fmt::{self, Write};
use std::io::{self, Write as _};
use std::time::Duration;
use url::Url;

/// The largest number of companies that are asked.
const MOST_COMPANIES: usize = 500;

/// The greatest length of a quote, in bytes.
const LONGEST_QUOTE: u64 = 64 << 10;

/// A company that is asked for a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// The company's name.
    pub name: String,
    /// The address of the company's quote, or the reason why the list must not name this address.
    pub address: Result<Url, Gap>,
}

/// A price in cents; prices can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price {
    cents: u64,
}

impl Price {
    /// Makes a price of this many cents.
    pub fn of_cents(cents: u64) -> Price {
        Price { cents }
    }
}

/// An entry of the result: a company, and the outcome of the request for its quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The company's name.
    pub company: String,
    /// The outcome of the request for the quote.
    pub answer: Answer,
}

/// The possible outcomes of a request for a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The company made an offer.
    Price(Price),
    /// The company made no offer, its answer was malformed, or its task panicked.
    Failed(String),
    /// The company's answer did not arrive in time.
    TimedOut,
}

impl Answer {
    /// Returns the rank of an answer: prices come first, from the lowest to the highest, then failures, then
    /// time-outs. All failures have the same rank, even if their texts differ.
    pub fn rank(&self) -> (u8, Option<Price>) {
        match self {
            Answer::Price(price) => (0, Some(*price)),
            Answer::Failed(_) => (1, None),
            Answer::TimedOut => (2, None),
        }
    }
}

/// Parses a list of companies: each line has a name, a tab, and the address of the company's quote. Empty
/// lines and lines that begin with `#` are skipped; addresses may be relative to the address of the list. If
/// a list that was fetched over HTTP names a local file, the address of that company becomes a gap.
///
/// # Errors
/// Returns an error with a sentence that names the line, or says that there are too many companies.
pub fn companies(list: &Fetched) -> anyhow::Result<Vec<Company>> {
    let text = str::from_utf8(&list.bytes).with_context(|| format!("{} is no text in UTF-8", list.url))?;
    let mut companies = Vec::new();
    for (number, line) in
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let line_of_list =
            || format!("line {} of {} is no name, tab and address: {line:?}", number + 1, list.url);
        let (name, address) = line.split_once('\t').with_context(line_of_list)?;
        let address = list.url.join(address.trim()).with_context(line_of_list)?;
        let address = reach::check(&list.url, &address).map(|()| address);
        companies.push(Company { name: name.trim().to_owned(), address });
        ensure!(companies.len() <= MOST_COMPANIES, "{} has more than {MOST_COMPANIES} companies", list.url);
    }
    Ok(companies)
}

/// Asks a company for its quote. The call blocks, and is a cancellation point.
///
/// # Errors
/// Returns an error if the token was cancelled. A missing quote is not an error: it is an [`Answer`].
pub fn quote(company: &Company, token: &CancelToken) -> Result<Answer, Cancelled> {
    let fetched = match &company.address {
        Ok(address) => fetch(address, LONGEST_QUOTE, token)?,
        Err(gap) => Err(gap.clone()),
    };
    Ok(match fetched {
        Ok(fetched) => {
            price(&fetched.bytes).map_or_else(|error| Answer::Failed(error.to_string()), Answer::Price)
        }
        Err(gap) => Answer::Failed(gap.to_string()),
    })
}

/// Parses a quote such as `{"price": 129.50, "currency": "EUR"}`.
fn price(json: &[u8]) -> anyhow::Result<Price> {
    let quote: Value = serde_json::from_slice(json).ok().context("its answer is no JSON")?;
    let currency = quote["currency"].as_str().unwrap_or("EUR");
    ensure!(currency == "EUR", "its price is in another currency");
    match quote["price"].as_f64() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in these bounds neither happens
        Some(price @ 0.0..1e9) => Ok(Price { cents: (price * 100.0).round() as u64 }),
        Some(_) => bail!("its price makes no sense"),
        None => bail!("its answer has no price"),
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} EUR", self.cents / 100, self.cents % 100)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Price(price) => price.fmt(f),
            Answer::Failed(why) => write!(f, "no quote: {why}"),
            Answer::TimedOut => f.write_str("no answer in time"),
        }
    }
}

/// Returns a page that shows the entries one below the other.
pub fn page(entries: &[Entry], url: &Url, deadline: Duration) -> Fetched {
    let mut html =
        String::from("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Quotes</title>\n<h1>Quotes</h1>\n");
    let _ = writeln!(html, "<p>{} entries, after at most {deadline:?}.</p>\n<ol>", entries.len());
    for Entry { company, answer } in entries {
        let _ = writeln!(html, "<li><b>{}</b>: {}</li>", escaped(company), escaped(&answer.to_string()));
    }
    html.push_str("</ol>\n");
    Fetched {
        bytes: html.into_bytes(),
        content_type: Some("text/html; charset=utf-8".to_owned()),
        url: url.clone(),
    }
}

/// How many entries are printed.
const MOST_LINES: usize = 12;

/// Prints the entries, one on each line, but no more lines than fit on a screen.
pub fn print(entries: &[Entry]) {
    let mut lines = String::new();
    for Entry { company, answer } in entries.iter().take(MOST_LINES) {
        let line: String = format!("{company:<24}{answer}").chars().filter(|c| !c.is_control()).collect();
        lines += &(line + "\n");
    }
    if entries.len() > MOST_LINES {
        let _ = writeln!(lines, "and {} more", entries.len() - MOST_LINES);
    }
    let _ = io::stdout().write_all((lines + "\n").as_bytes()); // if the output has no reader, the picture is still made
}

/// Returns the entries as JSON, for programs.
pub fn json(entries: &[Entry]) -> Value {
    let entry = |Entry { company, answer }: &Entry| match answer {
        #[allow(clippy::cast_precision_loss)] // below 1e11
        Answer::Price(price) => json!({ "company": company, "price": price.cents as f64 / 100.0 }),
        Answer::Failed(why) => json!({ "company": company, "failed": why }),
        Answer::TimedOut => json!({ "company": company, "timed_out": true }),
    };
    entries.iter().map(entry).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
