//! Records the graph of a small program under the model: every state of the program, and every choice in each
//! state.
//!
//! [`record`] runs a [`Scenario`] many times. Each run repeats the choices of an earlier run until it reaches
//! a state with a choice that no run has made yet. In this state the run makes the new choice, and goes on
//! until it reaches a known state. When all choices of all states have been made, the graph is complete.
//! [`walk()`] runs the same program with random choices and compares each step with the graph.
//!
//! # When two runs are in the same state
//!
//! Two runs are in the same state if each thread has recorded the same events, and each lock and each
//! condition variable has had its events in the same order. Runs that are in the same state differ only in
//! the order of independent events: they have the same *trace* (Mazurkiewicz, 1977). A stateful search
//! usually compares the memory of two states, or a hash of this memory. In this search it is enough to
//! compare the traces, because the trace decides the memory. A thread's next step depends on what the thread
//! has read so far. All shared data are in mutexes. The data that a thread reads in a mutex depend on the
//! earlier critical sections, whose order is part of the trace. So a scenario may use mutexes, condition
//! variables and its own threads, and nothing else. [`record`] panics if the scenario uses anything else.
//!
//! A thread has more stopping points than recorded events: for example, it stops after an unlock, and again
//! before the next lock. Between two points without an event, the thread changes nothing that another thread
//! can read. So such a *quiet* step commutes with all steps of other threads, and counts as a part of the
//! thread's next event. Quiet steps need no code: a quiet step does not change the trace, so the points
//! before and after the step are one state. This state has the choices of both points.

mod run;
mod search;
mod walk;

use std::cell::RefCell;
use std::rc::Rc;

use exercises_protocol::graph::{Graph, Player, State};

use run::run;
use search::Search;
use walk::Walk;

/// Shared objects whose events the recorder does not order.
const NOT_RECORDED: [&str; 9] =
    ["atomic::", "RwLock", "mpsc::", "Barrier", "OnceLock", "LazyLock", "park(", "try_lock", "spawn("];

/// An answer, and the threads that use it.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The scene's name in `kinds.toml`.
    pub name: &'static str,
    /// The text of the answer.
    pub source: &'static str,
    /// Makes new threads for a run.
    pub scenario: fn() -> Scenario,
}

/// A few threads, and the steps that must have happened when all these threads have ended.
#[derive(Default)]
pub struct Scenario {
    threads: Vec<(Player, Box<dyn FnOnce() + Send>)>,
    promises: Vec<(&'static str, &'static str)>,
}

impl Scenario {
    /// Makes a scenario without threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a thread. `runs` is the code of `body` as text, as a learner would write it.
    #[must_use]
    pub fn thread(mut self, name: &str, runs: &str, body: impl FnOnce() + Send + 'static) -> Self {
        self.threads.push((Player { name: name.to_owned(), runs: runs.to_owned() }, Box::new(body)));
        self
    }

    /// Promises that this [`step`](crate::step) happens in every run before the run ends. `broken` describes
    /// the failure.
    #[must_use]
    pub fn promise(mut self, step: &'static str, broken: &'static str) -> Self {
        self.promises.push((step, broken));
        self
    }
}

/// Returns the threads of a scene, and all states of the scene.
///
/// # Panics
/// Panics if the scene uses objects that the recorder does not see, or has too many states.
pub fn record(scene: &Scene) -> (Vec<Player>, Vec<State>) {
    for what in NOT_RECORDED {
        assert!(!scene.source.contains(what), "{}: the states are not known by {what}", scene.name);
    }
    let search = Rc::new(RefCell::new(Search::new()));
    let players = run(scene, search.clone());
    let states = search.borrow_mut().states();
    (players, states.unwrap_or_else(|problem| panic!("{}: {problem}", scene.name)))
}

/// Makes the given number of random steps in a scene, and compares each step with the graph. When a run ends,
/// the walk begins again.
///
/// # Errors
/// Returns an error if a step or an end is not in the graph.
pub fn walk(scene: &Scene, graph: &Graph, steps: usize) -> Result<(), String> {
    let walk = Rc::new(RefCell::new(Walk::of(graph, steps)));
    run(scene, walk.clone());
    let problem = std::mem::take(&mut walk.borrow_mut().problem);
    if problem.is_empty() { Ok(()) } else { Err(format!("{}: {problem}", scene.name)) }
}

/// Returns the graph as JSON, which has one line for each line of the listing, for each thread and for each
/// state.
pub fn text(graph: &Graph) -> String {
    let json = serde_json::to_string(graph).expect("strings and numbers");
    let begins = ["{\"number\":", "{\"name\":", "{\"threads\":"]; // no text has these: its quotes are escaped
    begins.iter().fold(json, |text, begin| text.replace(begin, &format!("\n{begin}"))) + "\n"
}
