//! Uses everything that `crate::sync` has, as an answer would.

use std::ptr;

use super::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
use super::sync::mpsc::{
    self, IntoIter, Iter, Receiver, RecvError, SendError, Sender, SyncSender, TryIter, TryRecvError,
    TrySendError,
};
use super::sync::thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle, Thread, ThreadId};
use super::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock,
    RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, Weak, thread_local,
};

pub(crate) fn everything() {
    locks();
    many_readers();
    waits();
    meets();
    channels();
    bounded_channels();
    no_room();
    atomics();
    threads();
    parks();
    scopes();
    locals();
}

fn locks() {
    let mut lock = Mutex::new(1);
    *lock.get_mut().unwrap() += 1;
    let guard: LockResult<MutexGuard<'_, i32>> = lock.lock();
    let held = guard.unwrap_or_else(PoisonError::into_inner);
    let tried: TryLockResult<MutexGuard<'_, i32>> = lock.try_lock();
    assert!(matches!(tried, Err(TryLockError::WouldBlock)));
    drop((held, tried));
    *lock.try_lock().unwrap() += 1;
    assert_eq!(lock.into_inner().unwrap(), 3);
    let (made, default) = (Mutex::from(1), Mutex::<i32>::default());
    assert_eq!((*made.lock().unwrap(), *default.lock().unwrap()), (1, 0));
}

fn many_readers() {
    let mut lock = RwLock::from(RwLock::<u8>::default().into_inner().unwrap());
    *lock.get_mut().unwrap() += 1;
    let lock = Arc::new(RwLock::new(lock.into_inner().unwrap()));
    let other = {
        let lock: Weak<RwLock<u8>> = Arc::downgrade(&lock);
        thread::spawn(move || {
            let Some(lock) = lock.upgrade() else { return 1 };
            let read: RwLockReadGuard<'_, u8> = lock.read().unwrap();
            *read
        })
    };
    let mut write: RwLockWriteGuard<'_, u8> = lock.write().unwrap();
    assert!(lock.try_read().is_err() && lock.try_write().is_err());
    *write += 1;
    drop(write);
    assert!((1..=2).contains(&other.join().unwrap()));
    assert_eq!(*lock.try_read().unwrap(), 2);
    assert_eq!(*lock.try_write().unwrap(), 2);
}

fn waits() {
    let shared = Arc::new((Mutex::new(0), Condvar::new(), Condvar::default()));
    let wait = |shared: Arc<(Mutex<i32>, Condvar, Condvar)>| {
        let mut number = shared.0.lock().unwrap();
        while *number == 0 {
            number = shared.1.wait(number).unwrap();
        }
        *number += 1;
        shared.2.notify_all();
    };
    let other = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || wait(shared))
    };
    *shared.0.lock().unwrap() = 1;
    shared.1.notify_one();
    assert_eq!(*shared.2.wait_while(shared.0.lock().unwrap(), |number| *number < 2).unwrap(), 2);
    other.join().unwrap();
}

fn meets() {
    let barrier = Arc::new(Barrier::new(2));
    let other = {
        let barrier = Arc::clone(&barrier);
        thread::spawn(move || BarrierWaitResult::is_leader(&barrier.wait()))
    };
    assert_ne!(barrier.wait().is_leader(), other.join().unwrap());
}

fn channels() {
    let (sender, receiver): (Sender<u8>, Receiver<u8>) = mpsc::channel();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let receiver = Arc::new(Mutex::new(receiver)); // as the workers of a pool share it
    let workers: Vec<JoinHandle<u8>> = (0..2)
        .map(|_| {
            let receiver = Arc::clone(&receiver);
            thread::spawn(move || {
                let mut sum = 0;
                loop {
                    let message = receiver.lock().unwrap().recv();
                    match message {
                        Ok(number) => sum += number,
                        Err(RecvError) => return sum,
                    }
                }
            })
        })
        .collect();
    let second = sender.clone();
    sender.send(1).unwrap();
    second.send(2).unwrap();
    drop((sender, second));
    assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u8>(), 3);

    let (sender, receiver) = mpsc::channel();
    (1..=6).for_each(|number| sender.send(number).unwrap());
    let mut iter: Iter<'_, u8> = receiver.iter();
    assert_eq!(iter.next(), Some(1));
    let there: TryIter<'_, u8> = receiver.try_iter();
    assert_eq!(there.take(2).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(receiver.recv(), Ok(4));
    drop(sender);
    let mut sum = 0;
    for number in &receiver {
        sum += number;
    }
    let mut rest: IntoIter<u8> = receiver.into_iter();
    assert_eq!((sum, rest.next()), (11, None));
    let (sender, receiver) = mpsc::channel();
    drop(receiver);
    assert_eq!(sender.send(7), Err(SendError(7)));
}

fn bounded_channels() {
    let (sender, receiver): (SyncSender<u8>, _) = mpsc::sync_channel(1);
    sender.try_send(1).unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    let second = sender.clone();
    let other = thread::spawn(move || second.send(2));
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    other.join().unwrap().unwrap();
    sender.send(3).unwrap();
    drop(receiver);
    assert_eq!(sender.try_send(4), Err(TrySendError::Disconnected(4)));
    assert_eq!(sender.send(5), Err(SendError(5)));
}

fn no_room() {
    let (sender, receiver) = mpsc::sync_channel(0);
    assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
    let taken = Arc::new(AtomicBool::new(false));
    let other = {
        let taken = Arc::clone(&taken);
        thread::spawn(move || {
            taken.store(true, Ordering::SeqCst);
            (receiver.recv(), receiver.recv())
        })
    };
    sender.send(1).unwrap();
    assert!(taken.load(Ordering::SeqCst), "a sender waits until its message is received");
    sender.send(2).unwrap();
    assert_eq!(other.join().unwrap(), (Ok(1), Ok(2)));
    assert_eq!(sender.send(3), Err(SendError(3)));

    let (sender, receiver) = mpsc::sync_channel::<u8>(0);
    let other = thread::spawn(move || sender.send(1));
    drop(receiver); // before the message is sent, or while its sender waits
    assert_eq!(other.join().unwrap(), Err(SendError(1)));
}

fn atomics() {
    let mut value = 5;
    let pointer = AtomicPtr::new(ptr::from_mut(&mut value));
    assert!(!pointer.load(Ordering::Acquire).is_null());
    macro_rules! adds {
        ($($atomic:ident)*) => {$(
            let mut number = $atomic::new(1);
            number.fetch_add(2, Ordering::Relaxed);
            assert_eq!(number.compare_exchange(3, 4, Ordering::AcqRel, Ordering::Acquire), Ok(3));
            *number.get_mut() += 1;
            assert_eq!((number.swap(0, Ordering::SeqCst), number.into_inner()), (5, 0));
        )*};
    }
    adds!(AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize);
    fence(Ordering::SeqCst);
}

fn threads() {
    let builder = Builder::new().name("worker".to_owned()).stack_size(1 << 17);
    let handle: JoinHandle<_> =
        builder.spawn(|| (thread::current().id(), thread::current().name().map(str::to_owned))).unwrap();
    let thread: Thread = handle.thread().clone();
    while !handle.is_finished() {
        thread::yield_now();
    }
    let result: thread::Result<_> = handle.join();
    let (id, name): (ThreadId, _) = result.unwrap();
    assert_eq!((id, name.as_deref()), (thread.id(), Some("worker")));
    assert_ne!(id, thread::current().id());
    assert_eq!(thread::current().id(), thread::current().id());
}

fn parks() {
    let flag = Arc::new(AtomicBool::new(false));
    let (lock, changed) = (Mutex::new(()), Condvar::new());
    let other = {
        let flag = Arc::clone(&flag);
        thread::spawn(move || {
            while !flag.load(Ordering::SeqCst) {
                thread::park();
            }
        })
    };
    changed.notify_one(); // nobody waits, and no token is left by it
    drop(lock.lock().unwrap());
    flag.store(true, Ordering::SeqCst);
    other.thread().unpark();
    other.join().unwrap();
    thread::current().unpark();
    thread::park();
}

fn scopes() {
    let _: Option<Scope<'_, '_>> = None;
    let (numbers, sum) = ([1, 2, 3], Mutex::new(0));
    let first = thread::scope(|scope| {
        let first: ScopedJoinHandle<'_, i32> = scope.spawn(|| numbers[0]);
        scope.spawn(|| *sum.lock().unwrap() += numbers[1]);
        Builder::new().spawn_scoped(scope, || *sum.lock().unwrap() += numbers[2]).unwrap();
        assert_ne!(first.thread().id(), thread::current().id());
        while !first.is_finished() {
            thread::yield_now();
        }
        first.join().unwrap()
    });
    assert_eq!((first, sum.into_inner().unwrap()), (1, 5));
}

thread_local! {
    static MINE: std::cell::Cell<u8> = const { std::cell::Cell::new(0) };
}

fn locals() {
    MINE.with(|mine| mine.set(1));
    assert_eq!(thread::spawn(|| MINE.with(std::cell::Cell::get)).join().unwrap(), 0);
    assert_eq!(MINE.with(std::cell::Cell::get), 1);
}
