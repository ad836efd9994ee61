#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod args;
pub use args::ServerArgs;

mod listener;
pub use listener::{Incoming, Listener, announce};

mod crowd;
pub use crowd::Crowd;

mod connection;
pub use connection::Connection;

mod leaving;
pub use leaving::Leaving;

mod pace;

mod client;
mod writer;

mod staying;

pub mod server;
pub use server::Server;

pub mod reactor;
pub use reactor::Reactor;

pub mod http;

mod hosts;
pub use hosts::{HostArgs, Hosts};

pub mod site;
pub use site::Site;

pub mod stats;
pub use stats::Stats;

mod watch;

mod stage;
pub use stage::{Stage, StopArgs, Stoppable};

mod failure;
pub use failure::Failure;

pub mod control;

pub mod files;
pub use files::Files;

pub mod limits;
pub use limits::Limits;

mod access_log;
pub use access_log::{ACCESS, AccessLog};

pub mod diagnostics;
pub use diagnostics::{report, show_diagnostics};

mod stderr;

pub mod signals;

pub mod ending;
