//! The parts that all stages share besides their lesson: name and statistics, and the graceful stop
//! of the later stages.

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

/// The parts that every stage has besides its execution policy: a name, statistics, and optionally an
/// address at which it is watched.
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
    /// The requests that may stop the stage.
    control: Control,
}

impl<'a> Stage<'a> {
    /// Makes a stage with the name and the description of its command line `C`. With `--watch`, the
    /// stage can be watched from now on.
    ///
    /// # Errors
    ///
    /// Returns a sentence that says what to do, for instance when the address of `--watch` is
    /// taken.
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

    /// Makes the server of the usual site, with the usual limits.
    ///
    /// # Errors
    ///
    /// As [`ServerArgs::site`].
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
    /// Returns a sentence that says what to do, for instance when the port is taken.
    pub fn bind(&self) -> anyhow::Result<Listener> {
        self.bind_with_backlog(BACKLOG)
    }

    /// Starts to listen with [room for `backlog` connections](Listener::bind_with_backlog), but does not yet
    /// print the address.
    ///
    /// # Errors
    ///
    /// As [`bind`](Stage::bind).
    pub fn bind_with_backlog(&self, backlog: u16) -> anyhow::Result<Listener> {
        let listener = Listener::bind_with_backlog(self.args.addr, backlog);
        Ok(self.admit(listener.map_err(|error| self.args.cannot_listen(&error))?))
    }

    /// Starts to listen with [several listeners](Listener::bind_each), but does not yet print the address.
    /// The bound on connections applies to all listeners together.
    ///
    /// # Errors
    ///
    /// As [`bind`](Stage::bind).
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
    /// As [`bind`](Stage::bind).
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

/// Prints a line; an error is ignored, because the server must still serve if nobody reads its output.
fn print_line(line: fmt::Arguments<'_>) {
    let mut stdout = io::stdout();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

/// The flags of every stage that stops gracefully.
#[derive(clap::Args)]
#[command(next_help_heading = "Stop")]
pub struct StopArgs {
    /// Time that requests in progress have to finish when the server is told to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = command_line::duration)]
    grace: Duration,

    #[command(flatten)]
    shutdown: ShutdownArgs,
}

/// A stage that stops gracefully when its token is cancelled, by a signal or by `POST /shutdown`.
pub struct Stoppable<'a> {
    stage: Stage<'a>,
    grace: Grace,
    outcome: Promise<u8>,
    /// Calls the hooks when `main` ends.
    guard: ShutdownGuard,
}

impl<'a> Stoppable<'a> {
    // ANCHOR: stop
    /// Makes a stage, like [`Stage::new`], that stops when it is asked to. After the stop, the stage has
    /// the time that the flags allow, and a little more to tell its clients; then the process ends.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Stage::new`], and an error if the system gives no thread, no descriptor or
    /// no random bytes.
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

    /// Returns the time that the stage has after it is told to stop.
    pub fn grace(&self) -> &Grace {
        &self.grace
    }

    // ANCHOR: control
    /// Makes the server of the usual site, with `POST /shutdown` if the flags allow it.
    /// [`until`](Server::until) describes the stop of this server.
    ///
    /// # Errors
    ///
    /// As [`ServerArgs::site`].
    pub fn server(&self) -> anyhow::Result<Server> {
        let site = self.stage.control.route(self.stage.site()?, self.stop().clone());
        Ok(self.stage.server_of(site))
    }
    // ANCHOR_END: control

    // ANCHOR: outcome
    /// Ends the stage after all clients were served or cut off: passes the exit status to the hook that
    /// waits for it.
    pub fn end(self, status: u8) -> ExitCode {
        let _ = self.outcome.complete(status);
        drop(self.guard); // runs the hooks, if no signal has
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

/// The reason why a stage could not begin: the error that `main` returns.
///
/// The standard library prints the `Debug` form of an error that `main` returns. If `RUST_BACKTRACE` is set,
/// the `Debug` form of [`anyhow::Error`] has a backtrace after its sentence, which helps to find a bug in the
/// program. But a port that is taken is not a bug in the program. So this type prints only the sentences of
/// the error, in one line.
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
