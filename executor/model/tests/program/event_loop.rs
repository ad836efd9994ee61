//! An event loop, the pool that gets the requests of the loop, and the end of both. The model uses the
//! mailbox of `servers/src/reactor`, with a loop that only submits requests and collects answers.

use std::collections::HashMap;

use executor::{ExecutorService, StripedExecutor, ThreadPoolExecutor};

use crate::door;
use door::sync::{Arc, Condvar, Mutex};
use door::thread;

#[path = "../../../../servers/src/reactor/handoff/mailbox.rs"]
#[allow(dead_code)] // a real loop also looks at other things than its mail
mod mailbox;

use mailbox::{Errand, Load, Mailbox, Notify};

/// Runs `body` under schedules that switch threads at any step, and under schedules that let one thread run
/// for a long time.
fn check(body: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(body.clone(), 1_000);
    shuttle::check_pct(body, 1_000, 3);
}

/// A stand-in for the system's waker: it ends the current wait of the loop, or, if the loop does not wait
/// now, the loop's next wait.
#[derive(Clone, Default)]
struct Waker(Arc<(Mutex<bool>, Condvar)>);

impl Waker {
    fn wait(&self) {
        let (is_notified, changed) = &*self.0;
        let mut is_notified =
            changed.wait_while(is_notified.lock().unwrap(), |is_notified| !*is_notified).unwrap();
        *is_notified = false;
    }
}

impl Notify for Waker {
    fn notify(&self) {
        let (is_notified, changed) = &*self.0;
        *is_notified.lock().unwrap() = true;
        changed.notify_one();
    }
}

/// The request of a connection, the number of this request on the connection, and the status of the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Request {
    connection: u64,
    number: u32,
    status: u16,
}

impl Request {
    /// Answers a request, as a handler does. The first request of a connection takes longest.
    fn answer(&mut self) {
        (self.number..2).for_each(|_| thread::yield_now());
        self.status = 200;
    }
}

impl Load for Request {
    fn is_undone(&mut self) {
        self.status = 503;
    }
}

/// Submits requests of two connections, `each` requests for one connection, and then collects answers until
/// all requests are answered.
fn collect(each: u32, waker: &Waker, hand_over: impl Fn(Errand<Request, Waker>)) -> Vec<Request> {
    let answers = Arc::new(Mailbox::new(waker.clone()));
    let (mut collected, mut taken) = (Vec::new(), Vec::new());
    for number in 0..each {
        for connection in 0..2 {
            hand_over(Errand::new(Request { connection, number, status: 0 }, &answers));
        }
    }
    while collected.len() < 2 * each as usize {
        waker.wait();
        answers.take_all(&mut taken);
        collected.append(&mut taken);
    }
    answers.take_all(&mut taken);
    assert!(taken.is_empty(), "more answers than requests: {taken:?}");
    collected
}

fn assert_in_order(answers: &[Request]) {
    let mut next = HashMap::<u64, u32>::new();
    for answer in answers {
        let next = next.entry(answer.connection).or_default();
        assert_eq!(answer.number, *next, "{answers:?}");
        *next += 1;
    }
}

#[test]
fn the_loop_is_woken_for_every_answer_and_those_of_a_connection_come_in_order() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let stripes = StripedExecutor::over(Arc::clone(&pool));
        let answers = collect(2, &Waker::default(), |errand| {
            let connection = errand.load().connection;
            stripes.execute_in(connection, move || errand.done(Request::answer)).unwrap();
        });
        assert_in_order(&answers);
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        pool.close();
    });
}

#[test]
fn stopped_at_any_moment_the_pool_leaves_no_request_without_an_answer() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let stripes = StripedExecutor::over(Arc::clone(&pool));
        let stopping = Arc::clone(&pool);
        let stop = thread::spawn(move || drop(stopping.shutdown_now()));
        let answers = collect(2, &Waker::default(), |errand| {
            let connection = errand.load().connection;
            let answer = move || errand.done(Request::answer);
            // A refused request is dropped, as in the server.
            let _ = stripes.execute_in(connection, answer);
        });
        assert!(answers.iter().all(|answer| [200, 503].contains(&answer.status)), "{answers:?}");
        stop.join().unwrap();
    });
}

/// Shows that without stripes the order is lost.
#[test]
#[should_panic(expected = "left")]
fn without_stripes_answers_overtake_each_other() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let answers = collect(2, &Waker::default(), |errand| {
            let answer = move || errand.done(Request::answer);
            executor::ExecutorExt::execute(&*pool, answer).unwrap();
        });
        assert_in_order(&answers);
        pool.close();
    });
}
