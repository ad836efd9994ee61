//! A caller draws two pages. Each page has an alarm. The alarm does nothing before its page has begun.

use exercises_harness::model::graph::Scenario;

use super::exercise::Caller;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let caller = Arc::new(Caller::default());
    let alarm = |page: u32| {
        let caller = Arc::clone(&caller);
        move || caller.alarm(page)
    };
    let (first, second) = (alarm(1), alarm(2));
    Scenario::new()
        .thread("caller", "caller.draw(1); caller.draw(2)", move || {
            for page in [1, 2] {
                if let Some(alarm) = caller.draw(page) {
                    assert!(alarm == page, "the alarm of page {alarm} has cut off page {page}");
                }
            }
        })
        .thread("timer 1", "caller.alarm(1)", first)
        .thread("timer 2", "caller.alarm(2)", second)
}
