//! What all stages share: name and statistics, and for the later stages the graceful stop.

use crate::args::ServerArgs;
use crate::control::{Control, ShutdownArgs};
use crate::crowd::Crowd;
use crate::ending::{CUT_OFF, Grace, LAST_WORDS};
use crate::listener::{BACKLOG, Listener};
use crate::server::Server;
use crate::signals;
use crate::site::Site;
use crate::stats::{Board, Stats, family};
use crate::watch;
use anyhow::Error;
use clap::CommandFactory;
use executor::shutdown_hooks::ShutdownGuard;
use executor::{CancelToken, Promise};
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::Deref;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// What every stage has besides its execution policy: a name, statistics, and perhaps an address for watching
/// it.
pub struct Stage<'a> {
    args: &'a ServerArgs,
    name: String,
    what: String,
    stats: Arc<Stats>,
    crowd: Crowd,
    /// The board for `--watch`, if the stage is watched.
    board: Option<Arc<Board>>,
    watched_at: Option<SocketAddr>,
    stop: CancelToken,
    /// Which requests may stop the stage.
    control: Control,
}

impl<'a> Stage<'a> {
    /// Makes a stage whose name and description come from its command line `C`. With `--watch`, the stage can
    /// be watched from this moment on.
    ///
    /// # Errors
    ///
    /// Returns an error, for instance if the address of `--watch` is taken; its message says what to do.
    pub fn new<C: CommandFactory>(args: &'a ServerArgs, stats: Stats) -> anyhow::Result<Stage<'a>> {
        let command = C::command();
        let name = command.get_name().to_owned();
        let what = command.get_about().map(ToString::to_string).unwrap_or_default();
        let (stop, stats) = (CancelToken::new(), Arc::new(stats));
        let crowd = Crowd::of_at_most(args.limits.max_connections.get());
        let (called, asked, counted) = (name.clone(), stop.clone(), crowd.clone());
        stats.add(move |samples| {
            samples.word(&family::STAGE, &called);
            samples.word(&family::STATE, if asked.is_cancelled() { "stopping" } else { "running" });
            counted.measure(samples);
        });
        let board = args.watch.map(|_| Arc::<Board>::default());
        let watched_at = match (args.watch, &board) {
            (Some(addr), Some(board)) => Some(watch::begin(addr, &args.hosts, &stats, board)?),
            _ => None,
        };
        Ok(Stage { args, name, what, stats, crowd, board, watched_at, stop, control: Control::Nobody })
    }

    /// Returns the statistics of the stage.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Makes the server of the default site, with the limits of the command line.
    ///
    /// # Errors
    ///
    /// The same errors as [`ServerArgs::site`].
    pub fn server(&self) -> anyhow::Result<Server> {
        Ok(self.server_of(self.site()?))
    }

    fn site(&self) -> anyhow::Result<Site> {
        Ok(self.args.site()?.with_stats(&self.stats).called(&self.name, &self.what))
    }

    fn server_of(&self, site: Site) -> Server {
        let server = Server::new(site, self.args.limits.clone(), self.args.log());
        let (tally, room) = (Arc::clone(&server.tally), server.room().clone());
        self.stats.add(move |samples| {
            tally.measure(samples);
            samples.count(&family::BODY_MEMORY, room.held() as u64);
        });
        server.watched_on(self.board.clone())
    }

    /// Starts to listen, but does not yet print the address.
    ///
    /// # Errors
    ///
    /// Returns an error, for instance if the port is taken; its message says what to do.
    pub fn bind(&self) -> anyhow::Result<Listener> {
        self.bind_with_backlog(BACKLOG)
    }

    /// Starts to listen with [room for `backlog` connections](Listener::bind_with_backlog), but does not yet
    /// print the address.
    ///
    /// # Errors
    ///
    /// The same errors as [`bind`](Stage::bind).
    pub fn bind_with_backlog(&self, backlog: u16) -> anyhow::Result<Listener> {
        let listener = Listener::bind_with_backlog(self.args.addr, backlog);
        Ok(self.admit(listener.map_err(|error| self.args.cannot_listen(&error))?))
    }

    /// Starts to listen with [several listeners](Listener::bind_each), but does not yet print the address.
    /// The bound on connections applies to all listeners together.
    ///
    /// # Errors
    ///
    /// The same errors as [`bind`](Stage::bind).
    pub fn bind_each(&self, count: usize) -> anyhow::Result<Vec<Listener>> {
        let listeners = Listener::bind_each(self.args.addr, count);
        let listeners = listeners.map_err(|error| self.args.cannot_listen(&error))?;
        Ok(listeners.into_iter().map(|listener| self.admit(listener)).collect())
    }

    fn admit(&self, listener: Listener) -> Listener {
        listener.admitting(&self.crowd)
    }

    /// Starts to listen, and prints the address.
    ///
    /// # Errors
    ///
    /// The same errors as [`bind`](Stage::bind).
    pub fn listen(&self) -> anyhow::Result<Listener> {
        let listener = self.bind()?;
        self.announce(listener.local_addr());
        Ok(listener)
    }

    /// Prints the address of a listener as the first line of output. Then prints the token of `POST
    /// /shutdown`, if there is one, and the address of `--watch`.
    pub fn announce(&self, addr: SocketAddr) {
        print_line(format_args!("listening on http://{addr}/"));
        if let Control::Token(token) = &self.control {
            print_line(format_args!("shutdown token: {token}"));
        }
        if let Some(watch) = self.watched_at {
            print_line(format_args!("watch on http://{watch}/"));
        }
    }
}

/// Prints a line; ignores an error, because the server must still serve if its output has no reader.
fn print_line(line: fmt::Arguments<'_>) {
    let mut stdout = io::stdout();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

/// The flags of every stage that stops gracefully.
#[derive(clap::Args)]
#[command(next_help_heading = "Stop")]
pub struct StopArgs {
    /// Time that requests in progress have after the server is told to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = command_line::duration)]
    grace: Duration,

    #[command(flatten)]
    shutdown: ShutdownArgs,
}

/// A stage that stops gracefully when a signal or `POST /shutdown` cancels its token.
pub struct Stoppable<'a> {
    stage: Stage<'a>,
    grace: Grace,
    outcome: Promise<u8>,
    /// Runs the shutdown hooks when `main` ends.
    guard: ShutdownGuard,
}

impl<'a> Stoppable<'a> {
    // ANCHOR: stop
    /// Makes a stage in the same way as [`Stage::new`], but this stage can be stopped. After the stop, the
    /// stage has the time that the flags allow, and a little more time to tell its clients; then the process
    /// ends.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Stage::new`], and an error if the system cannot start a thread or has no
    /// descriptors or random bytes.
    pub fn new<C: CommandFactory>(
        args: &'a ServerArgs,
        flags: &StopArgs,
        stats: Stats,
    ) -> anyhow::Result<Stoppable<'a>> {
        let mut stage = Stage::new::<C>(args, stats)?;
        let (guard, outcome) = signals::stop_on_signal(&stage.stop, flags.grace + LAST_WORDS, CUT_OFF)?;
        let grace = Grace::after(&stage.stop, flags.grace);
        stage.control = flags.shutdown.control()?;
        Ok(Stoppable { stage, grace, outcome, guard })
    }
    // ANCHOR_END: stop

    /// Returns the token that is cancelled when the stage must stop.
    pub fn stop(&self) -> &CancelToken {
        &self.stage.stop
    }

    /// Returns how much time the stage has after it is told to stop.
    pub fn grace(&self) -> &Grace {
        &self.grace
    }

    // ANCHOR: control
    /// Makes the server of the default site, with `POST /shutdown` if the flags allow it.
    /// [`until`](Server::until) describes how this server stops.
    ///
    /// # Errors
    ///
    /// The same errors as [`ServerArgs::site`].
    pub fn server(&self) -> anyhow::Result<Server> {
        let site = self.stage.control.route(self.stage.site()?, self.stop().clone());
        Ok(self.stage.server_of(site))
    }
    // ANCHOR_END: control

    // ANCHOR: outcome
    /// Ends the stage after all clients were served or cut off: passes the exit status to the shutdown hook
    /// that waits for this status.
    pub fn end(self, status: u8) -> ExitCode {
        let _ = self.outcome.complete(status);
        drop(self.guard); // runs the hooks, unless a signal has already run them
        ExitCode::from(status)
    }
    // ANCHOR_END: outcome
}

impl<'a> Deref for Stoppable<'a> {
    type Target = Stage<'a>;

    fn deref(&self) -> &Stage<'a> {
        &self.stage
    }
}

/// The error that `main` returns if a stage could not begin.
///
/// The standard library prints the `Debug` form of such an error. If `RUST_BACKTRACE` is set,
/// [`anyhow::Error`] prints a backtrace after its message, which helps to find a bug in the program. But if
/// the port is taken, this is not a bug in the program. So this type prints only the messages of the error,
/// in one line.
pub struct Failure(Error);

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}
