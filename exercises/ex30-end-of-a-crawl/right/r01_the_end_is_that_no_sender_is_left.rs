//! Right: a channel of pages whose only senders are with the pages: when the last page is over, the channel is closed, and no thread counts.
#![allow(unused)]

use std::collections::BTreeSet;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, Weak, mpsc};

/// A page, by its number. Any number may be a page.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share it; it is not told how many.
pub struct Frontier {
    /// One worker waits here for a message, and the others for that worker.
    messages: Mutex<mpsc::Receiver<Message>>,
    /// To send the stop; it keeps nothing open.
    to_all: Mutex<Weak<Mutex<mpsc::Sender<Message>>>>,
    is_stopped: AtomicBool,
    pages: Mutex<Pages>,
}

struct Pages {
    seen: BTreeSet<Page>,
    open: BTreeSet<Page>,
}

/// Each page has a sender, as long as it is open: in the queue, too.
type Token = Arc<Mutex<mpsc::Sender<Message>>>;

enum Message {
    Page(Page, Token),
    /// The crawl is stopped: look at the flag.
    Look,
}

/// A page that a worker reads. It ends with `done()` or `again()`. If it is dropped without one of them (the worker has
/// panicked), the page is given up: it is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
    token: Token,
    is_put_back: bool,
}

impl Frontier {
    /// A crawl that begins with these pages. A page may be among them twice, and there may be none.
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

    /// Takes a page, and waits for one if none is there and one may still be found.
    ///
    /// `None`: the crawl is over, or it was stopped. From then on take() always says so, to every worker.
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
                        return None; // the page is in `open`, and is not needed here any more
                    }
                    return Some(Visit { frontier: self, page, token, is_put_back: false });
                }
            }
        }
    }

    /// Stops the crawl: workers that wait in take() are let go, and no page is handed out any more. Pages that are being read may
    /// still be read to their end.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        let token = self.to_all.lock().unwrap().upgrade();
        if let Some(token) = token {
            let _ = token.lock().unwrap().send(Message::Look);
        }
    }

    /// The pages that were found and are not over, each once, in any order: those that wait, those that are being read, and those
    /// that were put back.
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
    /// The page to read.
    pub fn page(&self) -> Page {
        self.page
    }

    /// The page was read, and has these links. It is over. Links to pages that were found before change nothing.
    pub fn done(self, links: &[Page]) {
        self.frontier.find(links, &self.token);
    }

    /// The page could not be read now. It is put back and will be handed out again.
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
