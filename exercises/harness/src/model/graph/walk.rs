//! Random runs of a scene, which check the graph of the scene.

use exercises_protocol::graph::{Graph, Move, State};

use super::super::chance::Chance;
use super::run::{Chooses, Now};

/// Chooses the next thread at random.
#[derive(Default)]
pub(super) struct Walk {
    states: Vec<State>,
    at: usize,
    left: usize,
    runs: u64,
    chance: Option<Chance>,
    pub(super) problem: String,
}

impl Walk {
    /// Makes a walk of the given number of steps in this graph.
    pub(super) fn of(graph: &Graph, steps: usize) -> Self {
        Self { states: graph.states.clone(), left: steps, ..Self::default() }
    }
}

impl Chooses for Walk {
    fn begins(&mut self) -> bool {
        self.runs += 1;
        self.chance = Some(Chance::of(0, self.runs));
        self.at = 0;
        self.left > 0 && self.problem.is_empty()
    }

    fn next(&mut self, now: &Now<'_>, can: &[usize]) -> Option<usize> {
        let state = &self.states[self.at];
        if let Some(step) = now.step.filter(|step| !step.text.is_empty()) {
            let is_it = |known: &&Move| known.thread == step.thread && known.text == step.text;
            let Some(known) = state.moves.iter().find(is_it) else {
                self.problem = format!("in state {} thread {} did {}", self.at, step.thread, step.text);
                return None;
            };
            self.at = known.to;
            self.left = self.left.saturating_sub(1);
        }
        let (end, known) = (now.end(can), &self.states[self.at].end);
        if end.is_some() && end != *known {
            self.problem = format!("state {} is {end:?} and not {known:?}", self.at);
        }
        if end.is_some() || !self.problem.is_empty() {
            return None;
        }
        let next = self.picks(can.len());
        Some(can[next])
    }

    fn picks(&mut self, sleepers: usize) -> usize {
        self.chance.as_mut().map_or(0, |chance| chance.below(sleepers))
    }
}
