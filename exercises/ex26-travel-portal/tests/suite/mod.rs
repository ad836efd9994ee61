//! The properties of `ranked_quotes`; each property is a function. `exercise.toml` lists the properties and
//! says what each one promises.

use std::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, JoinTimeoutError, TaskHandle, ThreadPoolExecutor};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::{Answer, Cents, Clock, Company, Entry, Interrupted, Millis, ranked_quotes};
use crate::probe::{Counter, Shared};
use crate::sync::Arc;

mod simulation;

use simulation::{NEVER, START, Simulation};

/// The companies whose requests have run to the end.
type Asked = Arc<Shared<Vec<&'static str>>>;

const NAMES: [&str; 6] = ["Air", "Bus", "Car", "Dog sledge", "Elevator", "Ferry"];

/// Returns one company for each answer, in the order of the answers.
fn companies(asked: &Asked, answers: &[Result<Cents, &'static str>]) -> Vec<Company> {
    let answers = answers.iter().copied().zip(NAMES);
    answers
        .map(|(answer, name)| {
            let asked = Arc::clone(asked);
            let ask = Box::new(move || {
                asked.with(|asked| asked.push(name));
                answer.map_err(str::to_owned)
            });
            Company { name, ask }
        })
        .collect()
}

/// Returns the entries for a deadline that is `deadline` milliseconds after the call.
fn quotes(simulation: &Simulation, companies: Vec<Company>, deadline: Millis) -> Vec<Entry> {
    match ask(simulation, companies, START + deadline) {
        Ok(entries) => entries,
        Err(Interrupted) => {
            fail("ranked_quotes() says that it was interrupted", "no thread has told it to give up")
        }
    }
}

fn ask(
    simulation: &Simulation,
    companies: Vec<Company>,
    deadline: Millis,
) -> Result<Vec<Entry>, Interrupted> {
    let cause = "if it panicked: times are unsigned numbers, so after the deadline the remaining time is 0 \
                 (saturating_sub). If it goes on for ever: wait with clock.join() and not with a loop that only asks";
    expect("ranked_quotes()", cause, || ranked_quotes(simulation, simulation, companies, deadline))
}

/// Returns a short text for an entry.
fn short(entry: &Entry) -> String {
    let answer = match &entry.answer {
        Answer::Price(price) => price.to_string(),
        Answer::Failed(_) => "failed".to_owned(),
        Answer::TimedOut => "late".to_owned(),
    };
    format!("{} {answer}", entry.company)
}

fn check(entries: &[Entry], expected: &[&str], what: &str, cause: &str) {
    let found: Vec<_> = entries.iter().map(short).collect();
    if found != expected {
        fail(&format!("{what}: {}; and not {}", found.join(", "), expected.join(", ")), cause);
    }
}

fn check_count(entries: &[Entry], companies: usize, cause: &str) {
    if entries.len() != companies {
        let found = match entries.len() {
            1 => "is 1 entry".to_owned(),
            found => format!("are {found} entries"),
        };
        fail(&format!("there {found} for {companies} companies"), cause);
    }
}

fn check_time(simulation: &Simulation, expected: Millis, what: &str, cause: &str) {
    let passed = simulation.passed();
    if passed != expected {
        fail(&format!("{what}: it took {passed} ms, and not {expected}"), cause);
    }
}

/// Checks that only the expected requests run to the end, even if the executor runs its remaining jobs after
/// the call.
fn check_asked(simulation: &Simulation, asked: &Asked, expected: &[&str], what: &str, cause: &str) {
    simulation.go_on();
    let asked = asked.with(|asked| asked.clone());
    if asked != expected {
        fail(&format!("{what}, and these were asked to their ends: {}", asked.join(", ")), cause);
    }
}

pub fn no_companies_are_no_entries() {
    let entries = quotes(&Simulation::of(&[]), Vec::new(), 10);
    check_count(&entries, 0, "a list may be empty");
}

pub fn one_entry_for_each_company() {
    let entries =
        quotes(&Simulation::of(&[1, 2, 3]), companies(&Asked::default(), &[Ok(10), Ok(20), Ok(30)]), 100);
    check_count(
        &entries,
        3,
        "an answer belongs to one company: go through companies and answers together, in one loop",
    );
    for expected in ["Air 10", "Bus 20", "Car 30"] {
        if !entries.iter().any(|entry| short(entry) == expected) {
            let found: Vec<_> = entries.iter().map(short).collect();
            let what = format!("{expected} is missing among {}", found.join(", "));
            fail(&what, "each company has its own answer");
        }
    }
}

pub fn the_cheapest_comes_first() {
    let answers = [Ok(30), Ok(10), Ok(20), Ok(100)];
    let entries = quotes(&Simulation::of(&[1, 2, 3, 4]), companies(&Asked::default(), &answers), 100);
    let found: Vec<_> = entries.iter().map(short).collect();
    let prices: Vec<_> = entries
        .iter()
        .filter_map(|entry| match entry.answer {
            Answer::Price(price) => Some(price.to_string()),
            _ => None,
        })
        .collect();
    if prices != ["10", "20", "30", "100"] {
        fail(
            &format!("the order of the prices is: {} ({})", prices.join(", "), found.join(", ")),
            "the lowest price comes first, and prices are numbers: as text, 100 comes before 20",
        );
    }
}

pub fn equal_prices_stay_in_order() {
    let answers = [Ok(70), Ok(50), Ok(70), Ok(50), Ok(70)];
    let mut companies = companies(&Asked::default(), &answers);
    companies[0].name = "Zeppelin";
    let entries = quotes(&Simulation::of(&[5, 4, 3, 2, 1]), companies, 100);
    check(
        &entries,
        &["Bus 50", "Dog sledge 50", "Zeppelin 70", "Car 70", "Elevator 70"],
        "two prices of 50 and three of 70",
        "entries with equal prices stay in the order of the companies: use a stable sort, and compare nothing but the price",
    );
}

pub fn a_failure_is_an_entry_of_its_company() {
    let mut companies = companies(&Asked::default(), &[Err("sold out"), Ok(20), Ok(30), Err("")]);
    companies[2].ask = Box::new(|| panic_on_purpose());
    let entries = quotes(&Simulation::of(&[1, 2, 3, 4]), companies, 100);
    check_count(
        &entries,
        4,
        "a failure is an answer, too: no reader can tell a company that is missing from one that was never asked",
    );
    for entry in &entries {
        let is_right = match entry.company {
            "Air" => entry.answer == Answer::Failed("sold out".to_owned()),
            "Bus" => entry.answer == Answer::Price(20),
            "Dog sledge" => entry.answer == Answer::Failed(String::new()),
            _ => matches!(entry.answer, Answer::Failed(_)),
        };
        if !is_right {
            let cause = if entry.answer == Answer::TimedOut {
                "it has failed, and it was not late: Err is a failure whatever it says"
            } else {
                "that is another company's answer: keep name and answer together from the beginning"
            };
            fail(
                &format!(
                    "Air has failed, Bus costs 20, Car panicked, Dog sledge has failed without words, and an entry says: {entry:?}"
                ),
                cause,
            );
        }
    }
}

pub fn failures_come_after_prices_and_late_ones_last() {
    let answers = [Ok(1), Err("z"), Ok(Cents::MAX), Err("a"), Ok(0), Ok(2)];
    let takes = [NEVER, 1, 1, 1, 1, NEVER];
    let entries = quotes(&Simulation::of(&takes), companies(&Asked::default(), &answers), 10);
    if entries.len() < 6 {
        fail(
            &format!("there are {} entries for 6 companies", entries.len()),
            "the entry of a company is missing",
        );
    }
    check(
        &entries,
        &["Elevator 0", "Car 4294967295", "Bus failed", "Dog sledge failed", "Air late", "Ferry late"],
        "two prices, two failures, and two that are late",
        "prices come first, then failures, then late companies; failures and late companies stay in the order of the companies. A failure \
         has no price, and 0 is a price, and so is the largest number",
    );
}

pub fn companies_are_asked_side_by_side() {
    let simulation = Simulation::of(&[10, 10, 10]);
    quotes(&simulation, companies(&Asked::default(), &[Ok(1), Ok(2), Ok(3)]), 100);
    let cause = "a caller that waits for one company before it asks the next asks them one after the other";
    check_time(&simulation, 10, "three companies that take 10 ms, on enough threads", cause);
}

pub fn a_company_may_use_all_of_the_time() {
    let simulation = Simulation::of(&[9, 1, 1]);
    let entries = quotes(&simulation, companies(&Asked::default(), &[Ok(1), Ok(2), Ok(3)]), 10);
    let cause = "the first request was cancelled before the deadline: the time is for all of them together, since they \
                 are asked side by side";
    check(&entries, &["Air 1", "Bus 2", "Car 3"], "companies that take 9, 1 and 1 ms, in 10 ms", cause);
}

pub fn the_deadline_is_a_moment() {
    // The deadline is in 10 ms. The second company answers after 16 ms, which is less than 10 ms after the
    // answer of the first company.
    let simulation = Simulation::of(&[8, 16, NEVER]);
    let entries = quotes(&simulation, companies(&Asked::default(), &[Ok(1), Ok(2), Ok(3)]), 10);
    let cause = "the deadline is a moment, and join() wants a length of time: compute the remaining time anew before each wait";
    check_time(
        &simulation,
        10,
        "companies that take 8 ms, 16 ms and for ever, and a deadline in 10 ms",
        cause,
    );
    check(&entries, &["Air 1", "Bus late", "Car late"], "8 ms, 16 ms and for ever, in 10 ms", cause);
}

pub fn what_has_come_in_time_counts() {
    let simulation = Simulation::of(&[NEVER, 5, 9]);
    let entries = quotes(&simulation, companies(&Asked::default(), &[Ok(1), Ok(2), Ok(3)]), 10);
    let cause = "two companies have answered in time, while the caller waited for the first one: when the time is up, \
                 look at each before you call it late";
    check(
        &entries,
        &["Bus 2", "Car 3", "Air late"],
        "companies that take for ever, 5 and 9 ms, in 10 ms",
        cause,
    );
    // Each submission takes 6 ms. The company Air has answered at 8 ms, and at 12 ms the deadline is over.
    let simulation = Simulation { submission: 6, ..Simulation::of(&[2, NEVER, NEVER]) };
    let entries = quotes(&simulation, companies(&Asked::default(), &[Ok(1), Ok(2), Ok(3)]), 10);
    let cause = "asking has used up the time, and Air had answered before: look at each that was asked before you call it late";
    check(
        &entries,
        &["Air 1", "Bus late", "Car late"],
        "each submission takes 6 ms, Air answers 2 ms later, in 10 ms",
        cause,
    );
}

pub fn a_deadline_may_be_as_late_as_it_likes() {
    let simulation = Simulation::of(&[5, 7]);
    let cause = "such a late deadline needs all bits of a Millis, and it is not over";
    let entries = expect("ranked_quotes()", cause, || {
        ranked_quotes(&simulation, &simulation, companies(&Asked::default(), &[Ok(2), Ok(1)]), Millis::MAX)
    });
    let Ok(entries) = entries else {
        fail("ranked_quotes() says that it was interrupted", "no thread has told it to give up")
    };
    check(
        &entries,
        &["Bus 1", "Air 2"],
        "companies that take 5 and 7 ms, and the latest deadline there is",
        cause,
    );
    check_time(
        &simulation,
        7,
        "companies that take 5 and 7 ms",
        "when all have answered, there is nothing to wait for",
    );
}

pub fn many_companies_are_ranked() {
    const MANY: usize = 240;
    let names = || NAMES.into_iter().cycle().take(MANY);
    let price = |number: usize| u32::try_from(number % 5).expect("below 5");
    let companies =
        (0..).zip(names()).map(|(number, name)| Company { name, ask: Box::new(move || Ok(price(number))) });
    let simulation = Simulation::of(&[10; MANY]);
    let entries = quotes(&simulation, companies.collect(), 100);
    check_count(&entries, MANY, "each company has an entry of its own, even if others have the same name");
    check_time(
        &simulation,
        10,
        "240 companies that take 10 ms, on enough threads",
        "all are asked before the caller waits for the first one",
    );
    let mut expected: Vec<_> = (0..).map(price).zip(names()).collect();
    expected.sort_by_key(|(price, _)| *price);
    let differs = entries
        .iter()
        .zip(expected)
        .position(|(entry, (price, company))| *entry != Entry { company, answer: Answer::Price(price) });
    if let Some(at) = differs {
        let cause = "the lowest price comes first, and equals stay in the order of the companies, however many there are: which sorts \
                     of the standard library promise that?";
        fail(&format!("of {MANY} entries, number {} is {}", at + 1, short(&entries[at])), cause);
    }
}

pub fn late_companies_are_called_off() {
    let (simulation, asked) = (Simulation::of(&[50, 5, 60]), Asked::default());
    quotes(&simulation, companies(&asked, &[Ok(1), Ok(2), Ok(3)]), 10);
    let cause = "no caller wants the late answers any more, but these requests still hold threads: a time-out alone stops no request, and \
                 neither does dropping the handle. Call cancel()";
    check_asked(&simulation, &asked, &["Bus"], "only Bus answers within the 10 ms", cause);
}

/// A clock on which the deadline passes as soon as a thread waits and the first request runs.
struct Impatient {
    first_runs: Arc<Counter>,
    passed: Shared<Millis>,
}

impl Clock for Impatient {
    fn now(&self) -> Millis {
        START + self.passed.with(|passed| *passed)
    }

    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>> {
        self.first_runs.wait_for(1);
        if handle.is_finished() {
            return handle.join_timeout(Duration::ZERO);
        }
        step("the time is up");
        self.passed.with(|passed| *passed = passed.saturating_add(at_most));
        Err(JoinTimeoutError::TimedOut(handle))
    }
}

pub fn a_running_request_is_told() {
    let pool = ThreadPoolExecutor::fixed(1);
    let first_runs = Arc::new(Counter::new("the request to run"));
    let told = Arc::new(Counter::new("its token to be cancelled"));
    let ask = {
        let (first_runs, told) = (Arc::clone(&first_runs), Arc::clone(&told));
        Box::new(move || {
            let tell = Arc::clone(&told);
            let _registration = CancelToken::current().on_cancel(move || {
                tell.add();
            });
            step("the request runs");
            first_runs.add();
            told.wait_for(1);
            step("the request gives up");
            Err("it was told to give up".to_owned())
        })
    };
    let clock = Impatient { first_runs, passed: Shared::default() };
    let entries = ranked_quotes(&pool, &clock, vec![Company { name: "Air", ask }], START + 10);
    let cause = "the time is up, the request runs, and it was not told: cancel() cancels its token as well, \
                 cancel_keep_running() and dropping the handle do not";
    expect("waiting for the running request to give up", cause, || told.wait_for(1));
    pool.close();
    match entries {
        Ok(entries) => check(
            &entries,
            &["Air late"],
            "the time was up while it ran",
            "it had not answered by the deadline",
        ),
        Err(Interrupted) => {
            fail("ranked_quotes() says that it was interrupted", "no thread has told it to give up")
        }
    }
}

pub fn nobody_waits_for_the_deaf() {
    let pool = ThreadPoolExecutor::fixed(1);
    let first_runs = Arc::new(Counter::new("the request to run"));
    let may_end = Arc::new(Counter::new("the test to let the request end, when the list is there"));
    let ask = {
        let (first_runs, may_end) = (Arc::clone(&first_runs), Arc::clone(&may_end));
        Box::new(move || {
            step("the request runs, and checks no token");
            first_runs.add();
            may_end.wait_for(1);
            Ok(1)
        })
    };
    let clock = Impatient { first_runs, passed: Shared::default() };
    let company = Company { name: "Air", ask };
    let cause = "the list waits for a request that does not listen: cancel() decides about the result at once, and it \
                 does not matter what the request does afterwards";
    let entries =
        expect("ranked_quotes()", cause, || ranked_quotes(&pool, &clock, vec![company], START + 10));
    step("the list is there");
    may_end.add();
    pool.close();
    if let Ok(entries) = entries {
        check(&entries, &["Air late"], "the time was up while it ran", "it had not answered by the deadline");
    }
}

pub fn with_the_time_spent_nobody_is_asked() {
    for deadline in [START, START - 500] {
        let (simulation, asked) = (Simulation::of(&[5, 5]), Asked::default());
        let Ok(entries) = ask(&simulation, companies(&asked, &[Ok(1), Ok(2)]), deadline) else {
            fail("ranked_quotes() says that it was interrupted", "no thread has told it to give up")
        };
        check_count(&entries, 2, "each company has an entry, even if there was no time to ask it");
        let what = "the deadline was over when the function was called";
        check(&entries, &["Air late", "Bus late"], what, "a company that was not asked in time is late");
        check_time(&simulation, 0, what, "there is nothing to wait for");
        if simulation.accepted() > 0 {
            fail(
                &format!("{what}, and {} companies were asked", simulation.accepted()),
                "with no time left no company may be asked: look at the clock before each request",
            );
        }
    }
    // Each submission takes 6 ms. The third request can be submitted only at 12 ms, after the deadline.
    let simulation = Simulation { submission: 6, ..Simulation::of(&[2, NEVER, 2]) };
    let entries = quotes(&simulation, companies(&Asked::default(), &[Ok(1), Ok(2), Ok(3)]), 10);
    let what = "each submission takes 6 ms, and the deadline is in 10 ms";
    if simulation.accepted() > 2 {
        fail(
            &format!("{what}: all three were asked, the last one at 12 ms"),
            "the time may be spent while others are asked: look at the clock before each request",
        );
    }
    check(&entries, &["Air 1", "Bus late", "Car late"], what, "a company that was not asked in time is late");
}

pub fn a_refusal_is_an_entry() {
    let simulation = Simulation { refuses: Some(2), ..Simulation::of(&[5, 5, 5]) };
    let asked = Asked::default();
    let entries = quotes(&simulation, companies(&asked, &[Ok(1), Ok(2), Ok(3)]), 10);
    check_count(&entries, 3, "the executor refused to ask Bus: its entry says so, and the others are asked");
    if asked.with(|asked| asked.contains(&"Bus")) {
        fail(
            "the executor refused to ask Bus, and the caller asked by itself",
            "the caller cannot keep the deadline while it asks a company: no thread would cancel this request",
        );
    }
    let cause =
        "the executor refused to ask Bus: it was refused, and is not late; the other companies are asked";
    check(&entries, &["Air 1", "Car 3", "Bus failed"], "Bus was refused", cause);
}

pub fn an_interrupted_wait_is_an_error() {
    let simulation = Simulation { interrupts: true, ..Simulation::of(&[5, 50]) };
    let asked = Asked::default();
    if let Ok(entries) = ask(&simulation, companies(&asked, &[Ok(1), Ok(2)]), START + 10) {
        let found: Vec<_> = entries.iter().map(short).collect();
        fail(
            &format!("the caller was told to give up while it waited, and got: {}", found.join(", ")),
            "no company was late: JoinTimeoutError::Interrupted is about the waiting caller, which was told to give up",
        );
    }
    let cause = "no caller wants any of the answers, not even those that you have not waited for yet: cancel all requests";
    check_asked(&simulation, &asked, &[], "the caller was told to give up while it waited", cause);
}
