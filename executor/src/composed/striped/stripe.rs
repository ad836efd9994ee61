//! One stripe as a separate executor, and keys that are compared by their address.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;

use super::StripedExecutor;
use crate::executor::{Executor, RejectedExecution};
use crate::sync::Arc;
use crate::task::Task;

/// One stripe of a [`StripedExecutor`], as an executor. Each submitted task gets the key of the stripe.
///
/// ```
/// use executor::{BoundedExecutor, StripedExecutor, ThreadPoolExecutor, prelude::*};
///
/// let striped = StripedExecutor::over(ThreadPoolExecutor::fixed(2));
/// let ada = BoundedExecutor::over(striped.stripe("Ada"), 10); // ten tasks of this stripe at most
/// assert_eq!(ada.submit(|| 1 + 1)?.join()?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A `Stripe` is only a reference to a stripe, and costs only one computation of its key's hash. Several
/// `Stripe`s with equal keys refer to the same stripe. `P` is the type of a pointer to the striped executor.
/// If `P` is an [`Arc`], a task can own the `Stripe`: see [`of`](Self::of).
pub struct Stripe<P, K> {
    striped: P,
    key: K,
    hash: u64,
}

impl<P, K, E, S> Stripe<P, K>
where
    P: Deref<Target = StripedExecutor<K, E, S>>,
    K: Eq + Hash + Send + 'static,
    E: Executor + 'static,
    S: BuildHasher + Send + Sync,
{
    /// Returns the stripe of a key. `striped` is a pointer of any kind to the striped executor.
    ///
    /// ```
    /// use executor::{Stripe, StripedExecutor, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let striped = Arc::new(StripedExecutor::over(ThreadPoolExecutor::fixed(2)));
    /// let first = Stripe::of(Arc::clone(&striped), "Ada");
    /// let second = striped.submit_in("Ada", move || first.submit(|| "the second").unwrap())?.join()?;
    /// assert_eq!(second.join()?, "the second");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(striped: P, key: K) -> Self {
        let hash = striped.hash(&key);
        Self { striped, key, hash }
    }

    /// Returns the key of the stripe.
    ///
    /// ```
    /// use executor::{DirectExecutor, StripedExecutor};
    ///
    /// let accounts = StripedExecutor::over(DirectExecutor);
    /// assert_eq!(accounts.stripe("Ada").key(), &"Ada");
    /// ```
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns what the stripe is doing, in numbers.
    ///
    /// ```
    /// use executor::{ManualExecutor, StripedExecutor, prelude::*};
    ///
    /// let accounts = StripedExecutor::over(ManualExecutor::new());
    /// let ada = accounts.stripe("Ada");
    /// ada.execute(|| ())?;
    /// assert_eq!((ada.stats().queued, ada.stats().running), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> StripeStats {
        let table = self.striped.shared().table(self.hash);
        let strand = table.find(self.hash, &self.key);
        strand.map_or(StripeStats::default(), |strand| {
            strand.with(|state| {
                let queued = state.tasks().filter(|task| !task.is_cancelled()).count();
                StripeStats { queued, running: usize::from(state.is_running()) }
            })
        })
    }
}

impl<P, K, E, S> Executor for Stripe<P, K>
where
    P: Deref<Target = StripedExecutor<K, E, S>> + Send + Sync,
    K: Eq + Hash + Clone + Send + Sync + 'static,
    E: Executor + 'static,
    S: BuildHasher + Send + Sync,
{
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.striped.join_stripe(self.hash, self.key.clone(), task)
    }
}

impl<P, K: fmt::Debug, E, S> fmt::Debug for Stripe<P, K>
where
    P: Deref<Target = StripedExecutor<K, E, S>>,
    K: Eq + Hash + Send + 'static,
    E: Executor + 'static,
    S: BuildHasher + Send + Sync,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StripeStats { queued, running } = self.stats();
        f.debug_struct("Stripe")
            .field("key", &self.key)
            .field("queued", &queued)
            .field("running", &running)
            .finish_non_exhaustive()
    }
}

/// Numbers that show what a [`Stripe`] is doing.
///
/// ```
/// use executor::{DirectExecutor, StripedExecutor};
///
/// let stats = StripedExecutor::over(DirectExecutor).stripe("Ada").stats();
/// assert_eq!((stats.queued, stats.running), (0, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StripeStats {
    /// The number of tasks that wait in the stripe.
    pub queued: usize,
    /// 1 if a task of the stripe is running or about to run, and 0 if not.
    pub running: usize,
}

/// A key that is the address of a value. So two values have different keys even if their contents are equal.
///
/// Use this key for tasks that belong to one object, even if the content of the object changes.
///
/// ```
/// use executor::{Identity, StripedExecutor, ThreadPoolExecutor};
/// use std::sync::{Arc, Mutex};
///
/// let striped = StripedExecutor::owning(ThreadPoolExecutor::fixed(2));
/// let account = Arc::new(Mutex::new(100));
/// let booked = Arc::clone(&account);
/// let booking = striped.submit_in(Identity::of(&account), move || *booked.lock().unwrap() -= 30)?;
/// booking.join()?;
/// assert_eq!(*account.lock().unwrap(), 70);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The key holds an `Arc` of the value. So while a task has this key, no other value can be at the same
/// address.
pub struct Identity<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Identity<T> {
    /// Returns the identity of the value that an [`Arc`] points to.
    ///
    /// ```
    /// use executor::Identity;
    /// use std::sync::Arc;
    ///
    /// let (ada, another) = (Arc::new("Ada"), Arc::new("Ada"));
    /// assert!(Identity::of(&ada) == Identity::of(&Arc::clone(&ada)));
    /// assert!(Identity::of(&ada) != Identity::of(&another));
    /// ```
    pub fn of(value: &Arc<T>) -> Self {
        Self(Arc::clone(value))
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl<T: ?Sized> Clone for Identity<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for Identity<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl<T: ?Sized> Eq for Identity<T> {}

impl<T: ?Sized> Hash for Identity<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl<T: ?Sized> fmt::Debug for Identity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&Arc::as_ptr(&self.0)).finish()
    }
}
