#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod limits;
pub use limits::Limits;

pub mod http;

mod stderr;

mod access_log;
pub use access_log::{ACCESS, AccessLog};

pub mod diagnostics;
pub use diagnostics::{report, show_diagnostics};

pub mod stats;
pub use stats::Stats;

mod crowd;
pub use crowd::Crowd;

mod lingering;

mod turned_away;
pub use turned_away::TurnedAway;

mod write_budget;

mod client;

mod connection;
pub use connection::Connection;

mod listener;
pub use listener::{Incoming, Listener};

mod hosts;
pub use hosts::{HostArgs, Hosts};

pub mod files;
pub use files::Files;

pub mod site;
pub use site::Site;

pub mod args;
pub use args::ServerArgs;

mod keep_alive;

pub mod server;
pub use server::Server;

pub mod ending;

pub mod reactor;
pub use reactor::Reactor;

mod watch;

pub mod signals;

pub mod control;

mod stage;
pub use stage::{Failure, Stage, StopArgs, Stoppable};
