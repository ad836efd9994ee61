//! The errors of channels, which tell why an item could not be put or taken.

use std::error::Error;
use std::fmt;

use crate::waiting::error::into_io_error;

/// The reason why an item could not be put into a channel. Each variant gives the item back.
///
/// ```
/// use executor::channel::{PutError, SenderExt, bounded};
///
/// let (sender, receiver) = bounded(1);
/// drop(receiver);
/// assert_eq!(sender.put("page"), Err(PutError::Disconnected("page")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PutError<T> {
    /// All receivers are gone.
    #[doc(alias = "Closed")]
    Disconnected(T),
    /// The channel was still full when the time was up. Only [`put_timeout`](super::SenderExt::put_timeout)
    /// fails with `TimedOut`.
    TimedOut(T),
    /// The calling task was cancelled.
    #[doc(alias = "InterruptedException")]
    Interrupted(T),
}

impl<T> PutError<T> {
    /// Returns the item.
    ///
    /// ```
    /// # use executor::channel::{SenderExt, bounded};
    /// let (sender, receiver) = bounded(1);
    /// drop(receiver);
    /// let refused = sender.put("page").unwrap_err();
    /// assert_eq!(refused.into_inner(), "page");
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            Self::Disconnected(item) | Self::TimedOut(item) | Self::Interrupted(item) => item,
        }
    }
}

/// This implementation is written by hand, so that `T` need not implement `Debug`.
impl<T> fmt::Debug for PutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected(_) => "Disconnected(..)",
            Self::TimedOut(_) => "TimedOut(..)",
            Self::Interrupted(_) => "Interrupted(..)",
        })
    }
}

impl<T> fmt::Display for PutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected(_) => "the channel has no receiver any more",
            Self::TimedOut(_) => "there was no room in the channel in time",
            Self::Interrupted(_) => "the task was cancelled while it waited for room in a channel",
        })
    }
}

impl<T> Error for PutError<T> {}

into_io_error!(PutError<T> => PutError, where T: Send + Sync + 'static);

/// The reason why no item could be taken from a channel.
///
/// ```
/// use executor::channel::{ReceiverExt, TakeError, bounded};
///
/// let (sender, receiver) = bounded::<u32>(1);
/// drop(sender);
/// assert_eq!(receiver.take(), Err(TakeError::Disconnected));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeError {
    /// The channel is empty, and all senders are gone.
    #[doc(alias = "Closed")]
    Disconnected,
    /// The channel was still empty when the time was up. Only
    /// [`take_timeout`](super::ReceiverExt::take_timeout) fails with `TimedOut`.
    TimedOut,
    /// The calling task was cancelled.
    #[doc(alias = "InterruptedException")]
    Interrupted,
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "the channel is empty and has no sender any more",
            Self::TimedOut => "no item came in time",
            Self::Interrupted => "the task was cancelled while it waited for an item",
        })
    }
}

impl Error for TakeError {}

into_io_error!(TakeError => TakeError);
