//! The command line of `cargo course`: its commands and options, with their help.
//!
//! The command line is a part of the library, because `book check` compares the commands on the pages with
//! this command line.

use crate::load::LoadArgs;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use servers::HostArgs;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The course on task execution and thread pools.
///
/// Without a command it does the same as `serve`: it builds the book, serves it from the course's own thread
/// pool, and prints the address to open in a browser. Ctrl-C stops it.
#[derive(Parser)]
#[command(
    name = "course",
    bin_name = "cargo course",
    version,
    after_help = EXAMPLES
)]
pub struct Course {
    #[command(flatten)]
    pub serve: Serve,

    #[command(flatten)]
    pub place: Place,

    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Course {
    /// Parses the command line of this process. If the command line is wrong, the process ends with a
    /// message.
    pub fn of_this_process() -> Self {
        let mut command = Self::command();
        let matches = command.get_matches_mut();
        let read = Self::is_in_order(&mut command, &matches).and_then(|()| Self::from_arg_matches(&matches));
        read.unwrap_or_else(|error| error.exit())
    }

    /// Checks the options that precede a command. Options for the project may precede any command. Options
    /// for the server are only for `serve`, so they must not precede another command.
    fn is_in_order(command: &mut clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
        let Some(subcommand) = matches.subcommand_name() else { return Ok(()) };
        let is_given = |arg: &&clap::Arg| {
            !arg.is_global_set()
                && matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
        };
        let Some(given) = command.get_arguments().find(is_given).map(ToString::to_string) else {
            return Ok(());
        };
        let said = format!("the argument '{given}' cannot be used before '{subcommand}'");
        Err(command.error(ErrorKind::ArgumentConflict, said))
    }
}

/// An error about a command line that names something that does not exist: an exercise, a property, a
/// mistake, or a hint.
#[derive(Debug)]
pub struct WrongUsage(String);

impl WrongUsage {
    /// Makes a `WrongUsage` error with the message of this error.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub fn of(error: anyhow::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

impl fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

const EXAMPLES: &str = "Examples:
  cargo course                          read the book
  cargo course --addr localhost:9000    … at an address of your choice
  cargo course next                     which exercise to do now, and how
  cargo course check ex01               is the answer right?
  cargo course watch                    … asked again whenever you save
  cargo course hint ex01                a push, not the answer

The exit code is 0 after an orderly end and for a right answer, 1 for a wrong one and if something failed,
2 for wrong usage, 3 if an answer could not be checked, and 130 or 143 if a second Ctrl-C or SIGTERM ended the server at once.";

#[derive(Args)]
pub struct Serve {
    /// Where to listen; port 0 lets the system choose [default: the first free port of 127.0.0.1 from 8000]
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub addr: Option<SocketAddr>,

    #[command(flatten)]
    pub hosts: HostArgs,

    /// How many threads serve connections; each thread serves one connection at a time
    #[arg(long, value_name = "COUNT", default_value = "100", value_parser = command_line::threads::<10_000>)]
    pub threads: NonZeroUsize,
}

#[derive(Args)]
pub struct Place {
    /// The directory into which the project was cloned, if the program does not find it
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Print only ASCII in the commands for exercises [default: if the locale allows only ASCII]
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// An exercise is named by its number, `ex01`, or by its full name.
#[derive(Subcommand)]
pub enum Command {
    /// Build the book and serve it
    Serve(Serve),
    /// Send load to a server; or to stages of the course, to compare them
    Load(LoadArgs),
    /// Show which exercise comes next, and how to do it
    Next {
        /// Only on this way through a part of the course: `evening`, `week`, `core` or `semester`
        ///
        /// Later, `next` without this option follows the way. `--way all` leaves the way.
        #[arg(long, value_name = "WAY")]
        way: Option<String>,
    },
    /// Check an answer: does every property hold, under the model and on real threads?
    ///
    /// Builds only the exercise's package. If an answer hangs, the check ends it, with a message, in less
    /// than half a minute. The exit code is 0 if every checked exercise is solved, 1 if an exercise is not,
    /// and 3 if an exercise could not be checked, for instance because Cargo failed or the disk is full.
    Check {
        /// Which exercises [default: the unsolved exercise that you edited last, or else the next exercise]
        #[arg(value_name = "EXERCISE")]
        exercises: Vec<String>,
        /// Check every exercise
        #[arg(long, conflicts_with = "exercises")]
        all: bool,
        /// Show every failed property in full, not only the first one
        #[arg(long, conflicts_with = "summary")]
        all_messages: bool,
        /// Report as JSON on standard output, for scripts and graders
        #[arg(long)]
        json: bool,
        /// Leave out of the JSON also the schedule of the first failure, and what the answer printed
        #[arg(long, requires = "json")]
        summary: bool,
        /// Check the answers of many students: each entry of this folder is the folder or the file of one
        /// student
        ///
        /// A separate process judges each answer, in a copy of the project. An answer runs with your rights:
        /// judge answers only where they cannot do harm. The page for teachers says how to prevent harm, and
        /// explains the report.
        #[arg(long, value_name = "DIR", conflicts_with_all = ["summary", "all_messages"])]
        submissions: Option<PathBuf>,
        /// With --submissions: how long one answer may take, including the build
        #[arg(long, value_name = "SECONDS", requires = "submissions", default_value = "300")]
        #[arg(value_parser = seconds)]
        time_limit: Duration,
    },
    /// Check an answer now, and again whenever its file is saved, until Ctrl-C
    ///
    /// At a terminal, keys run the other commands: h shows a hint, l lists the exercises, n goes to the next
    /// one, q quits, and Enter checks again.
    Watch {
        /// Only this exercise [default: every exercise that is saved]
        exercise: Option<String>,
    },
    /// Show a hint: first for the property that failed; then a question, a pointer, and nearly the answer
    Hint {
        /// Which exercise [default: as for `check`]
        exercise: Option<String>,
        /// Which hint: 1 to 3, or a property [default: the next hint that you have not seen]
        #[arg(value_name = "HINT")]
        which: Option<String>,
    },
    /// List the exercises and your progress
    List {
        /// Print the list as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Begin an exercise again; your answer is kept beside it
    Reset {
        /// Which exercise [default: as for `check`]
        exercise: Option<String>,
    },
    /// Show a solution and why it is right, after you have solved the exercise or asked twice
    Solution { exercise: String },
    /// Show which property catches which typical mistake, after you have solved the exercise
    ///
    /// With the name of a mistake: show how it differs from the solution, line by line. With --runs (even
    /// before you have solved the exercise): run that wrong answer this many times on real threads and under
    /// the model, and count how often each property catches it. With --put (even before you have solved the
    /// exercise): replace your answer by that wrong answer; a copy of your answer is kept beside it.
    Wrong {
        exercise: String,
        /// The full name of a wrong answer, such as `m01_if_for_while`, or its beginning, `m01`
        mistake: Option<String>,
        /// Only this property [default: all properties; properties that hang on real threads take a while]
        #[arg(requires = "runs")]
        property: Option<String>,
        /// Count how often each property catches the mistake, in this many runs
        #[arg(long, value_name = "COUNT", requires = "mistake")]
        #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
        runs: Option<u32>,
        /// Write the wrong answer into src/exercise.rs
        #[arg(long, requires = "mistake", conflicts_with = "runs")]
        put: bool,
    },
    /// Mend an answer that has one mistake; your own answer is kept beside it
    Mend {
        /// Which task, such as `mend1` [default: the first task that is not done]
        name: Option<String>,
    },
    /// Predict what a piece of code does, and then see what it did
    Predict {
        /// Which task, such as `predict1` [default: the first task that is not done]
        name: Option<String>,
        /// The letter of an option [default: show the question]
        #[arg(value_name = "LETTER")]
        option: Option<String>,
    },
    /// Show the schedule that made an answer fail, and write it as a picture (SVG)
    Explain {
        /// Which exercise [default: as for `check`]
        exercise: Option<String>,
        /// The property to explain [default: the first one that fails]
        property: Option<String>,
    },
    /// Be the scheduler of a small program: choose which thread goes next, until the program breaks
    ///
    /// This command builds nothing. The exit code is 1 if the moves do not lead to the goal.
    Schedule {
        /// Which program, such as schedule1 [default: the first program that is not solved]
        program: Option<String>,
        /// Which threads take a step, one after the other [default: you are asked each time]
        #[arg(value_name = "THREAD")]
        threads: Vec<String>,
    },
    /// Do an experiment of a section "Break it": change the code in a copy of the project, and run it
    ///
    /// At a terminal, the command asks for your prediction first. The experiment changes no file of the
    /// project itself.
    Break {
        /// The page, such as `work-stealing` [default: list the pages]
        page: Option<String>,
        /// The number of the experiment [default: list the experiments of the page]
        number: Option<usize>,
    },
    /// Check whether everything that the course needs is installed, and say what to do if not
    Doctor,
    /// Copy the course for students, without the solutions and the typical mistakes
    ///
    /// The copy contains the files that Git tracks. It leaves out all answers, the page with the solutions,
    /// the exam questions, the proof, and the exercises that need answers to other exercises: exercises with
    /// an answer to mend, and exercises with a test to write.
    Export {
        /// The directory for the copy: it must be empty or not exist yet
        #[arg(long, value_name = "DIR")]
        student: PathBuf,
    },
    /// Print questions for an exam, as Markdown (for teachers)
    ///
    /// The paper and its key have the same questions and the same letters if they are made with the same
    /// seed.
    Exam {
        /// The seed, which decides the choice of questions and the order of their options
        #[arg(long, value_name = "NUMBER", default_value = "1")]
        seed: u64,
        /// How many questions [default: all]
        #[arg(long, value_name = "COUNT")]
        count: Option<usize>,
        /// Only questions about pages of this way through the course, such as `week`
        #[arg(long, value_name = "WAY")]
        way: Option<String>,
        /// Print also the answers, and the reason why each wrong option is wrong
        #[arg(long)]
        key: bool,
    },
    /// Work on the book
    #[command(subcommand)]
    Book(BookCommand),
    /// Run a shell command until it ends, or until standard input says so
    #[cfg(unix)]
    #[command(hide = true)]
    Guard {
        /// Keep the command's standard input open
        #[arg(long)]
        typing: bool,
        command: String,
    },
}

#[derive(Subcommand)]
pub enum BookCommand {
    /// Build the book without serving it, and print the path of its first page
    Build,
    /// Prove that the book agrees with the code and is readable: listings, commands, transcripts, links,
    /// figures
    Check,
    /// Run the commands whose output the book shows, and record what they print
    ///
    /// A transcript is written again only if the new output differs in more than times, dates and ports. The
    /// file book/src/transcripts/record.toml says which commands are run, and what must stay equal. This
    /// command needs a Unix shell and curl.
    Record {
        /// Only these transcripts, such as `pool_of_two.txt` [default: all]
        #[arg(value_name = "FILE")]
        files: Vec<String>,
        /// Change nothing; fail if a transcript would change
        #[arg(long)]
        check: bool,
    },
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a number of seconds".to_owned())
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected HOST:PORT, such as 127.0.0.1:9000";
    let mut found = text.to_socket_addrs().map_err(|error| format!("{expected} ({error})"))?;
    found.next().ok_or_else(|| expected.to_owned())
}
