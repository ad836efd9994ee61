//! Extension traits for the sender and the receiver of a channel: a cancellation ends their waits.

use super::error::{PutError, TakeError};
use super::stop::CancelChannel;
use crate::cancel::callbacks;
use crate::cancel::{CancelToken, check_current, current_for_wait};
use crate::sync::channel::{self, Receiver, Sender, TryRecvError, TrySendError};
use crate::sync::{Duration, Instant, PATIENCE, thread};

/// Adds cancellable waits to a `Sender`, through which items go into a channel.
///
/// `put` does what `send` does, and is a cancellation point. For calls that do not wait, use crossbeam's own
/// methods: `try_send`, `len`.
///
/// ```
/// use executor::channel::{ReceiverExt, SenderExt, bounded};
///
/// let (sender, receiver) = bounded(1);
/// sender.put("page")?;
/// assert_eq!(receiver.take(), Ok("page"));
/// # Ok::<(), executor::channel::PutError<&str>>(())
/// ```
#[doc(alias = "BlockingQueue")]
pub trait SenderExt<T> {
    /// Waits until there is room for an item, and puts the item into the channel.
    ///
    /// Everything that the caller did before `put` is visible to the thread that takes the item.
    ///
    /// ```
    /// use executor::{CancelToken, channel::{PutError, SenderExt, bounded}};
    ///
    /// let (sender, _receiver) = bounded(1);
    /// assert_eq!(sender.put("first"), Ok(()));
    /// let token = CancelToken::new();
    /// token.cancel();
    /// assert_eq!(token.attach(|| sender.put("second")), Err(PutError::Interrupted("second")));
    /// ```
    ///
    /// # Errors
    /// [`PutError::Disconnected`] if all receivers are gone, [`PutError::Interrupted`] if the calling task
    /// was cancelled, before or during the wait. Both errors give the item back: no receiver will see the
    /// item.
    ///
    /// # Blocking
    /// Blocks until there is room, all receivers are gone, or the calling task is cancelled. A worker that
    /// waits for a channel sleeps, and runs no other task meanwhile.
    #[doc(alias = "send")]
    fn put(&self, item: T) -> Result<(), PutError<T>>;

    /// Waits until there is room for an item, for `timeout` at most, and puts the item into the channel.
    ///
    /// ```
    /// use executor::channel::{PutError, SenderExt, bounded};
    /// use std::time::Duration;
    ///
    /// let (sender, _receiver) = bounded(1);
    /// sender.put("first")?;
    /// let refused = sender.put_timeout("second", Duration::from_millis(1));
    /// assert_eq!(refused, Err(PutError::TimedOut("second")));
    /// # Ok::<(), PutError<&str>>(())
    /// ```
    ///
    /// # Errors
    /// [`PutError::TimedOut`] if there was no room in time; the other errors are the errors of
    /// [`put`](Self::put).
    ///
    /// # Blocking
    /// Blocks as [`put`](Self::put) does, for `timeout` at most.
    #[doc(alias = "offer")]
    #[doc(alias = "send_timeout")]
    fn put_timeout(&self, item: T, timeout: Duration) -> Result<(), PutError<T>>;
}

impl<T> SenderExt<T> for Sender<T> {
    fn put(&self, item: T) -> Result<(), PutError<T>> {
        put_until(self, None, item)
    }

    fn put_timeout(&self, item: T, timeout: Duration) -> Result<(), PutError<T>> {
        put_until(self, Some(timeout), item)
    }
}

fn put_until<T>(sender: &Sender<T>, timeout: Option<Duration>, mut item: T) -> Result<(), PutError<T>> {
    if check_current().is_err() {
        return Err(PutError::Interrupted(item));
    }
    let (mut yields_left, deadline) = (PATIENCE, deadline_after(timeout));
    loop {
        item = match sender.try_send(item) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(item)) => return Err(PutError::Disconnected(item)),
            Err(TrySendError::Full(item)) => item,
        };
        if !gives_way(&mut yields_left, deadline) {
            break;
        }
    }
    let wait = CallLimits::begin(deadline);
    let Err(item) = channel::send_unless(sender, item, wait.stop.as_deref(), wait.deadline) else {
        return Ok(());
    };
    sender.try_send(item).map_err(|error| match error {
        TrySendError::Disconnected(item) => PutError::Disconnected(item),
        TrySendError::Full(item) if wait.is_cancelled() => PutError::Interrupted(item),
        TrySendError::Full(item) => PutError::TimedOut(item),
    })
}

/// Adds cancellable waits to a `Receiver`, through which items come out of a channel.
///
/// `take` does what `recv` does, and is a cancellation point. For calls that do not wait, use crossbeam's own
/// methods: `try_recv`, `try_iter`, `len`.
///
/// ```
/// use executor::channel::{ReceiverExt, TakeError, bounded};
///
/// let (sender, receiver) = bounded(1);
/// sender.send("page")?;
/// drop(sender);
/// assert_eq!(receiver.take(), Ok("page"));
/// assert_eq!(receiver.take(), Err(TakeError::Disconnected));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "BlockingQueue")]
pub trait ReceiverExt<T> {
    /// Waits until an item is available, and takes the item.
    ///
    /// ```
    /// use executor::{CancelToken, channel::{ReceiverExt, TakeError, bounded}};
    ///
    /// let (sender, receiver) = bounded::<u32>(1);
    /// let token = CancelToken::new();
    /// token.cancel();
    /// assert_eq!(token.attach(|| receiver.take()), Err(TakeError::Interrupted));
    /// # drop(sender);
    /// ```
    ///
    /// # Errors
    /// [`TakeError::Disconnected`] if the channel is empty and all senders are gone.
    /// [`TakeError::Interrupted`] if the calling task was cancelled, before or during the wait. After an
    /// error the caller has taken no item: the items remain available to the other receivers.
    ///
    /// # Blocking
    /// Blocks until an item comes, all senders are gone, or the calling task is cancelled. A worker that
    /// waits for a channel sleeps, and runs no other task meanwhile.
    #[doc(alias = "recv")]
    fn take(&self) -> Result<T, TakeError>;

    /// Waits until an item is available, for `timeout` at most, and takes the item.
    ///
    /// ```
    /// use executor::channel::{ReceiverExt, TakeError, bounded};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = bounded::<u32>(1);
    /// assert_eq!(receiver.take_timeout(Duration::from_millis(1)), Err(TakeError::TimedOut));
    /// # drop(sender);
    /// ```
    ///
    /// # Errors
    /// [`TakeError::TimedOut`] if no item came in time; the other errors are the errors of
    /// [`take`](Self::take).
    ///
    /// # Blocking
    /// Blocks as [`take`](Self::take) does, for `timeout` at most.
    #[doc(alias = "poll")]
    #[doc(alias = "recv_timeout")]
    fn take_timeout(&self, timeout: Duration) -> Result<T, TakeError>;

    /// Returns an iterator that takes items, and waits for each item as [`take`](Self::take) does. The
    /// iterator ends when the channel is empty and all senders are gone, or when the calling task is
    /// cancelled.
    ///
    /// After the end of the iterator, `CancelToken::current().check()` returns an error if a cancellation was
    /// the cause of the end.
    ///
    /// ```
    /// use executor::channel::{ReceiverExt, SenderExt, bounded};
    ///
    /// let (sender, receiver) = bounded(3);
    /// std::thread::spawn(move || (1..=10).try_for_each(|n| sender.put(n)));
    /// assert_eq!(receiver.take_iter().sum::<u32>(), 55); // until the sender is gone
    /// ```
    ///
    /// # Blocking
    /// Each call of the iterator's `next` blocks as [`take`](Self::take) does.
    #[doc(alias = "iter")]
    fn take_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.take().ok())
    }
}

impl<T> ReceiverExt<T> for Receiver<T> {
    fn take(&self) -> Result<T, TakeError> {
        take_until(self, None)
    }

    fn take_timeout(&self, timeout: Duration) -> Result<T, TakeError> {
        take_until(self, Some(timeout))
    }
}

fn take_until<T>(receiver: &Receiver<T>, timeout: Option<Duration>) -> Result<T, TakeError> {
    if check_current().is_err() {
        return Err(TakeError::Interrupted);
    }
    let (mut yields_left, deadline) = (PATIENCE, deadline_after(timeout));
    loop {
        match receiver.try_recv() {
            Ok(item) => return Ok(item),
            Err(TryRecvError::Disconnected) => return Err(TakeError::Disconnected),
            Err(TryRecvError::Empty) if gives_way(&mut yields_left, deadline) => {}
            Err(TryRecvError::Empty) => break,
        }
    }
    let wait = CallLimits::begin(deadline);
    if let Some(item) = channel::recv_unless(receiver, wait.stop.as_deref(), wait.deadline) {
        return Ok(item);
    }
    receiver.try_recv().map_err(|error| match error {
        TryRecvError::Disconnected => TakeError::Disconnected,
        TryRecvError::Empty if wait.is_cancelled() => TakeError::Interrupted,
        TryRecvError::Empty => TakeError::TimedOut,
    })
}

/// Returns `None` if the call has no time limit, or if the limit is beyond the range of the clock.
#[inline]
fn deadline_after(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

/// If the caller may try again, yields to other threads and returns true. Returns false if the caller must
/// sleep. A sleep costs far more than a yield, so each call begins with up to [`PATIENCE`] yields.
fn gives_way(yields_left: &mut u32, deadline: Option<Instant>) -> bool {
    let is_out = *yields_left == 0 || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    if !is_out {
        *yields_left -= 1;
        thread::yield_now();
    }
    !is_out
}

/// The limits of one call: the events that can end its wait, apart from the channel itself.
struct CallLimits {
    token: Option<CancelToken>,
    stop: Option<CancelChannel>,
    deadline: Option<Instant>,
}

impl CallLimits {
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
