//! The two ends of a channel.

use std::fmt;

use super::error::{PutError, PutTimeoutError, TakeError, TakeTimeoutError, TryPutError, TryTakeError};
use super::stop::CancelChannel;
use crate::callbacks;
use crate::cancel::{CancelToken, check_current, current_for_wait};
use crate::sync::channel::{self, TryRecvError, TrySendError};
use crate::sync::{Duration, Instant, PATIENCE, thread};

/// Makes a channel for `capacity` items and returns its ends.
///
/// With a capacity of zero the channel holds nothing: an item goes from hand to hand, so [`put`](Sender::put) waits until
/// somebody takes it. The memory for all `capacity` items is allocated now.
///
/// There is no `close`. The channel is closed for the receivers when the last sender has been dropped, as soon as it is
/// empty; and for the senders when the last receiver has been dropped, which drops the items that are left.
///
/// ```
/// use executor::channel::bounded;
///
/// let (sender, receiver) = bounded(3);
/// std::thread::spawn(move || (1..=10).try_for_each(|n| sender.put(n)));
/// assert_eq!(receiver.iter().sum::<u32>(), 55); // until the sender is gone
/// ```
///
/// # Panics
/// If so many items cannot be in memory at all (`usize::MAX`, for instance). If there is no memory left for them, the process is
/// aborted, as it is by a vector.
#[doc(alias = "ArrayBlockingQueue")]
#[doc(alias = "SynchronousQueue")]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = channel::bounded(capacity);
    (Sender(sender), Receiver(receiver))
}

/// The end of a channel into which items are put. Clones are ends of the same channel.
///
/// The items of one sender are taken in the order in which it has put them.
#[doc(alias = "BlockingQueue")]
pub struct Sender<T>(channel::Sender<T>);

/// The end of a channel from which items are taken. Clones are ends of the same channel; each item is taken by one of them.
#[doc(alias = "BlockingQueue")]
pub struct Receiver<T>(channel::Receiver<T>);

impl<T> Sender<T> {
    /// Puts an item, and waits until there is room for it.
    ///
    /// What happened before is visible to the thread that takes the item.
    ///
    /// # Errors
    /// [`PutError::Closed`] if all receivers are gone, [`PutError::Interrupted`] if the calling task was cancelled, before or
    /// during the wait. Both give the item back: no receiver will see it.
    #[doc(alias = "send")]
    pub fn put(&self, item: T) -> Result<(), PutError<T>> {
        self.put_until(None, item).map_err(|error| match error {
            PutTimeoutError::Closed(item) => PutError::Closed(item),
            PutTimeoutError::Interrupted(item) | PutTimeoutError::TimedOut(item) => {
                PutError::Interrupted(item)
            }
        })
    }

    /// Puts an item, and waits for room for `timeout` at most.
    ///
    /// # Errors
    /// [`PutTimeoutError::TimedOut`] if there was no room in time, the others as for [`put`](Self::put).
    #[doc(alias = "offer")]
    #[doc(alias = "send_timeout")]
    pub fn put_timeout(&self, item: T, timeout: Duration) -> Result<(), PutTimeoutError<T>> {
        self.put_until(Some(timeout), item)
    }

    /// Puts an item if there is room now. Never blocks, and is no cancellation point. At a channel of capacity zero there is
    /// room while a receiver waits.
    ///
    /// # Errors
    /// [`TryPutError::Full`] if there is none, [`TryPutError::Closed`] if all receivers are gone.
    #[doc(alias = "offer")]
    #[doc(alias = "try_send")]
    pub fn try_put(&self, item: T) -> Result<(), TryPutError<T>> {
        self.0.try_send(item).map_err(|error| match error {
            TrySendError::Full(item) => TryPutError::Full(item),
            TrySendError::Disconnected(item) => TryPutError::Closed(item),
        })
    }

    /// How many items are in the channel now.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no item is in the channel now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For how many items there is room in all; `None` for a channel without a bound that was made elsewhere.
    pub fn capacity(&self) -> Option<usize> {
        self.0.capacity()
    }

    fn put_until(&self, timeout: Option<Duration>, item: T) -> Result<(), PutTimeoutError<T>> {
        if check_current().is_err() {
            return Err(PutTimeoutError::Interrupted(item));
        }
        let mut item = item;
        let mut patience = Patience::begin(timeout);
        loop {
            item = match self.try_put(item) {
                Ok(()) => return Ok(()),
                Err(TryPutError::Closed(item)) => return Err(PutTimeoutError::Closed(item)),
                Err(TryPutError::Full(item)) => item,
            };
            if !patience.gives_way() {
                break;
            }
        }
        let wait = Wait::begin(patience.deadline);
        let Err(item) = channel::send_unless(&self.0, item, wait.stop.as_deref(), wait.deadline) else {
            return Ok(());
        };
        self.try_put(item).map_err(|error| match error {
            TryPutError::Closed(item) => PutTimeoutError::Closed(item),
            TryPutError::Full(item) if wait.is_cancelled() => PutTimeoutError::Interrupted(item),
            TryPutError::Full(item) => PutTimeoutError::TimedOut(item),
        })
    }
}

impl<T> Receiver<T> {
    /// Takes the next item, and waits until there is one.
    ///
    /// # Errors
    /// [`TakeError::Closed`] if there is none and all senders are gone, [`TakeError::Interrupted`] if the calling task was
    /// cancelled, before or during the wait. Then it has taken nothing: the items are there for the other receivers.
    #[doc(alias = "recv")]
    pub fn take(&self) -> Result<T, TakeError> {
        self.take_until(None).map_err(|error| match error {
            TakeTimeoutError::Closed => TakeError::Closed,
            TakeTimeoutError::Interrupted | TakeTimeoutError::TimedOut => TakeError::Interrupted,
        })
    }

    /// Takes the next item, and waits for it for `timeout` at most.
    ///
    /// # Errors
    /// [`TakeTimeoutError::TimedOut`] if none came in time, the others as for [`take`](Self::take).
    #[doc(alias = "poll")]
    #[doc(alias = "recv_timeout")]
    pub fn take_timeout(&self, timeout: Duration) -> Result<T, TakeTimeoutError> {
        self.take_until(Some(timeout))
    }

    /// Takes the next item if there is one now. Never blocks, and is no cancellation point.
    ///
    /// # Errors
    /// [`TryTakeError::Empty`] if there is none, [`TryTakeError::Closed`] if there will be none.
    #[doc(alias = "poll")]
    #[doc(alias = "try_recv")]
    pub fn try_take(&self) -> Result<T, TryTakeError> {
        self.0.try_recv().map_err(|error| match error {
            TryRecvError::Empty => TryTakeError::Empty,
            TryRecvError::Disconnected => TryTakeError::Closed,
        })
    }

    /// Takes items until the channel is closed or the calling task is cancelled; blocks as [`take`](Self::take) does.
    ///
    /// Which of the two it was can be asked afterwards: `CancelToken::current().check()`.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// How many items are in the channel now.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no item is in the channel now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For how many items there is room in all; `None` for a channel without a bound that was made elsewhere.
    pub fn capacity(&self) -> Option<usize> {
        self.0.capacity()
    }

    fn take_until(&self, timeout: Option<Duration>) -> Result<T, TakeTimeoutError> {
        if check_current().is_err() {
            return Err(TakeTimeoutError::Interrupted);
        }
        let mut patience = Patience::begin(timeout);
        loop {
            match self.try_take() {
                Ok(item) => return Ok(item),
                Err(TryTakeError::Closed) => return Err(TakeTimeoutError::Closed),
                Err(TryTakeError::Empty) if patience.gives_way() => {}
                Err(TryTakeError::Empty) => break,
            }
        }
        let wait = Wait::begin(patience.deadline);
        if let Some(item) = channel::recv_unless(&self.0, wait.stop.as_deref(), wait.deadline) {
            return Ok(item);
        }
        self.try_take().map_err(|error| match error {
            TryTakeError::Closed => TakeTimeoutError::Closed,
            TryTakeError::Empty if wait.is_cancelled() => TakeTimeoutError::Interrupted,
            TryTakeError::Empty => TakeTimeoutError::TimedOut,
        })
    }
}

/// How often a call that would have to sleep gives way to the other end first: sleeping and being woken is far more work.
struct Patience {
    left: u32,
    /// None without a time limit, and for one so far away that the clock cannot say it.
    deadline: Option<Instant>,
}

impl Patience {
    #[inline]
    fn begin(timeout: Option<Duration>) -> Self {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { left: PATIENCE, deadline }
    }

    /// Gives way and says that another look is worth while, or that it is time to sleep.
    fn gives_way(&mut self) -> bool {
        let is_out = self.left == 0 || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if !is_out {
            self.left -= 1;
            thread::yield_now();
        }
        !is_out
    }
}

/// What can end the wait of one call, apart from the channel itself.
struct Wait {
    token: Option<CancelToken>,
    stop: Option<CancelChannel>,
    deadline: Option<Instant>,
}

impl Wait {
    fn begin(deadline: Option<Instant>) -> Self {
        callbacks::about_to_block();
        let token = current_for_wait();
        let stop = token.as_ref().map(CancelToken::channel);
        Self { token, stop, deadline }
    }

    fn is_cancelled(&self) -> bool {
        self.token.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

// ----- iteration -----

/// The items of a channel: [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// The items of a channel whose receiver was turned into an iterator.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.take().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.take().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

// ----- to and from crossbeam's -----

/// Declares what both ends have in common.
macro_rules! end {
    ($end:ident, $to_or_from:literal) => {
        impl<T> $end<T> {
            #[doc = concat!("The end as `crossbeam-channel` knows it, to ", $to_or_from, " the channel in a `select!`.")]
            ///
            /// Its own blocking calls are no cancellation points.
            pub fn as_crossbeam(&self) -> &channel::$end<T> {
                &self.0
            }
        }

        impl<T> From<channel::$end<T>> for $end<T> {
            fn from(end: channel::$end<T>) -> Self {
                Self(end)
            }
        }

        /// Not derived: the items need not be cloneable.
        impl<T> Clone for $end<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($end)).field("len", &self.len()).finish_non_exhaustive()
            }
        }
    };
}

end!(Sender, "send to");
end!(Receiver, "receive from");
