//! Wrong: a late alarm cuts off the page that is drawn at that time, even if the alarm is for another page.

use crate::sync::Mutex;

#[derive(Default)]
pub struct Caller {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    page: u32,
    cut_off_by: Option<u32>,
}

impl Caller {
    pub fn draw(&self, page: u32) -> Option<u32> {
        *self.state.lock().unwrap() = State { page, cut_off_by: None };
        self.state.lock().unwrap().cut_off_by
    }

    pub fn alarm(&self, page: u32) {
        let mut state = self.state.lock().unwrap();
        // The mistake: the page that is drawn now may be the next page.
        if state.page >= page {
            state.cut_off_by = Some(page);
        }
    }
}
