//! Serves clients in this process, and samples their number every few milliseconds.

use crate::visitors;
use crate::{PHASES, THREADS};
use executor::{CancelToken, ExecutorExt, ExecutorService, FifoQueue, ThreadPoolExecutor};
use servers::{AccessLog, Limits, Listener, Server, Site};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(5);

/// The samples from the arrival of the first client until the last client has left.
pub(crate) struct Observed {
    looks: Vec<Look>,
    stays: Vec<Duration>,
    pub(crate) refused: usize,
}

/// A sample: the number of clients in the server at one moment.
struct Look {
    at: f64,
    waiting: usize,
    served: usize,
}

/// Serves the clients of all phases.
pub(crate) fn observe(queue: FifoQueue) -> anyhow::Result<Observed> {
    let pool = ThreadPoolExecutor::builder().threads(THREADS).queue(queue).build()?;
    let server = Arc::new(Server::new(Site::new(None), Limits::default(), AccessLog::Quiet));
    let listener = Listener::bind(([127, 0, 0, 1], 0).into())?;
    let (addr, stop) = (listener.local_addr(), CancelToken::new());
    let stays = Arc::new(Mutex::new(Vec::new()));
    let (mut looks, mut refused) = (Vec::new(), 0);
    let pool = &pool;
    thread::scope(|scope| {
        // ANCHOR: stay
        let accepting = scope.spawn(|| {
            for connection in listener.incoming_until(&stop) {
                let (server, stays, arrived) = (Arc::clone(&server), Arc::clone(&stays), Instant::now());
                let task = move || {
                    server.serve(connection);
                    stays.lock().unwrap().push(arrived.elapsed());
                };
                refused += usize::from(pool.execute(task).is_err());
            }
        });
        // ANCHOR_END: stay
        let began = Instant::now();
        let visiting = scope.spawn(|| visitors::come(addr, &PHASES));
        // ANCHOR: looks
        while !visiting.is_finished() {
            let now = pool.stats();
            looks.push(Look { at: began.elapsed().as_secs_f64(), waiting: now.queued, served: now.active });
            thread::sleep(LOOK);
        }
        // ANCHOR_END: looks
        stop.cancel();
        let _ = accepting.join();
    });
    pool.close();
    let stays = std::mem::take(&mut *stays.lock().unwrap());
    Ok(Observed { looks, stays, refused })
}

impl Observed {
    /// Returns how many clients waited for a thread, on average from `begin` to `end`.
    pub(crate) fn waiting(&self, begin: f64, end: f64) -> f64 {
        let looks = self.looks.iter().filter(|look| (begin..end).contains(&look.at));
        mean(looks.map(|look| look.waiting as f64))
    }

    /// Returns the number of waiting clients in each sample.
    pub(crate) fn curve(&self) -> impl Iterator<Item = (f64, f64)> {
        self.looks.iter().map(|look| (look.at, look.waiting as f64))
    }

    pub(crate) fn arrival_rate(&self) -> f64 {
        self.stays.len() as f64 / self.looks.last().map_or(1.0, |look| look.at)
    }

    pub(crate) fn mean_stay(&self) -> f64 {
        mean(self.stays.iter().map(Duration::as_secs_f64))
    }

    pub(crate) fn longest_stay(&self) -> f64 {
        self.stays.iter().map(Duration::as_secs_f64).fold(0.0, f64::max)
    }

    /// Returns how many clients, on average, waited or were served.
    pub(crate) fn mean_there(&self) -> f64 {
        mean(self.looks.iter().map(|look| (look.waiting + look.served) as f64))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}
