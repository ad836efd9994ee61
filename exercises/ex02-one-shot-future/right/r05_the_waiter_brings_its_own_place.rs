//! Right: the promise or join(), whichever comes first, leaves something at a meeting place. The promise
//! leaves its result there; join() leaves an empty letter box, into which the promise then puts the result.
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// A letter box for a result. Each letter box belongs to one call of join(), which waits for the result.
struct LetterBox<T> {
    letter: Mutex<Option<Result<T, Abandoned>>>,
    bell: Condvar,
}

impl<T> LetterBox<T> {
    fn deliver(&self, result: Result<T, Abandoned>) {
        *self.letter.lock().unwrap() = Some(result);
        self.bell.notify_one();
    }

    fn wait(&self) -> Result<T, Abandoned> {
        let mut letter = self.letter.lock().unwrap();
        loop {
            match letter.take() {
                Some(result) => return result,
                None => letter = self.bell.wait(letter).unwrap(),
            }
        }
    }
}

/// The object at the meeting place.
enum Meeting<T> {
    Nothing,
    Result(Result<T, Abandoned>),
    LetterBox(Arc<LetterBox<T>>),
}

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let meeting = Arc::new(Mutex::new(Meeting::Nothing));
    (Promise { meeting: Some(Arc::clone(&meeting)) }, Future { meeting })
}

pub struct Promise<T> {
    /// `None` once the promise has given its result.
    meeting: Option<Arc<Mutex<Meeting<T>>>>,
}

pub struct Future<T> {
    meeting: Arc<Mutex<Meeting<T>>>,
}

/// The error of a future whose promise was dropped: no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    fn give(&mut self, result: Result<T, Abandoned>) {
        let Some(meeting) = self.meeting.take() else { return };
        let mut there = meeting.lock().unwrap();
        match std::mem::replace(&mut *there, Meeting::Nothing) {
            Meeting::LetterBox(letter_box) => {
                drop(there);
                letter_box.deliver(result);
            }
            // A promise gives its result only once, so no result is here yet.
            Meeting::Nothing | Meeting::Result(_) => *there = Meeting::Result(result),
        }
    }

    pub fn complete(mut self, value: T) {
        self.give(Ok(value));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.give(Err(Abandoned));
    }
}

impl<T> Future<T> {
    pub fn join(self) -> Result<T, Abandoned> {
        let mut there = self.meeting.lock().unwrap();
        match std::mem::replace(&mut *there, Meeting::Nothing) {
            Meeting::Result(result) => result,
            Meeting::Nothing | Meeting::LetterBox(_) => {
                let letter_box = Arc::new(LetterBox { letter: Mutex::new(None), bell: Condvar::new() });
                *there = Meeting::LetterBox(Arc::clone(&letter_box));
                drop(there);
                letter_box.wait()
            }
        }
    }

    pub fn is_done(&self) -> bool {
        matches!(*self.meeting.lock().unwrap(), Meeting::Result(_))
    }
}
