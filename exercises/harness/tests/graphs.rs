//! Checks that the graph of a small program has all of the program's states, and that no run reaches any
//! other state.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use exercises_harness::model::graph::{Scenario, Scene, record, text, walk};
use exercises_harness::model::sync::{Arc, Condvar, Mutex};
use exercises_harness::step;
use exercises_protocol::graph::{FORMAT, Graph, Kind, Move};

fn graph(scenario: fn() -> Scenario) -> Graph {
    let scene = Scene { name: "scene", source: "", scenario };
    let (threads, states) = record(&scene);
    let (title, goal) = (String::new(), String::new());
    let graph =
        Graph { format: FORMAT, title, goal, breaks: Kind::Deadlock, listing: Vec::new(), threads, states };
    walk(&scene, &graph, 1_000).unwrap();
    graph
}

fn ends(graph: &Graph) -> BTreeSet<String> {
    graph.states.iter().filter_map(|state| state.end.as_ref()).map(|end| format!("{:?}", end.kind)).collect()
}

/// Each of two threads locks once.
fn once_each(locks: [Arc<Mutex<()>>; 2]) -> Scenario {
    let [one, other] = locks;
    Scenario::new().thread("one", "lock()", move || drop(one.lock().unwrap())).thread(
        "other",
        "lock()",
        move || drop(other.lock().unwrap()),
    )
}

#[test]
fn an_order_that_nobody_could_notice_makes_no_state() {
    let apart = graph(|| once_each([Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))]));
    assert_eq!(apart.states.len(), 4, "both, one, the other, none: {apart:#?}");
    let same = graph(|| {
        let lock = Arc::new(Mutex::new(()));
        once_each([Arc::clone(&lock), lock])
    });
    assert_eq!(same.states.len(), 5, "here it shows who came first: {same:#?}");
    assert_eq!(ends(&same), BTreeSet::from(["Ended".to_owned()]));
    assert_eq!(same.distances(Kind::Ended), [Some(2), Some(1), Some(1), Some(0), Some(0)]);
}

#[test]
fn two_locks_in_two_orders_are_a_deadlock_for_two_of_all_schedules() {
    let crossed = graph(|| {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let both = |first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>| {
            let (first, second) = (Arc::clone(first), Arc::clone(second));
            move || {
                let _first = first.lock().unwrap();
                drop(second.lock().unwrap());
            }
        };
        Scenario::new().thread("one", "a, b", both(&a, &b)).thread("other", "b, a", both(&b, &a))
    });
    let stuck: Vec<_> =
        crossed.states.iter().filter_map(|state| state.end.as_ref().zip(Some(&state.holders))).collect();
    let stuck: Vec<_> = stuck.iter().filter(|(end, _)| end.kind == Kind::Deadlock).collect();
    let [(end, holders)] = &stuck[..] else { panic!("{stuck:#?}") };
    assert_eq!(**holders, [Some(0), Some(1)]);
    assert!(end.text.contains("for the lock that other has held since"), "{}", end.text);
    assert_eq!(crossed.distances(Kind::Deadlock)[0], Some(2));
    assert_eq!(ends(&crossed).len(), 2);
}

/// Three threads take one lock, and two of them may wait for it at the same time: either of these two can be
/// the next to get the lock.
#[test]
fn of_several_who_wait_each_can_be_next() {
    let queue = graph(|| {
        let pair = Arc::new((Mutex::new(()), Mutex::new(())));
        let nested = |name: &'static str| {
            let pair = Arc::clone(&pair);
            move || {
                let _outer = pair.0.lock().unwrap();
                drop(pair.1.lock().unwrap());
                step(name);
            }
        };
        let scenario = Scenario::new().thread("a", "nested", nested("a")).thread("b", "nested", nested("b"));
        scenario.thread("c", "nested", nested("c"))
    });
    let last = queue.states.iter().filter(|state| state.end.is_some()).count();
    assert_eq!(last, 6, "an end for each order of the three: {queue:#?}");
}

#[test]
fn a_promise_that_is_broken_and_a_panic_are_ends() {
    let race = graph(|| {
        let done = Arc::new((Mutex::new(0), Condvar::new()));
        let other = Arc::clone(&done);
        let add = move |to: &(Mutex<i32>, Condvar)| {
            let before = *to.0.lock().unwrap();
            *to.0.lock().unwrap() = before + 1;
            if before == 1 {
                step("sees one");
            }
        };
        Scenario::new()
            .thread("one", "add", move || add(&done))
            .thread("other", "add", move || add(&other))
            .promise("sees one", "neither sees the other")
    });
    assert_eq!(ends(&race), BTreeSet::from(["BrokenPromise".to_owned(), "Ended".to_owned()]));
    let panics = graph(|| {
        let lock = Arc::new(Mutex::new(false));
        let other = Arc::clone(&lock);
        Scenario::new().thread("one", "sets", move || *lock.lock().unwrap() = true).thread(
            "other",
            "asserts",
            move || assert!(!*other.lock().unwrap(), "it is set"),
        )
    });
    let end = panics.states.iter().find_map(|state| state.end.as_ref().filter(|end| end.kind == Kind::Panic));
    assert_eq!(end.unwrap().text, "other panics: it is set");
    assert!(text(&panics).lines().count() > panics.states.len());
}

#[test]
fn a_notification_can_wake_each_of_two_sleepers() {
    let door = graph(|| {
        let door = Arc::new((Mutex::new(()), Condvar::new()));
        let waits = || {
            let door = Arc::clone(&door);
            move || drop(door.1.wait(door.0.lock().unwrap()))
        };
        let scenario = Scenario::new().thread("a", "waits", waits()).thread("b", "waits", waits());
        scenario.thread("c", "notify_one()", move || door.1.notify_one())
    });
    let wakes = |who: &str| {
        let is_it = |step: &&Move| step.thread == 2 && step.text.ends_with(&format!(", wakes {who}"));
        door.states.iter().filter(|state| state.moves.iter().any(|step| is_it(&step))).count()
    };
    let both =
        door.states.iter().filter(|state| state.moves.len() == 2 && state.moves[0].thread == 2).count();
    // States with two sleepers differ in the order of the sleepers; states with one sleeper differ in the
    // lock of the other thread.
    assert_eq!((wakes("a"), wakes("b"), both), (4, 4, 2), "{door:#?}");
    assert!(wakes("no thread") > 0);
}
