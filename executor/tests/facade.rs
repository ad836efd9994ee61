//! Tests the numbers that a recorder of the crate `metrics` receives from a pool.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor::{FifoQueue, FutureTask, Latch, MetricsFacade, ThreadPoolExecutor, prelude::*};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// The value of each number, by its name and its labels. For a histogram, the sum and the number of the
/// recorded values.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<BTreeMap<String, (f64, u64)>>>);

struct Number(Numbers, String);

impl Number {
    fn change(&self, change: impl FnOnce(f64) -> f64) {
        let mut numbers = self.0.0.lock().unwrap();
        let (value, changes) = numbers.entry(self.1.clone()).or_default();
        (*value, *changes) = (change(*value), *changes + 1);
    }
}

impl CounterFn for Number {
    fn increment(&self, by: u64) {
        self.change(|value| value + f64::from(u32::try_from(by).unwrap()));
    }
    fn absolute(&self, _: u64) {
        unreachable!("counters only grow")
    }
}

impl GaugeFn for Number {
    fn increment(&self, by: f64) {
        self.change(|value| value + by);
    }
    fn decrement(&self, by: f64) {
        self.change(|value| value - by);
    }
    fn set(&self, to: f64) {
        self.change(|_| to);
    }
}

impl HistogramFn for Number {
    fn record(&self, value: f64) {
        self.change(|sum| sum + value);
    }
}

impl Numbers {
    fn number(&self, key: &Key) -> Arc<Number> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Number(self.clone(), format!("{} {}", key.name(), labels.join(","))))
    }

    fn of(&self, name: &str) -> (f64, u64) {
        self.0.lock().unwrap().get(&format!("{name} name=orders")).copied().unwrap_or_default()
    }
}

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.number(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.number(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.number(key))
    }
}

#[test]
fn a_recorder_gets_the_numbers_that_the_statistics_have() {
    let numbers = Numbers::default();
    let facade = Arc::new(metrics::with_local_recorder(&numbers, || MetricsFacade::new("orders")));
    let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).hooks(Arc::clone(&facade));
    let pool = pool.build().unwrap();
    let nap = Duration::from_millis(3);
    let until = Arc::new(Latch::new(1));
    let end = Arc::clone(&until);
    let busy = pool.submit(move || until.wait().unwrap()).unwrap();
    while pool.stats().active < 1 {
        std::thread::yield_now();
    }
    let late = pool.submit(FutureTask::new(|| ()).timeout(nap)).unwrap();
    assert!(late.join().is_err());
    pool.submit(|| ()).unwrap().cancel();
    pool.execute(move || {
        std::thread::sleep(nap);
        panic!("counted");
    })
    .unwrap();
    assert!(pool.execute(|| ()).is_err());
    facade.record(&pool.stats());
    assert_eq!(numbers.of("executor_pool_size_threads").0.to_string(), "1");
    assert_eq!(numbers.of("executor_active_threads").0.to_string(), "1");
    assert_eq!(numbers.of("executor_queued_tasks").0.to_string(), "1");

    std::thread::sleep(nap);
    end.count_down();
    busy.join().unwrap();
    pool.close();
    let stats = pool.stats();
    for (name, expected, in_stats) in [
        ("executor_completed_tasks_total", 2_u32, stats.completed),
        ("executor_panicked_tasks_total", 1, stats.panicked),
        ("executor_cancelled_tasks_total", 2, stats.cancelled),
        ("executor_cancelled_in_queue_tasks_total", 2, stats.cancelled_in_queue),
        ("executor_timed_out_tasks_total", 1, stats.timed_out),
        ("executor_rejected_tasks_total", 1, stats.refused),
    ] {
        assert_eq!((numbers.of(name).0, in_stats), (f64::from(expected), u64::from(expected)), "{name}");
    }
    for name in ["executor_queue_seconds", "executor_run_seconds"] {
        let (sum, count) = numbers.of(name);
        assert_eq!(count, 2, "{name}");
        assert!(sum >= nap.as_secs_f64(), "{name}: {sum}");
    }
}
