//! Tests tasks that define how they are cancelled, on real sockets.
//!
//! Shutting down a socket wakes a read that is blocked on the socket, except on Windows.
#![cfg(not(windows))]

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, CancellableTask, Cancelled, CancellingExecutor, DirectExecutor, Executor, ExecutorService,
    InvokeFailure, JoinError, RejectReason, TaskState, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, Spot, assert_matches, blocked, occupy, on_every_concurrent_executor, within_deadline,
};

/// A task that reads a stream to the end, and reports the error or the end that its body saw.
struct ReadAll {
    stream: TcpStream,
    spot: Spot,
    ended: mpsc::Sender<Result<usize, Cancelled>>,
}

impl CancellableTask for ReadAll {
    type Output = io::Result<Vec<u8>>;

    fn run(mut self, token: &CancelToken) -> Result<Self::Output, Cancelled> {
        self.spot.arrive();
        let mut bytes = Vec::new();
        let read = self.stream.read_to_end(&mut bytes);
        let ended = token.check().map(|()| bytes.len());
        let _ = self.ended.send(ended.clone());
        ended?;
        Ok(read.map(|_| bytes))
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        let stream = self.stream.try_clone().unwrap();
        move || stream.shutdown(Shutdown::Both).unwrap()
    }
}

/// A reading task, the other end of its stream, and the facts that the test can observe about the task.
struct Connection {
    task: ReadAll,
    peer: TcpStream,
    spot: Spot,
    ended: mpsc::Receiver<Result<usize, Cancelled>>,
}

fn connection() -> Connection {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    peer.set_read_timeout(Some(LONG)).unwrap();
    let (tell, ended) = mpsc::channel();
    let spot = Spot::default();
    Connection { task: ReadAll { stream, spot: spot.clone(), ended: tell }, peer, spot, ended }
}

/// Returns true if the other side closes the connection before a time-out.
fn is_closed(mut peer: &TcpStream) -> bool {
    match peer.read(&mut [0]) {
        Ok(count) => count == 0,
        // A reset means that the other side did not read some data. Any error other than a reset is a
        // time-out.
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn a_thread_that_is_blocked_in_a_read_comes_back_when_its_handle_is_cancelled() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let executor = CancellingExecutor::new(executor);
            let Connection { task, mut peer, spot, ended } = connection();
            let handle = executor.submit_task(task).unwrap();
            peer.write_all(b"half a mess").unwrap();
            spot.wait_until_blocked();
            assert!(handle.cancel());
            assert_eq!(ended.recv_timeout(LONG).unwrap(), Err(Cancelled), "the read has returned");
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
            assert!(is_closed(&peer));
        });
    });
}

#[test]
fn left_alone_it_reads_to_the_end() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let Connection { task, mut peer, spot, ended: _ } = connection();
            let handle = CancellingExecutor::new(executor).submit_task(task).unwrap();
            spot.wait_until_blocked();
            peer.write_all(b"a message").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            assert_eq!(handle.join().unwrap().unwrap(), b"a message");
        });
    });
}

#[test]
fn stopping_the_pool_reaches_it_too() {
    within_deadline(|| {
        let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(1));
        let Connection { task, peer, spot, .. } = connection();
        let handle = executor.submit_task(task).unwrap();
        spot.wait_until_blocked();
        assert!(executor.shutdown_now().is_empty());
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        assert!(executor.await_termination(LONG) && executor.is_terminated() && executor.is_shutdown());
        assert!(is_closed(&peer));
    });
}

#[test]
fn it_can_be_one_of_several_that_compete_or_run_on_any_executor() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let Connection { task, peer, spot, .. } = connection();
        let handle = pool.submit(task.into_future_task()).unwrap();
        spot.wait_until_blocked();
        handle.cancel();
        assert!(is_closed(&peer));

        let Connection { task, peer, .. } = connection();
        let attempt = task.into_future_task();
        let lost = pool.invoke_any_timeout([attempt], Duration::from_millis(50)).unwrap_err();
        assert_matches!(lost.reason, InvokeFailure::TimedOut);
        assert!(is_closed(&peer));
    });
}

#[test]
fn one_that_has_not_begun_is_dropped_with_what_it_holds() {
    within_deadline(|| {
        let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(1));
        let busy = occupy(&executor);
        let Connection { task, peer, spot: _, ended } = connection();
        let handle = executor.submit_task(task).unwrap();
        assert!(handle.cancel());
        assert!(is_closed(&peer), "dropping the stream has closed it");
        assert_matches!(ended.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected));
        drop(busy);
    });
}

#[test]
fn cancelling_without_disturbing_leaves_it_alone() {
    within_deadline(|| {
        let executor = CancellingExecutor::new(ThreadPerTaskExecutor::new());
        let Connection { task, mut peer, spot, ended } = connection();
        let handle = executor.submit_task(task).unwrap();
        spot.wait_until_blocked();
        assert!(handle.cancel_keep_running());
        peer.write_all(b"all of it").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        assert_eq!(ended.recv_timeout(LONG).unwrap(), Ok(9));
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
    });
}

/// A task whose canceller waits for a signal from the test, and whose `run` ends only after the canceller has
/// begun.
struct Meets {
    begun: Signal,
    canceller_may_end: Signal,
    in_canceller: Signal,
}

impl CancellableTask for Meets {
    type Output = ();

    fn run(self, token: &CancelToken) -> Result<(), Cancelled> {
        self.begun.set();
        self.in_canceller.wait();
        token.check()
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        let (entered, may_end) = (self.in_canceller.clone(), self.canceller_may_end.clone());
        move || {
            entered.set();
            may_end.wait();
        }
    }
}

#[test]
fn the_task_does_not_end_while_its_canceller_runs() {
    within_deadline(|| {
        let pool = std::sync::Arc::new(ThreadPoolExecutor::fixed(1));
        let executor = CancellingExecutor::new(std::sync::Arc::clone(&pool));
        let task =
            Meets { begun: Signal::new(), canceller_may_end: Signal::new(), in_canceller: Signal::new() };
        let (begun, may_end) = (task.begun.clone(), task.canceller_may_end.clone());
        let in_canceller = task.in_canceller.clone();
        let handle = executor.submit_task(task).unwrap();
        begun.wait();
        let cancels = blocked(move || handle.cancel());
        in_canceller.wait();
        let next = executor.submit(|| ()).unwrap();
        // The worker may have continued in the meantime. If this sleep is too short, the test can miss a
        // fault, but the test does not fail.
        thread::sleep(Duration::from_millis(20));
        assert_eq!((pool.stats().completed, next.state()), (0, TaskState::Pending));
        may_end.set();
        assert!(cancels.result());
        next.join().unwrap();
    });
}

/// A task that panics in each of its methods.
struct Clumsy {
    in_canceller: bool,
}

impl CancellableTask for Clumsy {
    type Output = ();

    fn run(self, token: &CancelToken) -> Result<(), Cancelled> {
        token.cancel(); // as its handle would do
        token.check()
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        let fail = || std::panic::resume_unwind(Box::new("clumsy"));
        if !self.in_canceller {
            fail();
        }
        move || fail()
    }
}

#[test]
fn panics_of_the_canceller_stay_where_they_are() {
    within_deadline(|| {
        let executor = CancellingExecutor::new(DirectExecutor);
        let handle = executor.submit_task(Clumsy { in_canceller: true }).unwrap();
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        let handle = executor.submit_task(Clumsy { in_canceller: false }).unwrap();
        assert_matches!(handle.join(), Err(JoinError::Panicked(panic)) if panic.message() == "clumsy");
    });
}

#[test]
fn it_passes_on_what_the_executor_behind_it_says() {
    within_deadline(|| {
        let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(1));
        let ended = Signal::new();
        let there = ended.clone();
        executor
            .execute(move || {
                thread::sleep(SHORT); // a `close` that does not wait returns earlier
                there.set();
            })
            .unwrap();
        executor.close();
        assert!(ended.is_set(), "closing waits for the accepted task");
        assert!(executor.executor().is_terminated());
        let Connection { task, peer, .. } = connection();
        let refused = executor.submit_task(task).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Shutdown);
        drop(refused);
        assert!(is_closed(&peer));
        assert_matches!(executor.execute_task(executor::Task::new(|| ())), Err(_));
        executor.into_inner().shutdown();
    });
}
