//! Right: a worker takes back the half that it has offered, if no other worker has taken that half.

use crate::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    offered: Vec<u32>,
    done: Vec<u32>,
}

impl State {
    fn steal(&mut self, mine: u32) -> Option<u32> {
        let place = self.offered.iter().position(|&half| half != mine)?;
        Some(self.offered.remove(place))
    }
}

impl Pool {
    pub fn join(&self, mine: u32) {
        self.state.lock().unwrap().offered.push(mine);
        let mut state = self.state.lock().unwrap();
        if let Some(other) = state.steal(mine) {
            state.done.push(other);
            self.changed.notify_all();
        }
        if let Some(place) = state.offered.iter().position(|&half| half == mine) {
            state.offered.remove(place);
            return;
        }
        while !state.done.contains(&mine) {
            state = self.changed.wait(state).unwrap();
        }
    }
}
