//! The properties of `render_page`, each a function. `exercise.toml` lists them and says what each promises.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, JoinTimeoutError, TaskHandle, ThreadPoolExecutor};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::{Clock, Fetch, Interrupted, Millis, Page, Slot, render_page};
use crate::probe::{Counter, Shared};
use crate::sync::Arc;

mod simulation;

use simulation::{NEVER, START, Simulation};

/// Whether the advertisement was fetched to the end.
type Fetched = Arc<Shared<bool>>;

fn says(fetched: &Fetched, answer: Result<&'static str, &'static str>) -> Fetch {
    let fetched = Arc::clone(fetched);
    Box::new(move || {
        fetched.with(|fetched| *fetched = true);
        answer.map(str::to_owned).map_err(str::to_owned)
    })
}

/// An advertisement of which only the time matters.
fn buy() -> Fetch {
    says(&Fetched::default(), Ok("buy"))
}

/// Draws a page whose body takes so long. There has to be one.
fn page(simulation: &Simulation, fetch: Fetch, body: Millis, budget: Millis) -> Page {
    match render(simulation, fetch, body, budget) {
        Ok(page) if page.body == "body" => page,
        Ok(page) => {
            fail(&format!("the body of the page is {:?}", page.body), "it is what draw_body() returns")
        }
        Err(Interrupted) => fail(
            "render_page() says that it was interrupted",
            "nobody has told it to give up, and the page can be drawn without its advertisement",
        ),
    }
}

fn render(simulation: &Simulation, fetch: Fetch, body: Millis, budget: Millis) -> Result<Page, Interrupted> {
    let draw_body = || {
        simulation.work(body);
        "body".to_owned()
    };
    let cause = "if it panicked: times are whole numbers without a sign, so what is left of a budget that is spent is 0, and the \
                 end of a budget may be later than any number can say (saturating_sub, saturating_add). And a panic of the \
                 request is not one of the page. If it goes on for ever: a loop that only looks is no wait, clock.join() is";
    expect("render_page()", cause, || render_page(simulation, simulation, fetch, draw_body, budget))
}

fn check(page: &Page, expected: &Slot, what: &str, cause: &str) {
    if page.slot != *expected {
        fail(&format!("{what}: {:?}, and not {expected:?}", page.slot), cause);
    }
}

fn check_time(simulation: &Simulation, expected: Millis, what: &str, cause: &str) {
    let passed = simulation.passed();
    if passed != expected {
        fail(&format!("{what}: it took {passed} ms, and not {expected}"), cause);
    }
}

fn advertisement() -> Slot {
    Slot::Advertisement("buy".to_owned())
}

pub fn the_page_has_its_body_and_its_advertisement() {
    for text in ["buy", "", "B\u{fc}y \0\n"] {
        let page = page(&Simulation::of(&[5]), says(&Fetched::default(), Ok(text)), 1, 100);
        let cause = "it was there in time, and is shown as it is, also if it is empty";
        check(
            &page,
            &Slot::Advertisement(text.to_owned()),
            "an advertisement of 5 ms, and time enough",
            cause,
        );
    }
}

pub fn the_advertisement_is_fetched_while_the_body_is_drawn() {
    for budget in [100, 20] {
        let simulation = Simulation::of(&[budget / 5]);
        page(&simulation, buy(), budget / 10, budget);
        let cause = "ask for the advertisement first, and then draw: what is asked for last has the body's time on top of its own";
        if simulation.accepted() == 0 {
            fail("the request was not given to the executor", "the caller has a body to draw meanwhile");
        }
        let what = format!(
            "a body of {} ms, an advertisement of {} ms, and a budget of {budget}",
            budget / 10,
            budget / 5
        );
        check_time(&simulation, budget / 5, &what, cause);
    }
}

pub fn a_failure_is_replaced_at_once() {
    let simulation = Simulation::of(&[5]);
    let page = page(&simulation, says(&Fetched::default(), Err("sold out")), 1, 100);
    let cause = "it has failed, and says why: whoever reads the log will want to know";
    check(&page, &Slot::Failed("sold out".to_owned()), "the advertisement has failed", cause);
    check_time(&simulation, 5, "the advertisement failed after 5 ms", "there is nothing to wait for");
}

pub fn a_panic_is_a_failure() {
    let page = page(&Simulation::of(&[5]), Box::new(|| panic_on_purpose()), 1, 100);
    if !matches!(page.slot, Slot::Failed(_)) {
        fail(
            &format!("the request panicked, and the slot is {:?}", page.slot),
            "it has failed, and it was not late",
        );
    }
}

pub fn a_refusal_does_not_cost_the_page() {
    let simulation = Simulation { refuses: true, ..Simulation::of(&[5]) };
    let fetched = Fetched::default();
    let page = page(&simulation, says(&fetched, Ok("buy")), 1, 100);
    if fetched.with(|fetched| *fetched) {
        fail(
            "the executor refused the request, and the caller fetched by itself",
            "nobody could call it off at the end of the budget, since the caller itself is busy with it",
        );
    }
    if !matches!(page.slot, Slot::Failed(_)) {
        let cause = "it was refused, and is not late: nobody was ever asked";
        fail(&format!("the executor refused the request, and the slot is {:?}", page.slot), cause);
    }
}

pub fn an_advertisement_may_use_all_of_the_budget() {
    let page = page(&Simulation::of(&[9]), buy(), 0, 10);
    let cause = "it was there after 9 ms, and the budget is 10 ms: do not divide it, and look at the units";
    check(&page, &advertisement(), "an advertisement of 9 ms, and a budget of 10", cause);
}

pub fn a_budget_of_zero_is_over_at_once() {
    let simulation = Simulation::of(&[NEVER]);
    let page = page(&simulation, buy(), 0, 0);
    let cause = "0 is a budget like any other: it is over at once. It does not mean that there is no limit";
    check_time(&simulation, 0, "an advertisement that never comes, and a budget of 0", cause);
    check(&page, &Slot::Late, "a budget of 0", cause);
}

pub fn the_budget_is_kept() {
    let simulation = Simulation::of(&[NEVER]);
    let page = page(&simulation, buy(), 0, 10);
    let cause = "the budget is in milliseconds, as the clock is";
    check_time(&simulation, 10, "an advertisement that never comes, and a budget of 10 ms", cause);
    check(&page, &Slot::Late, "an advertisement that never comes", "it is late");
}

pub fn the_time_of_the_body_counts() {
    let simulation = Simulation::of(&[NEVER]);
    page(&simulation, buy(), 8, 10);
    let cause =
        "the budget is for the page and not for the wait: wait for what is left of it when the body is drawn";
    check_time(
        &simulation,
        10,
        "a body of 8 ms, an advertisement that never comes, and a budget of 10 ms",
        cause,
    );
}

pub fn the_time_of_asking_counts() {
    let simulation = Simulation { submission: 4, ..Simulation::of(&[NEVER]) };
    page(&simulation, buy(), 1, 10);
    let cause = "an executor may take its time to accept a request. The budget begins with the call: note its end before anything \
                 else";
    check_time(&simulation, 10, "a submission of 4 ms, a body of 1 ms, and a budget of 10 ms", cause);
}

pub fn with_the_budget_spent_nobody_waits() {
    let simulation = Simulation::of(&[NEVER]);
    let page = page(&simulation, buy(), 20, 10);
    let cause = "nothing is left to wait for";
    check_time(&simulation, 20, "a body of 20 ms, and a budget of 10 ms", cause);
    check(&page, &Slot::Late, "the budget was spent before anybody waited", "it is late");
}

pub fn what_lies_ready_is_taken() {
    let cause = "it had been there before the body was drawn, and has been paid for: a join with nothing left takes what is there, an \
                 advertisement or a failure";
    // The body takes more than the budget, or just as much.
    for (takes, body) in [(15, 20), (5, 10)] {
        let what = format!("it took {takes} ms, the body {body} ms, and the budget is 10");
        let drawn = page(&Simulation::of(&[takes]), buy(), body, 10);
        check(&drawn, &advertisement(), &what, cause);
        let drawn = page(&Simulation::of(&[takes]), says(&Fetched::default(), Err("sold out")), body, 10);
        check(&drawn, &Slot::Failed("sold out".to_owned()), &what, cause);
    }
}

/// The advertisement may not be fetched to its end, whatever the executor does after the call.
fn check_called_off(simulation: &Simulation, fetched: &Fetched, what: &str, cause: &str) {
    simulation.go_on();
    if fetched.with(|fetched| *fetched) {
        fail(&format!("{what}, and the advertisement was fetched to its end"), cause);
    }
}

pub fn a_late_advertisement_is_called_off() {
    let (simulation, fetched) = (Simulation::of(&[50]), Fetched::default());
    page(&simulation, says(&fetched, Ok("buy")), 1, 10);
    let cause = "the page is out, and it goes on holding a thread and a connection: a time-out alone stops nobody, and neither does \
                 dropping the handle. cancel() does";
    check_called_off(&simulation, &fetched, "the budget was over", cause);
}

/// A clock whose time is up as soon as somebody waits, but not before the request runs.
struct Impatient {
    runs: Arc<Counter>,
}

impl Clock for Impatient {
    fn now(&self) -> Millis {
        START
    }

    fn join<T: Send + 'static>(&self, handle: TaskHandle<T>, _: Millis) -> Result<T, JoinTimeoutError<T>> {
        self.runs.wait_for(1);
        if handle.is_finished() {
            return handle.join_timeout(Duration::ZERO);
        }
        step("the time is up");
        Err(JoinTimeoutError::TimedOut(handle))
    }
}

pub fn a_running_request_is_told() {
    let pool = ThreadPoolExecutor::fixed(1);
    let runs = Arc::new(Counter::new("the request to run"));
    let told = Arc::new(Counter::new("its token to be cancelled"));
    let fetch = {
        let (runs, told) = (Arc::clone(&runs), Arc::clone(&told));
        Box::new(move || {
            let tell = Arc::clone(&told);
            let _registration = CancelToken::current().on_cancel(move || {
                tell.add();
            });
            step("the request runs");
            runs.add();
            told.wait_for(1);
            step("the request gives up");
            Err("it was told to give up".to_owned())
        })
    };
    let clock = Impatient { runs };
    let page = render_page(&pool, &clock, fetch, || "body".to_owned(), 10);
    let cause = "the time is up, the request runs, and it was not told: cancel() cancels its token as well, \
                 cancel_keep_running() and dropping the handle do not";
    expect("waiting for the running request to give up", cause, || told.wait_for(1));
    pool.close();
    match page {
        Ok(page) => check(&page, &Slot::Late, "the time was up while the request ran", "it is late"),
        Err(Interrupted) => {
            fail("render_page() says that it was interrupted", "nobody has told it to give up")
        }
    }
}

pub fn nobody_waits_for_the_deaf() {
    let pool = ThreadPoolExecutor::fixed(1);
    let runs = Arc::new(Counter::new("the request to run"));
    let may_end = Arc::new(Counter::new("the test to let the request end, when the page is out"));
    let fetch = {
        let (runs, may_end) = (Arc::clone(&runs), Arc::clone(&may_end));
        Box::new(move || {
            step("the request runs, and looks at no token");
            runs.add();
            may_end.wait_for(1);
            Ok("too late".to_owned())
        })
    };
    let clock = Impatient { runs };
    let cause = "the page waits for a request that does not listen: cancel() decides about the result at once, and what the request \
                 does afterwards is its own affair";
    let page = expect("render_page()", cause, || render_page(&pool, &clock, fetch, || "body".to_owned(), 10));
    step("the page is out");
    may_end.add();
    pool.close();
    match page {
        Ok(page) => check(&page, &Slot::Late, "the time was up while the request ran", "it is late"),
        Err(Interrupted) => {
            fail("render_page() says that it was interrupted", "nobody has told it to give up")
        }
    }
}

pub fn an_interrupted_wait_is_an_error() {
    let simulation = Simulation { interrupts: true, ..Simulation::of(&[50]) };
    let fetched = Fetched::default();
    if let Ok(page) = render(&simulation, says(&fetched, Ok("buy")), 1, 10) {
        fail(
            &format!("the caller was told to give up while it waited, and got {page:?}"),
            "nobody has been late: JoinTimeoutError::Interrupted is about the one who waits, and that one wants to leave",
        );
    }
    let cause = "nobody wants it any more: call it off";
    check_called_off(&simulation, &fetched, "the caller was told to give up while it waited", cause);
}

pub fn a_body_that_panics_leaves_no_request() {
    let (simulation, fetched) = (Simulation::of(&[50]), Fetched::default());
    let same = "the panic that leaves render_page() is that of the body, with what it says: whoever catches it has to let it go on \
                (resume_unwind)";
    let drawn = expect("render_page()", same, || {
        catch_unwind(AssertUnwindSafe(|| {
            render_page(&simulation, &simulation, says(&fetched, Ok("buy")), || panic_on_purpose(), 10)
        }))
    });
    match drawn {
        Ok(_) => {
            fail("drawing the body panicked, and render_page() returned", "the panic is the caller's to see")
        }
        Err(panic) if panic.downcast_ref() == Some(&"a panic on purpose") => {}
        Err(_) => fail("drawing the body panicked, and another panic left render_page()", same),
    }
    let cause =
        "a panic leaves the function, too: what has to be done on each way out belongs into a destructor";
    check_called_off(&simulation, &fetched, "drawing the body panicked", cause);
}

pub fn a_budget_may_be_as_long_as_it_likes() {
    let simulation = Simulation::of(&[5]);
    let page = page(&simulation, buy(), 1, Millis::MAX);
    let cause = "so late an end is a number that needs all bits of a Millis";
    check(&page, &advertisement(), "an advertisement of 5 ms, and the longest budget there is", cause);
    check_time(&simulation, 5, "an advertisement of 5 ms", "when it is there, there is nothing to wait for");
}

/// Draws a page whose body is a page whose body is a page, and so on. Those of an odd level have an advertisement that never comes.
fn pages(simulation: &Simulation, level: usize, levels: usize, fetched: &[Fetched]) -> String {
    if level == levels {
        simulation.work(100);
        return "body".to_owned();
    }
    let fetch = says(&fetched[level], Ok("buy"));
    let draw_body = || pages(simulation, level + 1, levels, fetched);
    let cause = "a page may be drawn while another one is: each call has its own end and its own request";
    let Ok(page) =
        expect("render_page()", cause, || render_page(simulation, simulation, fetch, draw_body, 200))
    else {
        fail("render_page() says that it was interrupted", "nobody has told it to give up")
    };
    let expected = if level.is_multiple_of(2) { advertisement() } else { Slot::Late };
    check(
        &page,
        &expected,
        &format!("the page at level {level} of {levels}, each in the body of the one before"),
        cause,
    );
    page.body
}

pub fn many_pages_are_drawn_in_each_other() {
    const LEVELS: usize = 40;
    let takes: Vec<Millis> =
        (0..LEVELS).map(|level| if level.is_multiple_of(2) { 50 } else { NEVER }).collect();
    let fetched: Vec<Fetched> = (0..LEVELS).map(|_| Fetched::default()).collect();
    let simulation = Simulation::of(&takes);
    if pages(&simulation, 0, LEVELS, &fetched) != "body" {
        fail(
            "the body of a page is not what draw_body() returned",
            "the page has the body that was drawn for it",
        );
    }
    check_time(
        &simulation,
        200,
        "pages that all have 200 ms from the same moment on",
        "the budget of each begins with its call",
    );
    for (level, fetched) in fetched.iter().enumerate().skip(1).step_by(2) {
        let what = format!(
            "{LEVELS} pages were drawn, each in the body of another one; that at level {level} was late"
        );
        check_called_off(
            &simulation,
            fetched,
            &what,
            "each call calls off its own request, and not that of another page",
        );
    }
}
