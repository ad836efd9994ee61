//! The cost of a crash, for each order in which a program does its work and writes that it has done it.
//!
//! A run is a row of *steps*. A step is a piece of work, such as fetching a page, or one write to the disk. A
//! write is complete or has not happened at all, and writes happen in their order. The process can be killed
//! before any step and after the last one. The next run knows only what was written, and goes to its end.
//! Then the work that was done is compared with the work that was to be done.
//!
//! Nothing here needs a clock, a thread or chance: every crash point of every order is tried.

use super::stops::{Page, SITE, links};
use std::collections::BTreeMap;
use std::fmt;

/// In one of the orders, a list is written after this many pages.
pub const EVERY: usize = 3;

/// How many letters there are to send.
pub const LETTERS: usize = 4;

/// The process was killed.
#[derive(Debug)]
struct Killed;

/// The steps of one process, until it is killed.
struct Process {
    /// How many steps are left until the process is killed.
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

/// The cost of the crash points of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// How many writes a run makes if it is not killed.
    pub writes: usize,
    /// How much work was never done, at the worst crash point.
    pub lost: usize,
    /// How much work was done again, at the worst crash point for that.
    pub again: usize,
}

/// Kills a run at each of its points. `after` takes the number of steps after which the run is killed, lets
/// the next run go to its end, and returns how much was lost and how much was done again.
fn worst(whole: &Process, after: impl Fn(&[usize]) -> (usize, usize)) -> Cost {
    let points = (0..=whole.steps).map(|steps| after(&[steps]));
    points.fold(Cost { writes: whole.writes, ..Cost::default() }, |worst, (lost, again)| Cost {
        lost: worst.lost.max(lost),
        again: worst.again.max(again),
        ..worst
    })
}

/// How many pieces of work were never done, and how many times a piece was done again.
fn compare<T: Ord>(all: impl IntoIterator<Item = T>, times: &BTreeMap<T, usize>) -> (usize, usize) {
    all.into_iter().fold((0, 0), |(lost, again), work| match times.get(&work) {
        None => (lost + 1, again),
        Some(times) => (lost, again + times - 1),
    })
}

// ----- Pages -----

/// The order in which a crawl works, and writes what it has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// First the page is marked as done, then its links are written.
    DoneThenLinks,
    /// First the links are written, then the page is marked as done.
    LinksThenDone,
    /// The mark and the links are written in one transaction.
    Together,
    /// The page is marked as done before it is fetched.
    DoneFirst,
    /// The whole list is written after each group of this many pages, and at the end.
    List(usize),
}

impl Order {
    /// All orders that are compared. The last order is that of the classic listing, which writes its list
    /// when the crawl ends.
    pub const ALL: [Order; 6] = [
        Order::DoneThenLinks,
        Order::LinksThenDone,
        Order::Together,
        Order::DoneFirst,
        Order::List(EVERY),
        Order::List(SITE.len()),
    ];

    /// The cost at the worst of all crash points.
    pub fn cost(self) -> Cost {
        let mut whole = Process::killed_after(usize::MAX);
        let ended = crawl(&mut whole, self, &mut Pages::first(), &mut BTreeMap::new());
        ended.expect("the run is not killed");
        worst(&whole, |killed| self.after(killed))
    }

    /// Kills runs after these numbers of steps, one after the other, and then lets one go to its end. Returns
    /// how many pages were never fetched, and how often a page was fetched again.
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

/// What is known of the pages: in memory, or on the disk.
#[derive(Clone)]
struct Pages {
    found: Vec<Page>,
    done: Vec<Page>,
}

impl Pages {
    /// The pages before the first run.
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
/// Crawls the pages that are not done according to the disk, until none is left or the process is killed.
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

/// How letters are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// A letter is marked as sent, and then it is sent.
    MarkThenSend,
    /// A letter is sent, and then it is marked as sent.
    SendThenMark,
    /// A letter with a number is sent, and then it is marked as sent. The receiver keeps the numbers, and
    /// puts a second letter with the same number aside.
    Numbered,
}

impl Letters {
    /// All ways that are compared.
    pub const ALL: [Letters; 3] = [Letters::MarkThenSend, Letters::SendThenMark, Letters::Numbered];

    /// The cost at the worst of all crash points.
    pub fn cost(self) -> Cost {
        let mut whole = Process::killed_after(usize::MAX);
        send(&mut whole, self, &mut 0, &mut BTreeMap::new()).expect("the run is not killed");
        worst(&whole, |killed| self.after(killed))
    }

    /// Kills runs after these numbers of steps, one after the other, and then lets one go to its end. Returns
    /// how many letters were never read, and how often a letter was read again.
    pub fn after(self, killed: &[usize]) -> (usize, usize) {
        let (mut marked, mut read) = (0, BTreeMap::new());
        for steps in killed.iter().chain([&usize::MAX]) {
            let _ = send(&mut Process::killed_after(*steps), self, &mut marked, &mut read);
        }
        compare(0..LETTERS, &read)
    }
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
/// Sends the letters that are not marked. Letters before `marked` are marked.
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

/// Prints what each order costs, as two tables.
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
