//! Finds all runs of a scene.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use exercises_protocol::graph::{Move, State};

use super::run::{Chooses, Now, Step};

/// The limit for the number of states: a person cannot explore a program with more states by hand.
const MOST_STATES: usize = 5_000;

/// The thread that goes on; for each notification that could wake one of several sleepers, also the sleeper
/// that is woken.
type Choice = (usize, Vec<usize>);

/// A search that makes every choice in every state.
#[derive(Default)]
pub(super) struct Search {
    /// The choices that no run has made yet, each with all choices that lead to it.
    todo: Vec<Vec<Choice>>,
    /// The choices that this run repeats first.
    given: Vec<Choice>,
    way: Vec<Choice>,
    /// The number of sleepers that were chosen since the last choice of a thread.
    asked: usize,
    /// The known points, each with the trace, the number of quiet steps of each thread since its last event,
    /// and the threads that can run.
    points: HashSet<(Vec<String>, Vec<usize>, Vec<usize>)>,
    numbers: HashMap<Vec<String>, usize>,
    found: Vec<Found>,
    at: Option<usize>,
    quiet: Vec<usize>,
    over: bool,
    problem: String,
}

/// The search's knowledge of a state.
struct Found {
    /// The largest number of quiet steps at a point of this state; `state` describes that point. At that
    /// point each thread is at its next event, so the recorder knows what the thread waits for.
    quiet: usize,
    state: State,
    /// For each thread that can go on: its possible steps, and the beginning of each step. Only a
    /// notification has several possible steps.
    moves: BTreeMap<(usize, String), (Move, String)>,
}

impl Search {
    /// Makes a search that knows only the beginning.
    pub(super) fn new() -> Self {
        Self { todo: vec![Vec::new()], ..Self::default() }
    }

    /// Returns the states in the order of their distance from the first state, or the reason why the states
    /// cannot be known.
    pub(super) fn states(&mut self) -> Result<Vec<State>, String> {
        let Self { found, problem, .. } = std::mem::take(self);
        if problem.is_empty() { Ok(in_order(found)) } else { Err(problem) }
    }

    /// Returns the number of the state in which the run is now.
    fn arrive(&mut self, now: &Now<'_>, trace: &[String], can: &[usize]) -> usize {
        let quiet = self.quiet.iter().sum();
        let number = *self.numbers.entry(trace.to_vec()).or_insert(self.found.len());
        if self.found.get(number).is_none_or(|found| found.quiet <= quiet) {
            let state =
                State { threads: now.stands(), holders: now.holders(), moves: Vec::new(), end: now.end(can) };
            match self.found.get_mut(number) {
                Some(found) => (found.quiet, found.state) = (quiet, state),
                None => self.found.push(Found { quiet, state, moves: BTreeMap::new() }),
            }
        }
        number
    }

    /// Records that the last choice has led to this state.
    fn moved(&mut self, step: &Step, from: usize, to: usize) {
        let Step { thread, text, line, begins, .. } = step;
        let step = Move { thread: *thread, to, text: text.clone(), line: *line };
        let (known, _) =
            self.found[from].moves.entry((*thread, text.clone())).or_insert((step.clone(), begins.clone()));
        if *known != step {
            self.problem = format!("the same step leads to two states, {known:?} and {step:?}");
        }
    }
}

impl Chooses for Search {
    fn begins(&mut self) -> bool {
        let Some(given) = self.todo.pop().filter(|_| self.problem.is_empty()) else { return false };
        self.given = given;
        self.way.clear();
        (self.at, self.asked, self.over) = (None, 0, false);
        self.quiet.clear();
        true
    }

    fn next(&mut self, now: &Now<'_>, can: &[usize]) -> Option<usize> {
        self.quiet.resize(now.did.len(), 0);
        if let Some(step) = now.step {
            let quiet = &mut self.quiet[step.thread];
            *quiet = if step.text.is_empty() { *quiet + 1 } else { 0 };
        }
        let trace = now.trace();
        let to = self.arrive(now, &trace, can);
        if let (Some(step), Some(from)) = (now.step.filter(|step| !step.text.is_empty()), self.at) {
            self.moved(step, from, to);
        }
        self.at = Some(to);
        if self.found.len() > MOST_STATES {
            self.problem = format!("more than {MOST_STATES} states");
        }
        let is_new = || self.points.insert((trace, self.quiet.clone(), can.to_vec()));
        let choice = match self.given.get(self.way.len()) {
            Some(given) => given.clone(),
            None if now.end(can).is_some() || !self.problem.is_empty() || !is_new() => {
                self.over = true;
                return None;
            }
            None => {
                let others = can[1..].iter().map(|&other| [&self.way[..], &[(other, Vec::new())]].concat());
                self.todo.extend(others);
                (can[0], Vec::new())
            }
        };
        self.asked = 0;
        let thread = choice.0;
        self.way.push(choice);
        Some(thread)
    }

    fn picks(&mut self, sleepers: usize) -> usize {
        let Some((_, picked)) = self.way.last().filter(|_| !self.over) else { return 0 };
        let asked = self.asked;
        self.asked += 1;
        if let Some(&pick) = picked.get(asked) {
            return pick;
        }
        for pick in (0..sleepers).rev() {
            let mut way = self.way.clone();
            way.last_mut().expect("there is a choice").1.push(pick);
            if pick == 0 { self.way = way } else { self.todo.push(way) }
        }
        0
    }
}

/// Returns the states, numbered in the order of their distance from the first state.
fn in_order(mut found: Vec<Found>) -> Vec<State> {
    let (mut order, mut place) = (Vec::new(), vec![None; found.len()]);
    let mut queue = VecDeque::from([0]);
    place[0] = Some(0);
    while let Some(number) = queue.pop_front() {
        order.push(number);
        for (step, _) in found[number].moves.values() {
            if place[step.to].is_none() {
                place[step.to] = Some(order.len() + queue.len());
                queue.push_back(step.to);
            }
        }
    }
    let state = |number: usize| {
        let Found { state, moves, .. } = &mut found[number];
        for ((thread, _), (step, begins)) in moves {
            let stand = &mut state.threads[*thread];
            (stand.next, stand.next_line) = (begins.clone(), step.line);
            let to = place[step.to].expect("a move leads there");
            state.moves.push(Move { to, ..step.clone() });
        }
        state.clone()
    };
    order.into_iter().map(state).collect()
}
