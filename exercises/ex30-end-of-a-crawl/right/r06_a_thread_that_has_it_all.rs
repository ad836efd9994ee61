//! Right: one thread has all pages, and no lock is needed: the others send it messages and wait for its answers.
#![allow(unused)]

use std::collections::{BTreeSet, VecDeque};

use crate::sync::mpsc::{Receiver, Sender, channel};
use crate::sync::thread;

/// A page, by its number. Any number may be a page.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share it; it is not told how many.
pub struct Frontier {
    /// `None`: the frontier is being dropped.
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

/// A page that a worker reads. It ends with `done()` or `again()`. If it is dropped without one of them (the worker has
/// panicked), the page is given up: it is over, and its links are not known.
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
    /// Workers that wait for an answer.
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
    /// A crawl that begins with these pages. A page may be among them twice, and there may be none.
    pub fn new(starts: &[Page]) -> Self {
        let (sender, receiver) = channel();
        let mut keeper = Keeper::default();
        keeper.find(starts);
        let keeper = thread::spawn(move || keeper.run(receiver));
        Self { to_keeper: Some(sender), keeper: Some(keeper) }
    }

    /// Takes a page, and waits for one if none is there and one may still be found.
    ///
    /// `None`: the crawl is over, or it was stopped. From then on take() always says so, to every worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        let (sender, receiver) = channel();
        self.tell(Message::Take(sender));
        let page = receiver.recv().ok().flatten()?;
        Some(Visit { frontier: self, page, is_told: false })
    }

    /// Stops the crawl: workers that wait in take() are let go, and no page is handed out any more. Pages that are being read may
    /// still be read to their end.
    pub fn stop(&self) {
        self.tell(Message::Stop);
    }

    /// The pages that were found and are not over, each once, in any order: those that wait, those that are being read, and those
    /// that were put back.
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
    /// The page to read.
    pub fn page(&self) -> Page {
        self.page
    }

    /// The page was read, and has these links. It is over. Links to pages that were found before change nothing.
    pub fn done(mut self, links: &[Page]) {
        self.is_told = true;
        self.frontier.tell(Message::Done(self.page, links.to_vec()));
    }

    /// The page could not be read now. It is put back and will be handed out again.
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
