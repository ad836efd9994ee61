//! The live course: readers run the commands of the book from the pages of the book.
//!
//! A page asks for commands by the names of their transcripts or experiments, and the
//! [recipes](crate::book::recipes) say which commands these are. So only commands of the book can be run.
//!
//! | request | answer |
//! |---|---|
//! | `GET /live/session.json` | the token, which transcripts belong to one server, and the pages with a solved exercise |
//! | `POST /live/start?of=a.txt,b.txt` | the number of a run of these commands, one after the other |
//! | `GET /live/run?run=7&seen=12` | what the run has printed after its first 12 lines, and how it stands |
//! | `POST /live/stop?run=7` | nothing |
//!
//! No request waits for a command, because the page polls. So a run uses no thread of the pool that serves
//! the book.
//!
//! # Who may
//!
//! A command runs with the rights of the reader, and each page in the reader's browser can send requests. So
//! these paths exist only if the server listens on a loopback address, and each request must pass the checks of
//! [`Control::ThisMachine`]. A request that changes something also needs the token, which only pages of this server
//! can read. Another user of this machine can read the token too, and can then run what the book shows.
//!
//! # What a run may use
//!
//! There are at most [`AT_ONCE`] runs at a time; a run may print a mebibyte, and each command may take
//! [`PATIENCE`]. A command runs under a [guard], which ends it with all its processes. The files that the
//! command writes go to a folder that is removed when the run ends.

#![expect(clippy::result_large_err, reason = "a refusal is an answer, and is sent at once")]

mod child;
pub mod guard;
mod perform;
mod run;

use self::child::Starter;
use self::perform::{Performance, Recipe};
use self::run::Run;
use crate::book::breaks;
use crate::book::recipes::{Recipes, Server};
use crate::exercises::catalogue;
use crate::exercises::progress::Progress;
use crate::workspace::Workspace;
use anyhow::Context;
use executor::{ExecutorExt, ExecutorService, ThreadPoolExecutor};
use rustix::process::{Pid, test_kill_process};
use serde_json::json;
use servers::Site;
use servers::control::{self, Control};
use servers::http::{Request, Response, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The beginning of the path, in the target directory, of the folder to which the commands of a process
/// write. The path ends with the process ID.
const FOLDER: &str = "course/live-";

/// The largest number of runs at a time.
const AT_ONCE: usize = 4;

/// How many runs are remembered. A page that asks for an older run is told that it is too late.
const REMEMBERED: usize = 32;

/// The time limit for a command; a build counts as a separate command.
const PATIENCE: Duration = Duration::from_mins(10);

/// The time for which the course, at its end, waits until the killed commands have ended.
const LAST_MOMENT: Duration = Duration::from_secs(5);

/// The runs of this process, and the data that these runs need.
pub(crate) struct Live {
    workspace: Workspace,
    starter: Starter,
    token: String,
    recipes: LazyLock<anyhow::Result<Known>, Box<dyn FnOnce() -> anyhow::Result<Known> + Send>>,
    runs: Mutex<BTreeMap<usize, Arc<Run>>>,
}

impl Live {
    /// Makes the live course of a server that listens on this address; the live course has no run yet.
    /// Returns `None` if other machines may reach the address.
    ///
    /// # Errors
    /// Returns an error if the system has no random bytes for a token, or does not know this program's path.
    pub(crate) fn on(workspace: &Workspace, addr: SocketAddr) -> anyhow::Result<Option<Arc<Self>>> {
        if !addr.ip().to_canonical().is_loopback() {
            return Ok(None);
        }
        let sources = workspace.book().join("src");
        let recipes: Box<dyn FnOnce() -> _ + Send> = Box::new(move || Known::of(&sources));
        let guard = std::env::current_exe().context("the path of this program is unknown")?;
        let starter = Starter { guard, patience: PATIENCE, pool: ThreadPoolExecutor::cached() };
        Ok(Some(Arc::new(Self {
            workspace: workspace.clone(),
            starter,
            token: control::new_token()?,
            recipes: LazyLock::new(recipes),
            runs: Mutex::default(),
        })))
    }

    /// Adds the paths of the live course to a site.
    pub(crate) fn routes(self: &Arc<Self>, site: Site) -> Site {
        type Answer = fn(&Arc<Live>, &Request<'_>) -> Result<Response, Response>;
        let checked = |changes: bool, answer: Answer| {
            let live = Arc::clone(self);
            move |request: &Request<'_>| {
                let allowed = live.check(request, changes);
                let answer = allowed.and_then(|()| answer(&live, request)).unwrap_or_else(|refusal| refusal);
                answer.header("Cache-Control", "no-store")
            }
        };
        site.route("/live/session.json", &["GET"], "for pages of the book", checked(false, Self::session))
            .route("/live/start", &["POST"], "runs commands of the book", checked(true, Self::start))
            .route("/live/run", &["GET"], "what a run has printed", checked(false, Self::look))
            .route("/live/stop", &["POST"], "interrupts a run", checked(true, Self::stop))
    }

    fn check(&self, request: &Request<'_>, changes: bool) -> Result<(), Response> {
        Control::ThisMachine.check(request)?;
        if changes { Control::Token(self.token.clone()).check(request) } else { Ok(()) }
    }

    fn recipes(&self) -> Result<&Known, Response> {
        self.recipes.as_ref().map_err(|error| {
            Response::error(Status::InternalServerError, &format!("the recipes cannot be read: {error:#}"))
        })
    }

    fn session(self: &Arc<Self>, _: &Request<'_>) -> Result<Response, Response> {
        let servers: Vec<_> =
            self.recipes()?.recipes.server.iter().map(|server| files(server).collect::<Vec<_>>()).collect();
        Ok(Response::json(&json!({ "token": self.token, "servers": servers, "solved": self.solved_pages() })))
    }

    /// Returns the pages, such as `overload.html`, that explain an exercise which the reader has solved. A
    /// page needs this list only to mark pages. So a page gets an empty list if the progress or the exercises
    /// cannot be read.
    fn solved_pages(&self) -> BTreeSet<String> {
        let read = || anyhow::Ok((Progress::read(&self.workspace)?, catalogue::all(&self.workspace)?));
        let Ok((progress, exercises)) = read() else { return BTreeSet::new() };
        let solved = exercises.into_iter().filter(|exercise| progress.is_solved(exercise));
        let page = |chapter: String| chapter.strip_suffix(".md").map(|name| format!("{name}.html"));
        solved.flat_map(|exercise| exercise.chapters).filter_map(page).collect()
    }

    fn start(self: &Arc<Self>, request: &Request<'_>) -> Result<Response, Response> {
        let files = request.query_value("of").unwrap_or_default();
        let unknown =
            |file| Response::error(Status::NotFound, &format!("the book has no transcript `{file}`"));
        let recipes = self.recipes()?;
        let files: Vec<String> = files.split(',').map(str::to_owned).collect();
        for file in &files {
            recipes.named(file).ok_or_else(|| unknown(file))?;
        }
        let run = Arc::new(Run::new());
        let number = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            if runs.values().filter(|run| !run.has_ended()).count() >= AT_ONCE {
                let what = format!("{AT_ONCE} runs go on already; stop one, or wait until one has ended");
                return Err(Response::error(Status::ServiceUnavailable, &what));
            }
            let number = runs.last_key_value().map_or(1, |(last, _)| last + 1);
            let old = runs.iter().find(|(_, run)| run.has_ended()).map(|(number, _)| *number);
            old.filter(|_| runs.len() >= REMEMBERED).and_then(|old| runs.remove(&old));
            runs.insert(number, Arc::clone(&run));
            number
        };
        let (live, performed) = (Arc::clone(self), Arc::clone(&run));
        let performed = self.starter.pool.submit(move || live.perform(number, &performed, &files));
        let performed =
            performed.map_err(|_| Response::error(Status::ServiceUnavailable, "the course is ending"))?;
        performed.on_done(move |done| run.end(done.map_err(anyhow::Error::from).flatten()));
        Ok(Response::json(&json!({ "run": number })))
    }

    fn perform(&self, number: usize, run: &Arc<Run>, files: &[String]) -> anyhow::Result<()> {
        self.remove_left_behind();
        let scratch = format!("{FOLDER}{}/{number}", std::process::id());
        let path = self.workspace.target().join(&scratch);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let (workspace, starter) = (&self.workspace, &self.starter);
        let performance = Performance { workspace, starter, run, scratch };
        let recipes = self.recipes.as_ref().ok().into_iter();
        let mut of_files = recipes.flat_map(|recipes| files.iter().filter_map(|file| recipes.named(file)));
        let performed = of_files.try_for_each(|recipe| performance.of(recipe));
        let removed = fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()));
        performed.and(removed)
    }

    fn run(&self, request: &Request<'_>) -> Result<Arc<Run>, Response> {
        let number = request.query_value("run").and_then(|number| number.parse().ok());
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let run = number.and_then(|number: usize| runs.get(&number)).cloned();
        run.ok_or_else(|| Response::error(Status::NotFound, "there is no such run, or it is forgotten"))
    }

    fn look(self: &Arc<Self>, request: &Request<'_>) -> Result<Response, Response> {
        let seen = request.query_value("seen").and_then(|seen| seen.parse().ok()).unwrap_or_default();
        Ok(Response::json(&self.run(request)?.since(seen)))
    }

    fn stop(self: &Arc<Self>, request: &Request<'_>) -> Result<Response, Response> {
        self.run(request)?.interrupt("stopped");
        Ok(Response::no_content())
    }

    /// Kills all commands, waits until they have ended, and removes the files that they have left.
    pub(crate) fn end(&self) {
        for run in self.runs.lock().unwrap_or_else(PoisonError::into_inner).values() {
            run.kill("the course ended");
        }
        self.starter.pool.shutdown();
        self.starter.pool.await_termination(LAST_MOMENT);
        let _ = fs::remove_dir(self.workspace.target().join(format!("{FOLDER}{}", std::process::id())));
    }

    /// Removes the folders of processes that were killed.
    fn remove_left_behind(&self) {
        let folder = self.workspace.target().join(FOLDER);
        let (Some(parent), Some(start)) = (folder.parent(), folder.file_name()) else { return };
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(start.to_str()?)?.parse().ok());
            if process.and_then(Pid::from_raw).is_some_and(|process| test_kill_process(process).is_err()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// What the book can run.
struct Known {
    recipes: Recipes,
    /// The commands of the experiments, by the names that pages use.
    experiments: BTreeMap<String, String>,
}

impl Known {
    fn of(sources: &Path) -> anyhow::Result<Self> {
        let recipes = Recipes::read(sources, "transcripts")?;
        Ok(Self { recipes, experiments: breaks::commands(sources)? })
    }

    /// Returns the recipe for printing a transcript or for doing an experiment.
    fn named(&self, name: &str) -> Option<Recipe<'_>> {
        let has = |server: &&Server| files(server).any(|file| file == name);
        let Recipes { run, server, .. } = &self.recipes;
        let experiment = self.experiments.get(name).map(|command| Recipe::Experiment(command));
        experiment
            .or_else(|| run.iter().find(|run| run.file.as_deref() == Some(name)).map(Recipe::Run))
            .or_else(|| server.iter().find(has).map(Recipe::Server))
    }
}

/// Returns the transcripts of a server and its clients.
fn files(server: &Server) -> impl Iterator<Item = &str> {
    let steps = server.step.iter().filter_map(|step| step.file.as_deref());
    server.file.as_deref().into_iter().chain(steps).chain(server.log.as_deref())
}
