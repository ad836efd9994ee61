//! The command line of `cargo course load`, and the plan that it describes.

use super::rude::Rudeness;
use super::stage::Wanted;
use anyhow::ensure;
use clap::{Args, ValueEnum};
use command_line::{count, duration};
use exercises_protocol::counted;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The number of sockets and threads that most systems allow a process by default.
const MOST_CONNECTIONS: usize = 2_000;

const EXAMPLES: &str = "Examples:
  cargo course load http://127.0.0.1:8080/hello
  cargo course load --connections 200 --rate 5000 http://127.0.0.1:8080/block?ms=10
  cargo course load --rude silent=100,drip=4 http://127.0.0.1:8080/hello
  cargo course load --stages single_threaded,pooled --path /block?ms=5 --svg compared.svg
  cargo course load --stages thread_per_task,pooled --no-keep-alive -c 1,8,64 --svg curves.svg
  cargo course load --stages bounded:--policy=abort,bounded:--policy=block --rate 100,200 -c 500 --no-keep-alive

Latency counts from when a request was wanted; with --rate, from when it was due, however late it could be sent.
It is that of answers below status 400. Ctrl-C ends the load early and prints what was measured.

The exit code is 0 if something was measured, 1 if there was no answer or something else failed,
2 for wrong usage, and 130 after a second Ctrl-C, 143 after a second SIGTERM.";

/// Sends load to a web server of this machine and reports how the server coped.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LoadArgs {
    #[arg(help = "What to ask for, such as http://127.0.0.1:8080/hello")]
    #[arg(required_unless_present = "stages", conflicts_with = "stages")]
    pub(super) url: Option<String>,

    /// Stages of the course to start (and to build, if necessary) and compare: each one gets the same load,
    /// one after the other. A stage's own flags follow its name, each after a colon: bounded:--policy=block
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(super) stages: Vec<Wanted>,

    /// The path that the clients request from the stages
    #[arg(long, value_name = "PATH", default_value = "/hello", requires = "stages")]
    pub(super) path: String,

    /// How many threads each stage has [default: a number that suits the stage]
    #[arg(long, value_name = "COUNT", requires = "stages")]
    pub(super) threads: Option<NonZeroUsize>,

    /// How many polite clients send requests at the same time, each on its own connection; several numbers
    /// draw a curve
    #[arg(long, short, value_name = "COUNT,…", default_value = "64", value_delimiter = ',',
          value_parser = count::<1, MOST_CONNECTIONS>)]
    connections: Vec<usize>,

    /// How long the clients send requests
    #[arg(long, short, value_name = "TIME", default_value = "10s", value_parser = duration)]
    duration: Duration,

    /// Stop after this many requests, if they end first
    #[arg(long, short = 'n', value_name = "COUNT", default_value = "1000000000", hide_default_value = true,
          value_parser = count::<1, 1_000_000_000>)]
    requests: usize,

    /// Requests in a second, on all connections together; several numbers draw a curve. Without this flag,
    /// each connection sends its next request when it has its answer
    #[arg(long, short, value_name = "NUMBER,…", value_delimiter = ',', value_parser = rate)]
    rate: Vec<f64>,

    /// Open a new connection for each request
    #[arg(long)]
    no_keep_alive: bool,

    /// How many requests a connection may send before their answers arrive
    #[arg(long, value_name = "COUNT", default_value = "1", conflicts_with = "no_keep_alive",
          value_parser = count::<1, 64>)]
    pipeline: usize,

    /// How long a connection waits for an answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    timeout: Duration,

    /// Rude clients beside the polite ones: silent, half (a request), garbage, reset, never-reads, drip
    /// (slow)
    #[arg(long, value_name = "KIND=COUNT,…", value_delimiter = ',', value_parser = rude)]
    rude: Vec<(Rudeness, usize)>,

    /// How long a dripping client waits between two bytes
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = duration)]
    drip: Duration,

    /// Print the results as JSON
    #[arg(long)]
    pub(super) json: bool,

    /// Draw the results and write the picture to a file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,

    /// Allow load on another machine, whose owner has agreed
    #[arg(long, conflicts_with = "stages")]
    pub(super) allow_remote: bool,
}

/// The load, without the server that receives it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Plan {
    /// The numbers of connections; each has its own run. A command can have several numbers of connections
    /// or several rates, but not both.
    pub(crate) connections: Vec<usize>,
    #[serde(rename = "duration_s", serialize_with = "seconds")]
    pub(crate) duration: Duration,
    pub(crate) requests: u64,
    pub(crate) rates: Vec<f64>,
    pub(crate) keep_alive: bool,
    pub(crate) pipeline: usize,
    #[serde(rename = "timeout_s", serialize_with = "seconds")]
    pub(crate) timeout: Duration,
    #[serde(skip)] // the results have the real end
    pub(crate) rude: Vec<(Rudeness, usize)>,
    #[serde(rename = "drip_s", serialize_with = "seconds")]
    pub(crate) drip: Duration,
}

/// The load of a single run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) connections: usize,
    pub(crate) rate: Option<f64>,
}

/// The parameter in which the runs with one server differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Varied {
    Connections,
    Rate,
}

impl LoadArgs {
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let rude: usize = self.rude.iter().map(|(_, count)| count).sum();
        let most = self.connections.iter().copied().max().unwrap_or_default();
        ensure!(
            most + rude <= MOST_CONNECTIONS,
            "{most} polite and {rude} rude clients are more than {MOST_CONNECTIONS}; each is a thread and a socket here"
        );
        ensure!(
            self.connections.len() == 1 || self.rate.len() <= 1,
            "either several numbers of connections or several rates: a curve has one number below it"
        );
        Ok(Plan {
            connections: self.connections.clone(),
            duration: self.duration,
            requests: self.requests as u64,
            rates: self.rate.clone(),
            keep_alive: !self.no_keep_alive,
            pipeline: self.pipeline,
            timeout: self.timeout,
            rude: self.rude.clone(),
            drip: self.drip,
        })
    }
}

impl Plan {
    /// Returns the load of each run, in the order of the runs.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let rates = || {
            if self.rates.is_empty() { vec![None] } else { self.rates.iter().copied().map(Some).collect() }
        };
        let steps = |&connections: &usize| rates().into_iter().map(move |rate| Step { connections, rate });
        self.connections.iter().flat_map(steps).collect()
    }

    /// Returns the parameter in which the runs differ, if there are several runs.
    pub(crate) fn varied(&self) -> Option<Varied> {
        match (self.connections.len(), self.rates.len()) {
            (2.., _) => Some(Varied::Connections),
            (_, 2..) => Some(Varied::Rate),
            _ => None,
        }
    }

    /// Returns a description of the load for the title of the results.
    pub(crate) fn text(&self) -> String {
        let connections = if let [one] = self.connections[..] {
            counted(one, "connection")
        } else {
            let words: Vec<_> = self.connections.iter().map(usize::to_string).collect();
            format!("{} connections", words.join(", "))
        };
        let mut words = vec![connections];
        words.push(if self.keep_alive { "kept alive" } else { "a new one for each request" }.to_owned());
        if self.pipeline > 1 {
            words.push(format!("up to {} requests ahead", self.pipeline));
        }
        words.push(match self.rates[..] {
            [] => "each asking again when it has its answer".to_owned(),
            [rate] => format!("{} a second", counted(rate, "request")),
            _ => {
                let rates: Vec<_> = self.rates.iter().map(f64::to_string).collect();
                format!("{} requests a second", rates.join(", "))
            }
        });
        words.extend(self.rude.iter().map(|(kind, count)| format!("{count} × {}", kind.text())));
        words.join(", ")
    }
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

fn rate(text: &str) -> Result<f64, &'static str> {
    match text.parse() {
        Ok(number) if (0.1..=1_000_000.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0.1 to 1000000"),
    }
}

fn rude(text: &str) -> Result<(Rudeness, usize), String> {
    let expected = "expected KIND=COUNT, such as silent=100";
    let (kind, number) = text.split_once('=').ok_or(expected)?;
    let kind = Rudeness::from_str(kind, true).map_err(|_| {
        let kinds = Rudeness::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<_> = kinds.map(|kind| kind.get_name().to_owned()).collect();
        format!("{expected}; the kinds are {}", names.join(", "))
    })?;
    Ok((kind, count::<1, MOST_CONNECTIONS>(number)?))
}
