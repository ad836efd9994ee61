//! The cost of a crash, for each order in which a program does its work and records that the work is done.
//!
//! A run is a sequence of *steps*. A step is a unit of work, such as fetching a page, or one write to the
//! disk. A write is atomic, and writes happen in the order of the program. The process can be killed before
//! any step and after the last step. The next run knows only the data that was written, and runs to its
//! end. Afterwards, the finished work is compared with the required work.
//!
//! The simulation needs no clock, no threads and no random numbers: it tries every crash point of every
//! order.

use super::stops::{Page, SITE, links};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The number of pages after which one of the orders writes its list.
pub const EVERY: usize = 3;

/// The number of letters to send.
pub const LETTERS: usize = 4;

/// The error of a process that was killed.
#[derive(Debug)]
struct Killed;

/// The steps of one process, until the process is killed.
struct Process {
    /// The number of steps that are left until the process is killed.
    left: usize,
    steps: usize,
    writes: usize,
}

impl Process {
    fn killed_after(left: usize) -> Process {
        Process { left, steps: 0, writes: 0 }
    }

    fn step(&mut self) -> Result<(), Killed> {
        if self.steps == self.left {
            return Err(Killed);
        }
        self.steps += 1;
        Ok(())
    }

    fn write(&mut self) -> Result<(), Killed> {
        self.step()?;
        self.writes += 1;
        Ok(())
    }
}

/// The cost of an order of steps at its worst crash points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// The number of writes in a run that is not killed.
    pub writes: usize,
    /// The largest amount of work that was never done, over all crash points.
    pub lost: usize,
    /// The largest amount of work that was repeated, over all crash points.
    pub again: usize,
}

/// Kills a run at each of its crash points. The function `after` takes the number of steps after which the
/// run is killed, and lets the next run reach its end. `after` returns the amounts of lost work and of
/// repeated work.
fn worst(whole: &Process, after: impl Fn(&[usize]) -> (usize, usize)) -> Cost {
    let points = (0..=whole.steps).map(|steps| after(&[steps]));
    points.fold(Cost { writes: whole.writes, ..Cost::default() }, |worst, (lost, again)| Cost {
        lost: worst.lost.max(lost),
        again: worst.again.max(again),
        ..worst
    })
}

/// Returns the number of units of work that were never done, and the number of repetitions of units.
fn compare<T: Ord>(all: impl IntoIterator<Item = T>, times: &BTreeMap<T, usize>) -> (usize, usize) {
    all.into_iter().fold((0, 0), |(lost, again), work| match times.get(&work) {
        None => (lost + 1, again),
        Some(times) => (lost, again + times - 1),
    })
}

// ----- Pages -----

/// The order in which a crawl does its work and records that the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// First the page is marked as done, and then its links are written.
    DoneThenLinks,
    /// First the links are written, and then the page is marked as done.
    LinksThenDone,
    /// The mark and the links of a page are written in one transaction.
    Together,
    /// The page is marked as done before it is fetched.
    DoneFirst,
    /// The whole list of pages is written each time this many pages were fetched, and at the end.
    List(usize),
}

impl Order {
    /// All orders that are compared. The classic listing uses this last order: it writes its list when the
    /// crawl ends.
    pub const ALL: [Order; 6] = [
        Order::DoneThenLinks,
        Order::LinksThenDone,
        Order::Together,
        Order::DoneFirst,
        Order::List(EVERY),
        Order::List(SITE.len()),
    ];

    /// Returns the cost of a crash at the crash point with the highest cost.
    pub fn cost(self) -> Cost {
        let mut whole = Process::killed_after(usize::MAX);
        let ended = crawl(&mut whole, self, &mut Pages::first(), &mut BTreeMap::new());
        ended.expect("the run is not killed");
        worst(&whole, |killed| self.after(killed))
    }

    /// Kills one run after the other, each after the given number of steps, and then runs a process to its
    /// end. Returns the number of pages that were never fetched, and the number of repeated fetches.
    pub fn after(self, killed: &[usize]) -> (usize, usize) {
        let (mut disk, mut fetched) = (Pages::first(), BTreeMap::new());
        for steps in killed.iter().chain([&usize::MAX]) {
            let _ = crawl(&mut Process::killed_after(*steps), self, &mut disk, &mut fetched);
        }
        compare(SITE.iter().map(|(page, _)| *page), &fetched)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Order::DoneThenLinks => "fetched, done written, links written".to_owned(),
            Order::LinksThenDone => "fetched, links written, done written".to_owned(),
            Order::Together => "fetched, both written together".to_owned(),
            Order::DoneFirst => "done written, fetched, links written".to_owned(),
            Order::List(pages) if *pages < SITE.len() => format!("a list after every {pages} pages"),
            Order::List(_) => "a list at the end".to_owned(),
        })
    }
}

/// The state of the pages, in memory or on the disk.
#[derive(Clone)]
struct Pages {
    found: Vec<Page>,
    done: Vec<Page>,
}

impl Pages {
    /// Returns the state of the pages before the first run.
    fn first() -> Pages {
        Pages { found: vec![SITE[0].0], done: Vec::new() }
    }

    fn next(&self) -> Option<Page> {
        self.found.iter().copied().find(|page| !self.done.contains(page))
    }

    fn found(&mut self, links: &[Page]) {
        for link in links {
            if !self.found.contains(link) {
                self.found.push(link);
            }
        }
    }

    fn done(&mut self, page: Page) {
        self.done.push(page);
    }
}

// ANCHOR: crawl
/// Crawls the pages that are not done according to the disk, until no such page is left or the process is
/// killed.
fn crawl(
    process: &mut Process,
    order: Order,
    disk: &mut Pages,
    fetched: &mut BTreeMap<Page, usize>,
) -> Result<(), Killed> {
    let mut memory = disk.clone();
    let mut since_written = 0;
    while let Some(page) = memory.next() {
        if order == Order::DoneFirst {
            process.write()?;
            disk.done(page);
        }
        process.step()?;
        *fetched.entry(page).or_default() += 1;
        memory.done(page);
        memory.found(links(page));
        match order {
            Order::DoneThenLinks => {
                process.write()?;
                disk.done(page);
                process.write()?;
                disk.found(links(page));
            }
            Order::LinksThenDone => {
                process.write()?;
                disk.found(links(page));
                process.write()?;
                disk.done(page);
            }
            Order::Together => {
                process.write()?;
                disk.found(links(page));
                disk.done(page);
            }
            Order::DoneFirst => {
                process.write()?;
                disk.found(links(page));
            }
            Order::List(every) => {
                since_written += 1;
                if since_written == every || memory.next().is_none() {
                    process.write()?;
                    disk.clone_from(&memory);
                    since_written = 0;
                }
            }
        }
    }
    Ok(())
}
// ANCHOR_END: crawl

// ----- Letters -----

/// The ways in which letters are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// A letter is marked as sent, and then the letter is sent.
    MarkThenSend,
    /// A letter is sent, and then the letter is marked as sent.
    SendThenMark,
    /// A letter with a number is sent, and then the letter is marked as sent. The receiver remembers the
    /// numbers, and ignores a second letter with the same number.
    Numbered,
}

impl Letters {
    /// All ways that are compared.
    pub const ALL: [Letters; 3] = [Letters::MarkThenSend, Letters::SendThenMark, Letters::Numbered];

    /// Returns the cost of a crash at the crash point with the highest cost.
    pub fn cost(self) -> Cost {
        let mut whole = Process::killed_after(usize::MAX);
        send(&mut whole, self, &mut 0, &mut BTreeMap::new()).expect("the run is not killed");
        worst(&whole, |killed| self.after(killed))
    }

    /// Kills one run after the other, each after the given number of steps, and then runs a process to its
    /// end. Returns the number of letters that were never read, and the number of times that a letter was
    /// read again.
    pub fn after(self, killed: &[usize]) -> (usize, usize) {
        let (mut marked, mut read) = (0, BTreeMap::new());
        for steps in killed.iter().chain([&usize::MAX]) {
            let _ = send(&mut Process::killed_after(*steps), self, &mut marked, &mut read);
        }
        compare(0..LETTERS, &read)
    }

    /// Kills a run at each of its crash points, and lets the next run reach its end.
    pub fn kills(self) -> Vec<Kill> {
        let mut whole = Process::killed_after(usize::MAX);
        send(&mut whole, self, &mut 0, &mut BTreeMap::new()).expect("the run is not killed");
        (0..=whole.steps).map(|steps| self.kill(steps)).collect()
    }

    fn kill(self, steps: usize) -> Kill {
        let (mut marked, mut times) = (0, BTreeMap::new());
        let _ = send(&mut Process::killed_after(steps), self, &mut marked, &mut times);
        let (on_disk, read) = (marked, times.keys().copied().collect());
        send(&mut Process::killed_after(usize::MAX), self, &mut marked, &mut times)
            .expect("the run is not killed");
        let with = |wanted: fn(usize) -> bool| {
            (0..LETTERS).filter(|letter| wanted(times.get(letter).copied().unwrap_or_default())).collect()
        };
        Kill { marked: on_disk, read, lost: with(|count| count == 0), again: with(|count| count > 1) }
    }
}

/// The cost of killing a run at one crash point. Letters are numbered from 0.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Kill {
    /// The number of letters that are marked on the disk when the process is killed.
    pub marked: usize,
    /// The letters that were read before the process was killed.
    pub read: Vec<usize>,
    /// The letters that are not read even after the next run.
    pub lost: Vec<usize>,
    /// The letters that are read more than once.
    pub again: Vec<usize>,
}

impl fmt::Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Letters::MarkThenSend => "marked, sent",
            Letters::SendThenMark => "sent, marked",
            Letters::Numbered => "sent with a number, marked",
        })
    }
}

// ANCHOR: letters
/// Sends the letters that are not marked. Letters before `marked` are already marked.
fn send(
    process: &mut Process,
    letters: Letters,
    marked: &mut usize,
    read: &mut BTreeMap<usize, usize>,
) -> Result<(), Killed> {
    for letter in *marked..LETTERS {
        if letters == Letters::MarkThenSend {
            process.write()?;
            *marked = letter + 1;
        }
        process.step()?; // it arrives
        if !(letters == Letters::Numbered && read.contains_key(&letter)) {
            *read.entry(letter).or_default() += 1;
        }
        if letters != Letters::MarkThenSend {
            process.write()?;
            *marked = letter + 1;
        }
    }
    Ok(())
}
// ANCHOR_END: letters

/// Prints the cost of each order as two tables.
pub struct Tables;

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = SITE.len();
        writeln!(
            f,
            "{:<38}{:>8}{:>8}{:>8}",
            format!("{pages} pages, killed at the worst point"),
            "writes",
            "lost",
            "again"
        )?;
        for order in Order::ALL {
            let Cost { writes, lost, again } = order.cost();
            writeln!(f, "{order:<38}{writes:>8}{lost:>8}{again:>8}")?;
        }
        write!(
            f,
            "\n{:<38}{:>8}{:>8}{:>8}",
            format!("{LETTERS} letters, killed at the worst point"),
            "writes",
            "lost",
            "again"
        )?;
        for letters in Letters::ALL {
            let Cost { writes, lost, again } = letters.cost();
            write!(f, "\n{letters:<38}{writes:>8}{lost:>8}{again:>8}")?;
        }
        Ok(())
    }
}

/// Returns the cost of each order as JSON: the contents of the tables, and for letters the cost at each crash
/// point.
pub fn json() -> serde_json::Value {
    let row = |order: String, Cost { writes, lost, again }| serde_json::json!({ "order": order, "writes": writes, "lost": lost, "again": again });
    let pages = Order::ALL.map(|order| row(order.to_string(), order.cost()));
    let letters = Letters::ALL.map(|letters| {
        let mut row = row(letters.to_string(), letters.cost());
        row["kills"] = serde_json::json!(letters.kills());
        row
    });
    serde_json::json!({ "pages": pages, "letters": letters })
}
