//! The properties of the queue; each property is a function. `exercise.toml` lists the properties and says
//! what each property promises.

use exercises_harness::{fail, step};

use super::exercise::{Lease, Page, Queue, Time};
use crate::probe::Shared;
use crate::sync::{Arc, thread};

const HIDDEN: &str =
    "a page waits until it is taken, and again from the moment at which its lease runs out or is given back";
const TAKEN: &str = "a leased page does not wait: it must not be handed out again before its lease is over";
const OUT: &str =
    "from `until` on the lease is over, for every method, even if no worker has called take() since";
const LATE: &str = "a late worker passes the token of an old lease. Compare the token, not the page";
const FINISHED: &str = "a page that is finished is in no list any more, and its lease can no longer run out";
const TRIES: &str =
    "count for each page how many of its leases have run out. A lease that was given back did not run out";
const EARLY: &str = "the queue is over when each page is finished or dead. A page that is leased is neither";
const ONCE: &str = "look for the lease and end it in one step, under one lock";

fn take(queue: &Queue, now: Time, why: &str) -> Lease {
    queue.take(now).unwrap_or_else(|| fail(&format!("take({now}) returned None, and {why}"), HIDDEN))
}

fn none(queue: &Queue, now: Time, why: &str, cause: &str) {
    if let Some(lease) = queue.take(now) {
        fail(&format!("take({now}) handed out page {}, and {why}", lease.page), cause);
    }
}

/// Asserts that a call returned the expected value. `call` is a text for the message: it names the call and
/// says when the call was made.
fn check(expected: bool, returned: bool, call: &str, cause: &str) {
    if returned != expected {
        fail(&format!("{call} returned {returned}"), cause);
    }
}

fn check_dead(queue: &Queue, now: Time, mut expected: Vec<Page>, when: &str) {
    let mut dead = queue.dead(now);
    dead.sort_unstable();
    expected.sort_unstable();
    if dead != expected {
        fail(&format!("dead({now}) returned {dead:?} in place of {expected:?}, {when}"), TRIES);
    }
}

pub fn one_worker_finishes_each_page_once() {
    let pages = [7, 0, Page::MAX];
    let queue = Queue::new(&pages, 10, 3);
    let mut taken = Vec::new();
    for _ in pages {
        let lease = take(&queue, 100, "a page waits");
        taken.push(lease.page);
        check(true, queue.finish(lease.token, 101), "finish() by the worker that has the lease", OUT);
    }
    taken.sort_unstable();
    if taken != [0, 7, Page::MAX] {
        fail(&format!("pages 0, 7 and {} wait, and these were handed out: {taken:?}", Page::MAX), TAKEN);
    }
    none(&queue, 101, "each page is finished", FINISHED);
    none(&Queue::new(&[], 10, 3), 0, "there is no page", HIDDEN);
}

pub fn a_leased_page_is_not_handed_out() {
    for now in [5, 0, Time::MAX / 2 - 5, Time::MAX - 20] {
        let queue = Queue::new(&[1], 10, 3);
        let lease = take(&queue, now, "page 1 waits");
        let end = now + 10;
        if lease.until != end {
            fail(
                &format!("a lease of ten was taken at {now}, and is until {}", lease.until),
                "`until` is now + lasts",
            );
        }
        for now in [now, end - 1] {
            none(&queue, now, &format!("page 1 is leased until {end}"), TAKEN);
        }
        let call = format!("finish() at {}, of a lease until {end},", end - 1);
        check(true, queue.finish(lease.token, end - 1), &call, OUT);
    }
}

pub fn each_lease_has_a_token_of_its_own() {
    let queue = Queue::new(&[1, 2], 10, 9);
    let mut tokens = Vec::new();
    for now in [0, 10, 20, 30] {
        let leases = [queue.take(now), queue.take(now)];
        tokens.extend(leases.iter().flatten().map(|lease| lease.token));
        if let (20, [Some(lease), _]) = (now, leases) {
            queue.give_back(lease.token, now);
            tokens.extend(queue.take(now).map(|lease| lease.token));
        }
    }
    let all = tokens.len();
    tokens.sort_unstable();
    tokens.dedup();
    if tokens.len() != all {
        fail(&format!("{all} leases have {} tokens", tokens.len()), LATE);
    }
}

pub fn what_runs_out_waits_again() {
    let queue = Queue::new(&[1, 2], 10, 3);
    take(&queue, 0, "page 1 waits");
    take(&queue, 3, "page 2 waits");
    let again = take(&queue, 10, "the lease of a page was until 10");
    none(&queue, 12, "the other lease is until 13", TAKEN);
    let other = take(&queue, 13, "the lease of the other page was until 13");
    if again.page == other.page {
        fail(&format!("page {} was handed out twice, and the other page is forgotten", again.page), TAKEN);
    }
    check(true, queue.finish(again.token, 14), "finish() under the second lease of a page", OUT);
    check(true, queue.finish(other.token, 14), "finish() under the second lease of the other page", OUT);
}

pub fn a_lease_is_over_at_its_end() {
    for late in [15, 1000] {
        let queue = Queue::new(&[1], 10, 3);
        let lease = take(&queue, 5, "page 1 waits");
        check(
            false,
            queue.finish(lease.token, late),
            &format!("finish() at {late}, of a lease until 15,"),
            OUT,
        );
        take(&queue, late, "the lease of page 1 was until 15");
        let queue = Queue::new(&[1], 10, 3);
        let lease = take(&queue, 5, "page 1 waits");
        check(
            false,
            queue.give_back(lease.token, late),
            &format!("give_back() at {late}, of a lease until 15,"),
            OUT,
        );
        take(&queue, late, "the lease of page 1 was until 15");
        none(&queue, late, "its only page is leased", TAKEN);
    }
}

pub fn a_late_worker_changes_nothing() {
    let queue = Queue::new(&[1], 10, 9);
    let late = take(&queue, 0, "page 1 waits");
    let second = take(&queue, 10, "the lease of page 1 was until 10");
    check(
        false,
        queue.finish(late.token, 11),
        "finish() by a late worker, when another one has the page,",
        LATE,
    );
    check(
        false,
        queue.give_back(late.token, 12),
        "give_back() by a late worker, when another one has the page,",
        LATE,
    );
    none(&queue, 12, "page 1 is leased until 20; only a late worker has given it back", LATE);
    check(true, queue.finish(second.token, 13), "finish() by the worker that has the lease", LATE);
    check(false, queue.finish(late.token, 14), "finish() by a late worker, when the page is finished,", LATE);
    check(
        false,
        queue.give_back(late.token, 14),
        "give_back() by a late worker, when the page is finished,",
        LATE,
    );
    none(&queue, 14, "page 1 is finished", LATE);
    let unknown = late.token.wrapping_add(1 << 40);
    check(false, queue.finish(unknown, 14), "finish() with a token that was never given", LATE);
}

pub fn a_finished_page_is_over() {
    let queue = Queue::new(&[1], 10, 1);
    let lease = take(&queue, 0, "page 1 waits");
    check(true, queue.finish(lease.token, 9), "finish() of a lease that is not over", OUT);
    check(false, queue.finish(lease.token, 9), "a second finish() under the same lease", FINISHED);
    check(false, queue.give_back(lease.token, 9), "give_back() of a page that is finished", FINISHED);
    none(&queue, 10, "page 1 was finished before its lease ran out", FINISHED);
    check_dead(&queue, 10, vec![], "and page 1 was finished before its lease ran out");
    check(true, queue.is_over(10), "is_over(), when the only page is finished,", FINISHED);
}

pub fn what_is_given_back_waits_again() {
    let queue = Queue::new(&[1], 10, 3);
    let lease = take(&queue, 0, "page 1 waits");
    check(true, queue.give_back(lease.token, 1), "give_back() of a lease that is not over", OUT);
    check(false, queue.is_over(1), "is_over(), when a page was given back,", EARLY);
    check(false, queue.give_back(lease.token, 1), "a second give_back() of the same lease", ONCE);
    check(false, queue.finish(lease.token, 1), "finish() of a lease that was given back", LATE);
    let second = take(&queue, 2, "page 1 was given back");
    none(&queue, 2, "page 1 was given back once, and has been taken", ONCE);
    check(
        false,
        queue.finish(lease.token, 3),
        "finish() of a lease that was given back, when there is a second one,",
        LATE,
    );
    none(&queue, 11, "page 1 is leased until 12", TAKEN);
    check(true, queue.finish(second.token, 11), "finish() at 11, of a lease until 12,", OUT);
    none(&queue, 50, "page 1 is finished", FINISHED);
}

pub fn a_page_dies_after_its_tries() {
    for tries in [1, 2, 5] {
        let queue = Queue::new(&[8, 9], 10, tries);
        for lost in 0..tries {
            let now = Time::from(lost) * 10;
            check_dead(&queue, now, vec![], &format!("after {lost} of {tries} tries"));
            for _ in 0..2 {
                let why = format!("two pages have {tries} tries, and {lost} leases of each have run out");
                take(&queue, now, &why);
            }
        }
        let end = Time::from(tries) * 10;
        check_dead(&queue, end - 1, vec![], "while both pages are under their last lease");
        check_dead(
            &queue,
            end,
            vec![8, 9],
            &format!("when {tries} leases of both pages have run out, of {tries} tries"),
        );
        none(&queue, end, &format!("{tries} leases of each page have run out, of {tries} tries"), TRIES);
        check_dead(&queue, end + 100, vec![8, 9], "long after both pages had died");
    }
}

pub fn giving_back_costs_no_try() {
    let queue = Queue::new(&[1], 10, 2);
    for now in 0..5 {
        let lease = take(&queue, now, "page 1 was given back, and no lease of it has run out");
        queue.give_back(lease.token, now);
    }
    take(&queue, 10, "page 1 was given back, and no lease of it has run out");
    let second =
        take(&queue, 20, "one lease of page 1 has run out, of two tries; those before were given back");
    queue.give_back(second.token, 21);
    take(&queue, 21, "page 1 was given back");
    check_dead(
        &queue,
        31,
        vec![1],
        "when two leases of page 1 had run out, and one between them was given back",
    );
}

pub fn the_end_waits_for_leases() {
    check(true, Queue::new(&[], 10, 3).is_over(0), "is_over(), of a queue without pages,", EARLY);
    let queue = Queue::new(&[1, 2], 10, 2);
    check(false, queue.is_over(0), "is_over(), when two pages wait,", EARLY);
    let (first, _) = (take(&queue, 0, "two pages wait"), take(&queue, 0, "a page waits"));
    check(false, queue.is_over(9), "is_over(), when both pages are leased,", EARLY);
    queue.finish(first.token, 9);
    check(
        false,
        queue.is_over(9),
        "is_over(), when one page is finished and the other one is leased,",
        EARLY,
    );
    check(
        false,
        queue.is_over(10),
        "is_over(), when the first lease of a page had run out, of two tries,",
        EARLY,
    );
    take(&queue, 10, "the first lease of a page had run out");
    check(false, queue.is_over(19), "is_over(), when the last lease of a page was out,", EARLY);
    check(true, queue.is_over(20), "is_over(), when one page is finished and the other one is dead,", OUT);
}

pub fn time_does_not_go_back() {
    const BACK: &str = "workers look at their clocks before they have the lock. The queue's time must be the latest time of \
                        all calls";
    let queue = Queue::new(&[1, 2], 10, 3);
    let lease = take(&queue, 0, "page 1 waits");
    check(
        false,
        queue.is_over(100),
        "is_over(), when one page waits and the lease of another ran out,",
        EARLY,
    );
    check(
        false,
        queue.finish(lease.token, 5),
        "finish() at 5, of a lease that was over at 100, which the queue was told,",
        BACK,
    );
    let next = take(&queue, 40, "two pages wait");
    if next.until != 110 {
        fail(
            &format!(
                "the queue was told 100, then a lease of ten was taken at 40, and it is until {}",
                next.until
            ),
            BACK,
        );
    }
    check(true, queue.finish(next.token, 109), "finish() at 109, of a lease until 110,", BACK);
}

/// The name of a thread, and the call that the thread makes with the token of a lease.
type Call<R> = (&'static str, fn(&Queue, u64) -> R);

/// Runs each call on its own thread, and returns the results in the order of the calls.
fn at_once<R: Send + 'static, const N: usize>(queue: &Arc<Queue>, calls: [Call<R>; N], token: u64) -> [R; N] {
    let calls = calls.map(|(name, call)| {
        let (queue, returned) = (Arc::clone(queue), Arc::new(Shared::default()));
        let returns = Arc::clone(&returned);
        let thread = thread::spawn(move || {
            step(name);
            let value = call(&queue, token);
            returns.with(|returns: &mut Option<R>| *returns = Some(value));
        });
        (thread, returned)
    });
    calls.map(|(thread, returned)| {
        let _ = thread.join();
        match returned.with(Option::take) {
            Some(value) => value,
            None => fail("a call panicked", "no call of the queue panics, whatever the others do"),
        }
    })
}

pub fn two_workers_get_two_pages() {
    let queue = Arc::new(Queue::new(&[1, 2], 10, 3));
    let take: Call<Option<Lease>> = ("takes a page", |queue, _| queue.take(0));
    let mut leases = at_once(&queue, [take; 2], 0).map(|lease| lease.map(|lease| lease.page));
    leases.sort_unstable();
    if leases != [Some(1), Some(2)] {
        fail(
            &format!("pages 1 and 2 waited, and two workers got {leases:?}"),
            "look for a page and take it out in one step, under one lock",
        );
    }
}

pub fn a_lease_ends_once() {
    let queue = Arc::new(Queue::new(&[1], 10, 3));
    let lease = take(&queue, 0, "page 1 waits");
    let [finished, again, back] = at_once(
        &queue,
        [
            ("finishes page 1", |queue: &Queue, token| queue.finish(token, 9)),
            ("finishes page 1, too", |queue, token| queue.finish(token, 9)),
            ("gives page 1 back", |queue, token| queue.give_back(token, 9)),
        ],
        lease.token,
    );
    let ended = [finished, again, back].into_iter().filter(|has_ended| *has_ended).count();
    if ended != 1 {
        fail(
            &format!(
                "one lease was finished twice and given back, at once, and {ended} of these calls returned true"
            ),
            ONCE,
        );
    }
    check(!back, queue.is_over(9), "is_over(), when one of these calls had returned true,", ONCE);
}

pub fn finish_and_the_end_of_the_lease_agree() {
    let queue = Arc::new(Queue::new(&[1], 10, 3));
    let lease = take(&queue, 0, "page 1 waits");
    let [finished, taken] = at_once(
        &queue,
        [
            ("finishes page 1 at 9", |queue: &Queue, token| queue.finish(token, 9)),
            ("takes at 10", |queue, _| queue.take(10).is_some()),
        ],
        lease.token,
    );
    if finished == taken {
        let seen = format!(
            "at the end of a lease, finish() returned {finished} and a take() got {}",
            if taken { "the page" } else { "nothing" }
        );
        fail(&seen, ONCE);
    }
}

pub fn the_end_is_not_said_too_early() {
    let queue = Arc::new(Queue::new(&[1], 10, 3));
    let lease = take(&queue, 0, "page 1 waits");
    let [_, is_over] = at_once(
        &queue,
        [
            ("says dead(10)", |queue: &Queue, _| queue.dead(10).is_empty()),
            ("says is_over(10)", |queue, _| queue.is_over(10)),
        ],
        lease.token,
    );
    check(
        false,
        is_over,
        "is_over(10), while the page went from its lease to those that wait,",
        "a page goes from one list to another in one step, under one lock",
    );
}

pub fn many_workers_finish_each_page_once() {
    let queue = Arc::new(Queue::new(&[1, 2, 3, 4], 3, u32::MAX));
    let (clock, finished) = (Arc::new(Shared::<Time>::default()), Arc::new(Shared::<Vec<Page>>::default()));
    let workers = [false, false, true].map(|is_slow| {
        let (queue, clock, finished) = (Arc::clone(&queue), Arc::clone(&clock), Arc::clone(&finished));
        thread::spawn(move || {
            let tick = |ticks: Time| {
                clock.with(|clock| {
                    *clock += ticks;
                    *clock
                })
            };
            let mut looks = 0;
            while !queue.is_over(tick(1)) && looks < 50 {
                looks += 1;
                let Some(lease) = queue.take(tick(0)) else { continue };
                step(&format!("got page {}", lease.page));
                let is_late = is_slow && looks < 4;
                if queue.finish(lease.token, tick(if is_late { 3 } else { 0 })) {
                    finished.with(|finished| finished.push(lease.page));
                }
            }
        })
    });
    for worker in workers {
        let _ = worker.join();
    }
    // Some pages may not be finished yet, because a worker was late or has stopped taking pages.
    let now = clock.with(|clock| *clock) + 3;
    for lease in (0..100).map_while(|_| queue.take(now)) {
        if queue.finish(lease.token, now) {
            finished.with(|finished| finished.push(lease.page));
        }
    }
    check(true, queue.is_over(now), "is_over(), when each page is finished,", FINISHED);
    let mut finished = finished.with(|finished| finished.clone());
    finished.sort_unstable();
    if finished != [1, 2, 3, 4] {
        fail(
            &format!("there are pages 1, 2, 3 and 4, and finish() returned true for these: {finished:?}"),
            LATE,
        );
    }
}

pub fn many_pages_run_out_at_once() {
    const MANY: Page = 300;
    let queue = Queue::new(&(0..3 * MANY).collect::<Vec<_>>(), 10, 2);
    let takes_all = |now: Time, first: Page, why: &str| {
        let mut leases: Vec<Lease> =
            std::iter::from_fn(|| queue.take(now)).take(3 * MANY as usize + 1).collect();
        leases.sort_unstable_by_key(|lease| lease.page);
        if !leases.iter().map(|lease| lease.page).eq(first..3 * MANY) {
            let seen = format!("{why}, and {} pages were handed out, or others than those", leases.len());
            fail(
                &seen,
                "each page whose lease has run out, or was given back, waits again, however many they are",
            );
        }
        leases
    };
    let leases = takes_all(0, 0, "900 pages wait");
    for lease in &leases {
        let call = format!("finish() or give_back() of a lease that is not over, one of {},", leases.len());
        match lease.page / MANY {
            0 => check(true, queue.finish(lease.token, 5), &call, LATE),
            1 => check(true, queue.give_back(lease.token, 6), &call, LATE),
            _ => {}
        }
    }
    takes_all(10, MANY, "of 900 pages 300 were given back, and the leases of 300 have run out");
    let mut dead = queue.dead(20);
    dead.sort_unstable();
    if !dead.iter().copied().eq(2 * MANY..3 * MANY) {
        let seen = format!(
            "two leases of each of {MANY} pages had run out, of two tries; dead(20) returned {} pages",
            dead.len()
        );
        fail(&format!("{seen}, or others than those"), TRIES);
    }
    check(false, queue.is_over(20), "is_over(), when 300 pages have a try left,", EARLY);
    for lease in std::iter::from_fn(|| queue.take(20)).take(MANY as usize + 1) {
        check(true, queue.finish(lease.token, 21), "finish() under the last lease of a page", OUT);
    }
    check(true, queue.is_over(21), "is_over(), when each page is finished or dead,", FINISHED);
}
