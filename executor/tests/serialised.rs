//! Tests the serialised form of a pool's numbers.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use executor::{FutureTask, JoinError, PoolState, ThreadPoolExecutor, prelude::*};
use serde_json::{json, to_value};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn a_snapshot_can_be_serialised() {
    let pool = ThreadPoolExecutor::builder().threads(2).name("p").build().unwrap();
    let (started, has_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    pool.execute(move || {
        started.send(()).unwrap();
        let _ = is_released.recv();
    })
    .unwrap();
    has_started.recv_timeout(LONG).unwrap();
    let mut snapshot = to_value(pool.snapshot()).unwrap();
    let running = snapshot["running"][0].take();
    assert!(running.as_str().unwrap().starts_with('#'));
    let stats = json!({
        "name": "p", "state": "running", "core_threads": 2, "maximum_threads": 2, "threads": 1,
        "peak_threads": 1, "active": 1, "queued": 0, "completed": 0, "panicked": 0,
        "cancelled": 0, "cancelled_in_queue": 0, "timed_out": 0, "refused": 0, "starved": 0, "helped": 0,
        "spare_threads": 0,
    });
    assert_eq!(snapshot, json!({ "stats": stats, "running": [null], "queued": [] }));
    assert_eq!(to_value(pool.stats()).unwrap(), stats);
    drop(release);
    assert_eq!(to_value(PoolState::ShuttingDown).unwrap(), "shutting_down");
}

#[test]
fn a_wait_can_be_serialised() {
    let pool = Arc::new(ThreadPoolExecutor::builder().name("p").threads(1).build().unwrap());
    let own = Arc::clone(&pool);
    let page = FutureTask::new(move || {
        let header = own.submit(FutureTask::new(|| ()).named("header")).unwrap();
        match header.join() {
            Err(JoinError::Starved(header, starvation)) => {
                header.cancel();
                to_value(starvation.chain()).unwrap()
            }
            other => panic!("{other:?}"),
        }
    });
    let mut chain = pool.submit(page.named("page")).unwrap().join_timeout(LONG).unwrap();
    for task in ["/0/task/id", "/0/waits_for/queued/task/id"] {
        assert!(chain.pointer_mut(task).unwrap().take().is_u64());
    }
    assert_eq!(
        chain,
        json!([{
            "task": { "id": null, "name": "page" }, "thread": "p-thread-1", "pool": "p",
            "waits_for": { "queued": { "task": { "id": null, "name": "header" }, "pool": "p" } },
        }])
    );
}
