//! Whole pools under shuttle.
#![cfg(feature = "shuttle")]
use executor_model::{Latch, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

#[test]
fn two_tasks_that_wait_for_each_other_both_get_a_worker() {
    shuttle::check_random(
        || {
            let pool = ThreadPoolExecutor::fixed(2);
            pool.submit(|| ()).unwrap().join().unwrap();
            pool.submit(|| ()).unwrap().join().unwrap();
            let met = Arc::new(Latch::new(2));
            for _ in 0..2 {
                let met = met.clone();
                pool.execute(move || {
                    met.count_down();
                    met.wait().unwrap();
                })
                .unwrap();
            }
            pool.close();
            assert_eq!(pool.stats().completed, 4);
        },
        2_000,
    );
}
