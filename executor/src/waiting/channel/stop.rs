//! A channel that becomes ready when a token is cancelled.

use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;
use std::task::{Wake, Waker};

use crate::cancel::CancelToken;
use crate::sync::channel::{self, Receiver, Sender};
use crate::sync::{Arc, Mutex};

/// A channel that is disconnected, and so becomes ready, when a token is cancelled: [`CancelToken::channel`].
///
/// `CancelChannel` is a crossbeam `Receiver` that never receives anything. Dropping the channel removes its
/// entry from the token.
///
/// ```
/// use crossbeam_channel::TryRecvError;
///
/// let token = executor::CancelToken::new();
/// let stop = token.channel();
/// assert_eq!(stop.try_recv(), Err(TryRecvError::Empty));
/// token.cancel();
/// assert_eq!(stop.try_recv(), Err(TryRecvError::Disconnected));
/// ```
pub struct CancelChannel {
    hears: Receiver<Infallible>,
    /// The registration of the disconnector with the token. Dropping this field removes the entry.
    _registration: Box<dyn Send + Sync>,
}

/// The sender of the channel. The token keeps this sender. The `wake` of this type drops the sender, which
/// disconnects the channel.
struct Disconnector(Mutex<Option<Sender<Infallible>>>);

impl Wake for Disconnector {
    fn wake(self: Arc<Self>) {
        let end = self.0.lock().take();
        drop(end); // after the release of our lock, because the drop takes the channel's lock
    }
}

impl CancelToken {
    /// Makes a channel for `select!` that becomes ready when this token is cancelled. If the token has
    /// already been cancelled, the channel is ready at once.
    ///
    /// Use the channel in a `select!` that waits for several channels, because no call of this crate can wait
    /// for several channels. No item is ever sent through the channel: when it is ready, the `select!`
    /// receives an `Err`. The channel becomes ready inside [`masked`](crate::masked), too, where the blocking
    /// calls of this crate ignore the token.
    ///
    /// A cancellation wakes the thread in the `select!` together with the threads that wait in this crate,
    /// before any callback of [`on_cancel`](Self::on_cancel) runs. Make the channel once, and not for each
    /// `select!`: a channel needs some allocations, and stays registered with the token until the channel is
    /// dropped.
    ///
    /// ```
    /// use crossbeam_channel::{never, select};
    /// use executor::CancelToken;
    ///
    /// let token = CancelToken::new();
    /// let stop = token.channel();
    /// let jobs = never::<u32>();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| select! {
    ///         recv(jobs) -> _ => unreachable!("there are none"),
    ///         recv(stop) -> _ => {} // cancelled
    ///     });
    ///     token.cancel();
    /// });
    /// ```
    pub fn channel(&self) -> CancelChannel {
        let (end, hears) = channel::bounded(0);
        let waker = Waker::from(Arc::new(Disconnector(Mutex::new(Some(end)))));
        // A token that is already cancelled does not keep the waker. Then the drop of `waker` at the end of
        // this function disconnects the channel.
        let registration = self.wake_on_cancel(&waker);
        CancelChannel { hears, _registration: Box::new(registration) }
    }
}

impl Deref for CancelChannel {
    type Target = Receiver<Infallible>;

    fn deref(&self) -> &Self::Target {
        &self.hears
    }
}

impl fmt::Debug for CancelChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelChannel").finish_non_exhaustive()
    }
}
