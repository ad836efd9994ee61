//! A thread that blocks in the system (in `connect`, in `accept`, or in a wait for a child process) returns
//! when a token is cancelled. Streams need no feature, so their tests are in `executor`.
#![cfg(unix)]

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use executor::{
    CancelKind, CancelToken, CancellableChild, CancellableListener, CancellableStream, Cancelled,
    ThreadPoolExecutor, prelude::*,
};

/// A time limit so long that a wait in this file reaches it only if the library has a fault.
const LONG: Duration = Duration::from_secs(30);

/// Runs `f` on a new thread. When this thread is blocked, `blocked` returns a function that waits for the
/// result of `f`.
fn blocked<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> impl FnOnce() -> R {
    let (tell, told) = mpsc::channel();
    let (there, arrived) = mpsc::channel();
    thread::spawn(move || {
        there.send(std::fs::read_link("/proc/thread-self").ok()).unwrap();
        let _ = tell.send(f());
    });
    let Some(thread) = arrived.recv_timeout(LONG).unwrap() else {
        // This sleep is needed on systems that do not show whether a thread sleeps. If this sleep is too
        // short, the test proves less, but does not fail.
        thread::sleep(Duration::from_millis(50));
        return Box::new(move || told.recv_timeout(LONG).expect("the thread comes back"))
            as Box<dyn FnOnce() -> R>;
    };
    let stat = std::path::Path::new("/proc").join(thread).join("stat");
    let sleeps = |line: &str| line.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'));
    while std::fs::read_to_string(&stat).is_ok_and(|line| !sleeps(&line)) {
        thread::yield_now();
    }
    Box::new(move || told.recv_timeout(LONG).expect("the thread comes back"))
}

fn assert_cancelled<T: std::fmt::Debug>(result: io::Result<T>, message: &str) {
    let cancelled = Cancelled::from_io(result.unwrap_err()).unwrap();
    assert_eq!(cancelled.reason().unwrap().message(), Some(message));
}

fn file_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

// ----- listeners -----

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn a_thread_that_is_blocked_in_accept_comes_back_and_so_does_every_other() {
    let token = CancelToken::new();
    let listener = Arc::new(CancellableListener::new(listen().0, &token).unwrap());
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let listener = Arc::clone(&listener);
            blocked(move || listener.accept())
        })
        .collect();
    token.cancel_because("closing");
    for waiter in waiters {
        assert_cancelled(waiter(), "closing");
    }
    assert_cancelled(listener.accept(), "closing");
}

#[test]
fn connections_are_accepted_and_are_blocking_ones() {
    let (listener, address) = listen();
    let listener = CancellableListener::new(listener, &CancelToken::new()).unwrap();
    let accepts = blocked(move || {
        let (mut stream, peer) = listener.accept().unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap(); // would fail at once if it did not block
        (text, peer)
    });
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"hello").unwrap();
    let from = client.local_addr().unwrap();
    drop(client);
    assert_eq!(accepts(), ("hello".to_owned(), from));
}

/// The library must not wake `accept` with a connection of its own, because this connection could take the
/// place of a client's connection.
#[test]
fn a_cancel_takes_no_connection_from_anybody() {
    let (listener, address) = listen();
    let (mine, others) = (CancelToken::new(), CancelToken::new());
    let clone = listener.try_clone().unwrap();
    let cancelled = CancellableListener::new(listener, &mine).unwrap();
    let goes_on = CancellableListener::new(clone, &others).unwrap();
    let leaves = blocked(move || cancelled.accept().map(drop));
    let stays = blocked(move || goes_on.accept().map(|(_, peer)| peer));
    mine.cancel_because("only me");
    assert_cancelled(leaves(), "only me");
    let client = TcpStream::connect(address).unwrap();
    assert_eq!(stays().unwrap(), client.local_addr().unwrap());
}

#[test]
fn what_came_after_the_cancel_waits_for_the_next_who_accepts() {
    let (listener, address) = listen();
    let token = CancelToken::new();
    let listener = CancellableListener::new(listener, &token).unwrap();
    token.cancel_because("later");
    let client = TcpStream::connect(address).unwrap();
    assert_cancelled(listener.accept(), "later");
    let (_, peer) = listener.into_inner().unwrap().accept().unwrap(); // the listener blocks again
    assert_eq!(peer, client.local_addr().unwrap());
}

#[test]
fn nothing_is_left_behind() {
    let token = CancelToken::new();
    let before = file_descriptors();
    for _ in 0..100 {
        let listener = CancellableListener::new(listen().0, &token).unwrap();
        drop(listener);
        let child = CancellableChild::new(ends_at_once(), &token);
        assert!(child.wait().unwrap().success());
    }
    assert!(file_descriptors() < before + 50, "other tests run beside this one, but open fewer");
    token.cancel();
}

#[test]
fn a_task_that_accepts_is_stopped_with_its_pool() {
    let pool = ThreadPoolExecutor::fixed(1);
    let (tell, told) = mpsc::channel();
    pool.execute(move || {
        let listener = CancellableListener::new(listen().0, &CancelToken::current()).unwrap();
        tell.send(None).unwrap();
        tell.send(Some(listener.accept().map(drop))).unwrap();
    })
    .unwrap();
    assert!(told.recv_timeout(LONG).unwrap().is_none());
    assert!(pool.shutdown_now().is_empty());
    let cancelled = Cancelled::from_io(told.recv_timeout(LONG).unwrap().unwrap().unwrap_err()).unwrap();
    assert_eq!(cancelled.reason().unwrap().kind(), CancelKind::Shutdown);
}

// ----- connections under way -----

/// Returns a socket that has an address but does not listen, so that it refuses all connections.
fn bound() -> (TcpListener, SocketAddr) {
    use rustix::net::{AddressFamily, SocketType, bind, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let socket = TcpListener::from(socket);
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn connect(address: SocketAddr, token: &CancelToken) -> io::Result<CancellableStream> {
    CancellableStream::connect(address, LONG, token)
}

#[test]
fn a_connection_is_made_and_blocks() {
    let token = CancelToken::new();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else { continue }; // some machines have no IPv6
        let mut stream = connect(listener.local_addr().unwrap(), &token).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        let reads = blocked(move || {
            let mut text = [0; 5];
            stream.read_exact(&mut text).map(|()| (text, stream)) // would fail at once if it did not block
        });
        accepted.write_all(b"hello").unwrap();
        let (text, stream) = reads().unwrap();
        assert_eq!(&text, b"hello");

        // After `into_inner`, the cancellation of the token no longer affects the stream.
        let mut stream = stream.into_inner();
        let later = CancelToken::new();
        drop(CancellableStream::new(stream.try_clone().unwrap(), &later).into_inner());
        later.cancel();
        stream.write_all(b"you").unwrap();
        accepted.read_exact(&mut [0; 3]).unwrap();
    }
}

#[test]
fn a_connection_that_is_refused_says_so() {
    let (_socket, address) = bound();
    assert_eq!(connect(address, &CancelToken::new()).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
}

#[test]
#[cfg(target_os = "linux")]
fn a_connection_that_nobody_answers_takes_its_time_and_a_cancel_ends_it() {
    let (listener, address) = bound();
    rustix::net::listen(&listener, 0).unwrap();
    // The queue of the listener is full, so Linux accepts no further connection.
    let _queued = TcpStream::connect(address).unwrap();
    let token = CancelToken::new();
    let before = file_descriptors();
    for _ in 0..100 {
        let error = CancellableStream::connect(address, Duration::from_millis(1), &token).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
    assert!(file_descriptors() < before + 50, "other tests run beside this one, but open fewer");
    let connects = blocked({
        let token = token.clone();
        move || CancellableStream::connect(address, Duration::MAX, &token)
    });
    token.cancel_because("enough");
    assert_cancelled(connects(), "enough");
    assert_cancelled(connect(address, &token), "enough");
}

// ----- child processes -----

fn sleeper() -> Child {
    Command::new("sleep").arg("3600").spawn().unwrap()
}

fn ends_at_once() -> Child {
    Command::new("true").spawn().unwrap()
}

/// Returns true if the system still has the process, perhaps as a zombie.
fn is_known(id: u32) -> bool {
    std::path::Path::new("/proc").join(id.to_string()).exists()
}

/// A lock for tests that look at process ids, because one test makes the system use an id again.
static NUMBERS: Mutex<()> = Mutex::new(());

#[test]
fn threads_that_wait_for_a_child_come_back_and_the_child_is_dead_and_collected() {
    let _numbers = NUMBERS.lock();
    let token = CancelToken::new();
    let child = Arc::new(CancellableChild::new(sleeper(), &token));
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let child = Arc::clone(&child);
            blocked(move || child.wait())
        })
        .collect();
    assert_eq!(child.try_wait().unwrap(), None);
    token.cancel_because("enough");
    for waiter in waiters {
        assert_cancelled(waiter(), "enough");
    }
    assert_cancelled(child.wait(), "enough");
    assert!(!is_known(child.id()));
}

#[test]
fn a_child_that_ends_by_itself_gives_its_status_also_after_a_cancel() {
    let token = CancelToken::new();
    let child = CancellableChild::new(Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap(), &token);
    assert_eq!(child.wait().unwrap().code(), Some(7));
    token.cancel();
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(7));
}

#[test]
fn a_token_that_is_cancelled_already_kills_at_once() {
    let token = CancelToken::new();
    token.cancel_because("too late");
    let child = CancellableChild::new(sleeper(), &token);
    assert_cancelled(child.wait(), "too late");
}

/// Like `Child::wait`, this wait closes the input of the child. Some children read their input to the end. If
/// the input stays open, such a child waits for its parent, and the parent waits for the child.
#[test]
fn waiting_closes_the_childs_input() {
    let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let child = CancellableChild::new(child, &CancelToken::new());
    let waits = blocked(move || child.wait());
    assert!(waits().unwrap().success());
}

/// After a child was collected, the system can give the child's process id to a new process. The test must
/// choose the id of the next process. On a system where the test cannot choose this id, the test checks less.
#[cfg(target_os = "linux")]
#[test]
fn a_child_that_was_collected_is_not_waited_for_again() {
    const LAST_NUMBER: &str = "/proc/sys/kernel/ns_last_pid";
    let _numbers = NUMBERS.lock();
    let child = CancellableChild::new(ends_at_once(), &CancelToken::new());
    assert!(child.wait().unwrap().success());
    let last = std::fs::read_to_string(LAST_NUMBER);
    let namesake = (0..100).find_map(|_| {
        std::fs::write(LAST_NUMBER, (child.id() - 1).to_string()).ok()?;
        let mut other = sleeper();
        if other.id() == child.id() {
            return Some(other);
        }
        other.kill().unwrap();
        other.wait().unwrap();
        None
    });
    let _ = last.and_then(|last| std::fs::write(LAST_NUMBER, last));
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(child.wait().unwrap().success()).unwrap());
    let waited = told.recv_timeout(LONG);
    if let Some(mut namesake) = namesake {
        namesake.kill().unwrap();
        namesake.wait().unwrap();
    }
    assert_eq!(waited, Ok(true));
}

/// If `SIGCHLD` is ignored, the system collects children by itself, so `wait` gets no status.
#[cfg(target_os = "linux")]
#[test]
fn a_child_is_cancelled_in_a_process_that_ignores_sigchld_too() {
    let ignoring = |program: &std::ffi::OsStr| {
        let mut command = Command::new("env");
        command.arg("--ignore-signal=CHLD").arg(program);
        command
    };
    if !ignoring("true".as_ref()).stderr(Stdio::null()).status().unwrap().success() {
        return; // the system has another kind of `env`
    }
    let mut process = ignoring(std::env::current_exe().unwrap().as_os_str());
    process.args(["--exact", "--ignored", "cancels_a_child"]).stdout(Stdio::null());
    assert!(process.status().unwrap().success());
}

#[test]
#[ignore = "a process that another test starts"]
fn cancels_a_child() {
    let token = CancelToken::new();
    let child = CancellableChild::new(sleeper(), &token);
    token.cancel_because("enough");
    assert_cancelled(child.wait(), "enough");
}
