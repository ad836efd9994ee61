//! Measures `soak`: after many minutes of polite and rude clients, a server must not use more resources than
//! after the first minutes.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bench::figures::median;

use crate::load::{Clients, Load, Page};
use crate::rude::Rude;
use crate::sides::{Setup, Side, Starter};
use bench::server::Server;

const RUDE: usize = 250;

/// The number of clients that stay connected. In each second, these clients send requests for a tenth of a
/// second as fast as they can, and then they send nothing.
const KEPT: [Load; 2] = [
    Load { connections: 100, depth: 1, page: Page::Hello, closes: false },
    Load { connections: 100, depth: 1, page: Page::File, closes: false },
];
const BURST: Duration = Duration::from_millis(100);

/// The number of clients that connect and leave again.
const PASSING: Load = Load { connections: 50, depth: 1, page: Page::Hello, closes: true };
const PASSING_ANSWERS: u64 = 500;

/// The time of the first measurement, and the number of measurements in one median. A median is needed
/// because the number of connections changes all the time.
const FIRST_LOOK: Duration = Duration::from_mins(2);
const LOOKS: usize = 15;

/// The factor by which the resources may have grown at the end.
const GROWTH: f64 = 1.02;

pub(crate) fn run(starter: &Starter, side: Side, minutes: u16) -> anyhow::Result<()> {
    let connections = RUDE + KEPT[0].connections + KEPT[1].connections + PASSING.connections;
    // A stage with a thread for each connection also needs threads for connections that have ended, because
    // the stage has not noticed their end yet.
    let workers = *side.workers(2 * connections).last().context("with some number of workers")?;
    let setup = Setup { side, workers, connections: 2 * connections, more: &[] };
    let server = starter.start(&setup)?;
    let whole = Duration::from_mins(minutes.into());
    let first_look = FIRST_LOOK.min(whole / 4);
    println!("{setup}: {minutes} minutes, {connections} clients, {RUDE} of them slow");

    let rude = Rude::start(server.addr, RUDE, whole + FIRST_LOOK)?;
    let kept = KEPT.iter().map(|load| Clients::connect(server.addr, load));
    let mut kept = kept.collect::<anyhow::Result<Vec<_>>>()?;
    let began = Instant::now();
    let mut answers = 0;
    let mut go_on = |until: Duration| -> anyhow::Result<()> {
        while began.elapsed() < until {
            answers += second(&server, &mut kept)?;
        }
        Ok(())
    };
    go_on(first_look)?;
    let first = look(&server, &mut go_on, &began)?;
    println!("  after {:>4} s: {first}", began.elapsed().as_secs());
    for minute in 1..minutes {
        let until = Duration::from_mins(minute.into());
        if until > began.elapsed() {
            go_on(until)?;
            println!("  after {:>4} s: {}", began.elapsed().as_secs(), Look::at(&server)?);
        }
    }
    go_on(whole.saturating_sub(Duration::from_secs(LOOKS as u64)))?;
    let last = look(&server, &mut go_on, &began)?;
    println!("  after {:>4} s: {last}", began.elapsed().as_secs());
    let [silent, head, idle, body] = rude.finish()?.by_kind;
    println!(
        "  {answers} answers; slow clients cut off: {silent} silent, {head} with a slow head, {idle} idle, {body} with a slow body"
    );
    let verdict = |first: f64, last: f64| if last <= first * GROWTH { "has not grown" } else { "HAS GROWN" };
    let (memory, descriptors) =
        (verdict(first.memory, last.memory), verdict(first.descriptors, last.descriptors));
    println!("  memory {memory}, number of descriptors {descriptors} (by more than 2 %)");
    ensure!(!memory.starts_with("HAS") && !descriptors.starts_with("HAS"), "{setup} grows");
    Ok(())
}

/// Runs the polite clients for one second.
fn second(server: &Server, kept: &mut [Clients]) -> anyhow::Result<u64> {
    let began = Instant::now();
    let mut answers = 0;
    for clients in kept {
        answers += clients.count(BURST)?.answers;
    }
    answers += Clients::connect(server.addr, &PASSING)?.take(PASSING_ANSWERS)?.answers;
    thread::sleep(Duration::from_secs(1).saturating_sub(began.elapsed()));
    Ok(answers)
}

/// The resources that a server uses.
struct Look {
    memory: f64,
    descriptors: f64,
}

impl Look {
    fn at(server: &Server) -> anyhow::Result<Look> {
        let unknown = "this system does not tell what another process has";
        Ok(Look {
            memory: server.memory().context(unknown)?,
            descriptors: server.descriptors().context(unknown)? as f64,
        })
    }
}

impl std::fmt::Display for Look {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} KiB, {} descriptors", self.memory / 1024.0, self.descriptors)
    }
}

/// Returns the median of some measurements, which are a second apart, while the clients continue.
fn look(
    server: &Server,
    go_on: &mut impl FnMut(Duration) -> anyhow::Result<()>,
    began: &Instant,
) -> anyhow::Result<Look> {
    let mut looks = Vec::new();
    for _ in 0..LOOKS {
        go_on(began.elapsed() + Duration::from_millis(500))?;
        looks.push(Look::at(server)?);
    }
    let middle = |what: fn(&Look) -> f64| median(&looks.iter().map(what).collect::<Vec<_>>());
    Ok(Look { memory: middle(|look| look.memory), descriptors: middle(|look| look.descriptors) })
}
