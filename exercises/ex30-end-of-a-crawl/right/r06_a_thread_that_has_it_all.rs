//! Right: only a keeper thread uses the lists of pages, so no lock is needed. The workers send messages to
//! the keeper and wait for its answers.
#![allow(unused)]

use std::collections::{BTreeSet, VecDeque};

use crate::sync::mpsc::{Receiver, Sender, channel};
use crate::sync::thread;

/// The number of a page. Every number is a valid page number.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share a frontier. The frontier does not know the number of its
/// workers.
pub struct Frontier {
    /// The sender to the keeper thread; `None` while the frontier is being dropped.
    to_keeper: Option<Sender<Message>>,
    keeper: Option<thread::JoinHandle<()>>,
}

enum Message {
    Take(Sender<Option<Page>>),
    Done(Page, Vec<Page>),
    Again(Page),
    Stop,
    Left(Sender<Vec<Page>>),
}

/// A page that a worker reads. A visit ends with `done()` or `again()`. If a visit is dropped without
/// `done()` or `again()`, its worker has panicked. Then the page is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
    is_told: bool,
}

#[derive(Default)]
struct Keeper {
    seen: BTreeSet<Page>,
    open: BTreeSet<Page>,
    waiting: VecDeque<Page>,
    is_stopped: bool,
    /// The senders of the workers that wait for a page.
    workers: VecDeque<Sender<Option<Page>>>,
}

impl Keeper {
    fn run(mut self, messages: Receiver<Message>) {
        for message in messages {
            match message {
                Message::Take(worker) => self.workers.push_back(worker),
                Message::Done(page, links) => {
                    self.find(&links);
                    self.open.remove(&page);
                }
                Message::Again(page) => self.waiting.push_back(page),
                Message::Stop => self.is_stopped = true,
                Message::Left(asks) => {
                    let _ = asks.send(self.open.iter().copied().collect());
                }
            }
            self.answer();
        }
    }

    fn find(&mut self, pages: &[Page]) {
        for page in pages {
            if self.seen.insert(*page) {
                self.open.insert(*page);
                self.waiting.push_back(*page);
            }
        }
    }

    fn answer(&mut self) {
        let is_over = self.is_stopped || self.open.is_empty();
        while is_over || !self.waiting.is_empty() {
            let Some(worker) = self.workers.pop_front() else { return };
            let page = if is_over { None } else { self.waiting.pop_front() };
            let _ = worker.send(page);
        }
    }
}

impl Frontier {
    /// Makes a crawl that begins with the given pages. `starts` may contain a page twice, and may be empty.
    pub fn new(starts: &[Page]) -> Self {
        let (sender, receiver) = channel();
        let mut keeper = Keeper::default();
        keeper.find(starts);
        let keeper = thread::spawn(move || keeper.run(receiver));
        Self { to_keeper: Some(sender), keeper: Some(keeper) }
    }

    /// Takes a page, or waits until a page is found or the crawl is over.
    ///
    /// Returns `None` if the crawl is over or was stopped. After the first `None`, take() returns `None` to
    /// every worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        let (sender, receiver) = channel();
        self.tell(Message::Take(sender));
        let page = receiver.recv().ok().flatten()?;
        Some(Visit { frontier: self, page, is_told: false })
    }

    /// Stops the crawl: take() returns `None` to the workers that wait, and no page is handed out any more. A
    /// worker that is reading a page may still finish that page.
    pub fn stop(&self) {
        self.tell(Message::Stop);
    }

    /// Returns all pages that were found and are not over: each page once, in any order. Each of these pages
    /// waits, is being read, or was put back.
    pub fn left(&self) -> Vec<Page> {
        let (sender, receiver) = channel();
        self.tell(Message::Left(sender));
        receiver.recv().unwrap_or_default()
    }

    fn tell(&self, message: Message) {
        if let Some(to_keeper) = &self.to_keeper {
            let _ = to_keeper.send(message);
        }
    }
}

impl Drop for Frontier {
    fn drop(&mut self) {
        drop(self.to_keeper.take());
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

impl Visit<'_> {
    /// Returns the page to read.
    pub fn page(&self) -> Page {
        self.page
    }

    /// Ends the visit: the page was read and has the given links. The page is over. Links to pages that were
    /// found before change nothing.
    pub fn done(mut self, links: &[Page]) {
        self.is_told = true;
        self.frontier.tell(Message::Done(self.page, links.to_vec()));
    }

    /// Ends the visit: the page could not be read now. The page is put back and will be handed out again.
    pub fn again(mut self) {
        self.is_told = true;
        self.frontier.tell(Message::Again(self.page));
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if !self.is_told {
            self.frontier.tell(Message::Done(self.page, Vec::new()));
        }
    }
}
