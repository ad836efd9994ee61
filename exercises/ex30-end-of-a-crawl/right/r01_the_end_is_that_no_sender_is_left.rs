//! Right: pages come through a channel, and only the open pages hold senders of this channel. When the last
//! page is over, the channel is closed, so no code has to count pages.
#![allow(unused)]

use std::collections::BTreeSet;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, Weak, mpsc};

/// The number of a page. Every number is a valid page number.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share a frontier. The frontier does not know the number of its
/// workers.
pub struct Frontier {
    /// The worker that holds this lock waits for a message; the other workers wait for the lock.
    messages: Mutex<mpsc::Receiver<Message>>,
    /// For `stop`. This reference is weak, so it does not keep the channel open.
    to_all: Mutex<Weak<Mutex<mpsc::Sender<Message>>>>,
    is_stopped: AtomicBool,
    pages: Mutex<Pages>,
}

struct Pages {
    seen: BTreeSet<Page>,
    open: BTreeSet<Page>,
}

/// The sender that each open page holds, even while the page waits in the queue.
type Token = Arc<Mutex<mpsc::Sender<Message>>>;

enum Message {
    Page(Page, Token),
    /// Tells a worker to check `is_stopped`.
    Look,
}

/// A page that a worker reads. A visit ends with `done()` or `again()`. If a visit is dropped without
/// `done()` or `again()`, its worker has panicked. Then the page is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
    token: Token,
    is_put_back: bool,
}

impl Frontier {
    /// Makes a crawl that begins with the given pages. `starts` may contain a page twice, and may be empty.
    pub fn new(starts: &[Page]) -> Self {
        let (sender, receiver) = mpsc::channel();
        let token = Arc::new(Mutex::new(sender));
        let frontier = Self {
            messages: Mutex::new(receiver),
            to_all: Mutex::new(Arc::downgrade(&token)),
            is_stopped: AtomicBool::new(false),
            pages: Mutex::new(Pages { seen: BTreeSet::new(), open: BTreeSet::new() }),
        };
        frontier.find(starts, &token);
        frontier
    }

    /// Takes a page, or waits until a page is found or the crawl is over.
    ///
    /// Returns `None` if the crawl is over or was stopped. After the first `None`, take() returns `None` to
    /// every worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        let messages = self.messages.lock().unwrap();
        loop {
            if self.is_stopped.load(Ordering::SeqCst) {
                return None;
            }
            match messages.recv() {
                Err(_) => return None,
                Ok(Message::Look) => {}
                Ok(Message::Page(page, token)) => {
                    if self.is_stopped.load(Ordering::SeqCst) {
                        return None; // the page stays in `open`, and no worker will take it any more
                    }
                    return Some(Visit { frontier: self, page, token, is_put_back: false });
                }
            }
        }
    }

    /// Stops the crawl: take() returns `None` to the workers that wait, and no page is handed out any more. A
    /// worker that is reading a page may still finish that page.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        let token = self.to_all.lock().unwrap().upgrade();
        if let Some(token) = token {
            let _ = token.lock().unwrap().send(Message::Look);
        }
    }

    /// Returns all pages that were found and are not over: each page once, in any order. Each of these pages
    /// waits, is being read, or was put back.
    pub fn left(&self) -> Vec<Page> {
        self.pages.lock().unwrap().open.iter().copied().collect()
    }

    fn find(&self, pages: &[Page], token: &Token) {
        let mut known = self.pages.lock().unwrap();
        for page in pages {
            if known.seen.insert(*page) {
                known.open.insert(*page);
                let _ = token.lock().unwrap().send(Message::Page(*page, Arc::clone(token)));
            }
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
    pub fn done(self, links: &[Page]) {
        self.frontier.find(links, &self.token);
    }

    /// Ends the visit: the page could not be read now. The page is put back and will be handed out again.
    pub fn again(mut self) {
        self.is_put_back = true;
        let _ = self.token.lock().unwrap().send(Message::Page(self.page, Arc::clone(&self.token)));
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if !self.is_put_back {
            self.frontier.pages.lock().unwrap().open.remove(&self.page);
        }
    }
}
