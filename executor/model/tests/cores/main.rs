//! Tests the small cores of the library under loom, which tries every schedule, and every value that a
//! relaxed load can return.
//!
//! The library catches a panic of a task, even if the panic is a failed assertion. So the assertions must be
//! in the model's main thread. A wait that never ends is a deadlock, which loom itself reports. If the tested
//! operation must make some memory visible to another thread, the test writes and reads that memory with
//! `Relaxed`. Then loom also lets the reader see the old value, unless the tested operation orders the two
//! accesses.
#![cfg(feature = "loom")]

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use loom::model; // tries all schedules

mod arrivals;
mod barrier;
mod deadline;
mod handle;
mod job;
mod latch;
mod linked;
mod pool;
mod promise;
mod batch;
mod semaphore;
mod seq_cst;
mod shared;
mod starvation;
mod token;

/// The items of the library's `sync.rs`, for the library's files that this program compiles.
mod sync {
    pub(crate) use loom::sync::Arc; // unlike std's, it shows loom which threads still share a value

    pub(crate) mod atomic {
        pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};

        pub(crate) use crate::seq_cst::AtomicUsize;
    }
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::thread;

    #[derive(Default)]
    pub(crate) struct CachePadded<T>(pub(crate) T);

    #[derive(Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
}

mod task {
    pub(crate) use executor_model::Task;

    use crate::ids::TaskId;

    /// A stand-in for the record in which a seat notes its current task. No model uses this record.
    #[derive(Clone)]
    pub(crate) struct TaskLabel(TaskId);

    impl TaskLabel {
        pub(crate) fn unnamed(id: TaskId) -> Self {
            Self(id)
        }

        pub(crate) fn for_task(mut self, whole: TaskId) -> Self {
            self.0 = whole;
            self
        }

        pub(crate) fn id(&self) -> TaskId {
            self.0
        }

        #[expect(clippy::unused_self, reason = "as in the library, where some have a name")]
        pub(crate) fn name(&self) -> Option<&str> {
            None
        }
    }
}

mod panics {
    use std::any::Any;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    /// A stand-in for the library's type of a caught panic.
    pub(crate) struct Panic(Box<dyn Any + Send>);

    impl Panic {
        #[allow(dead_code, reason = "a join does that")]
        pub(crate) fn resume(self) -> ! {
            resume_unwind(self.0)
        }
    }

    pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
        catch_unwind(AssertUnwindSafe(f)).map_err(Panic)
    }

    pub(crate) fn discard<T>(value: T) {
        drop(value);
    }

    pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
}

mod ids {
    use std::thread::ThreadId;

    /// Each of loom's threads has its own stack, but all these threads run on the same thread of the
    /// operating system. No model looks at the identity of a thread.
    #[derive(Clone, Copy, PartialEq)]
    pub(crate) struct ThreadKey(ThreadId);

    pub(crate) fn this_thread() -> ThreadKey {
        ThreadKey(std::thread::current().id())
    }

    #[derive(Clone, Copy, PartialEq)]
    pub(crate) struct TaskId(u64);

    impl TaskId {
        pub(crate) fn as_u64(self) -> u64 {
            self.0
        }
    }

    impl From<u64> for TaskId {
        fn from(number: u64) -> Self {
            Self(number)
        }
    }
}

mod waiting {
    pub(crate) mod worker_context {
        use crate::ids::TaskId;
        use crate::task::TaskLabel;

        pub(crate) trait PoolWorker: Send + Sync {
            #[allow(dead_code, reason = "reports say it, and no model makes one")]
            fn runs(&self) -> Option<TaskLabel>;

            #[allow(dead_code, reason = "lines say it, and no model has one")]
            fn runs_part(&self, strand: TaskId, part: &TaskLabel);
        }
    }
}

/// Runs `body` under every schedule with at most `preemptions` preemptions, or with at most
/// `LOOM_MAX_PREEMPTIONS` if that variable is set. This bound is for models that would take minutes without a
/// bound.
fn model_bounded(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(body);
}

/// Runs a future on this thread.
fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    struct Woken(loom::sync::Notify);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.notify();
        }
    }

    let woken = Arc::new(Woken(loom::sync::Notify::new()));
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        match Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => woken.0.wait(),
        }
    }
}
