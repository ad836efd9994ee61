//! The program `cargo course`: it reads the command line and calls the library.

use command_line::{FAILED, WRONG_USAGE};
#[cfg(feature = "book")]
use course::cli::{BookCommand, Serve};
use course::cli::{Command, Course, WrongUsage};
#[cfg(feature = "book")]
use course::exercises::{Json, Learner, doctor, only_ascii, submissions};
use course::load;
use course::workspace::Workspace;
#[cfg(feature = "book")]
use course::{book, exam, export, serve};
use std::process::ExitCode;

/// The exit code of a check that reached no verdict. A program that grades answers must not treat this code
/// as a wrong answer.
const COULD_NOT_CHECK: u8 = 3;

fn main() -> ExitCode {
    servers::diagnostics::tell_of_panics();
    let course = Course::of_this_process();
    let is_check = matches!(course.command, Some(Command::Check { .. }));
    match run(course) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            let ordinary = if is_check { COULD_NOT_CHECK } else { FAILED };
            ExitCode::from(if error.is::<WrongUsage>() { WRONG_USAGE } else { ordinary })
        }
    }
}

/// Returns whether the command succeeded: a wrong answer is neither an error nor a success.
fn run(course: Course) -> anyhow::Result<bool> {
    let workspace = match course.place.workspace {
        Some(root) => Workspace::at(root)?,
        None => Workspace::find()?,
    };
    obey(&workspace, course.command.unwrap_or(Command::Serve(course.serve)), course.place.ascii)
}

/// Runs the client of `cargo course load`.
#[cfg(not(feature = "book"))]
fn obey(workspace: &Workspace, command: Command, _ascii: bool) -> anyhow::Result<bool> {
    match command {
        Command::Load(args) => load::run(workspace, &args).map(|()| true),
        _ => anyhow::bail!("this program was built to send load, without the book and the exercises"),
    }
}

#[cfg(feature = "book")]
fn obey(workspace: &Workspace, command: Command, ascii: bool) -> anyhow::Result<bool> {
    if ascii {
        only_ascii();
    }
    // The commands `serve` and `load` have their own subscriber and write a log to a file.
    if !matches!(command, Command::Serve(_) | Command::Load(_)) {
        servers::show_diagnostics();
    }
    let learner = || Learner::new(workspace.clone());
    match command {
        Command::Serve(Serve { addr, hosts, threads }) => {
            serve::serve(workspace, addr, &hosts, threads).map(|()| true)
        }
        Command::Load(args) => load::run(workspace, &args).map(|()| true),
        Command::Next { way: None } => learner()?.next(),
        Command::Next { way: Some(way) } => learner()?.next_of(&way),
        Command::Check { exercises, all, json, submissions: Some(dir), time_limit, .. } => {
            submissions::judge(workspace, &dir, &exercises, all, json, time_limit)
        }
        Command::Check { exercises, all, all_messages, json, summary, .. } => {
            let detail = match (summary, all_messages) {
                (true, _) => Json::Summary,
                (false, true) => Json::Whole,
                (false, false) => Json::First,
            };
            let json = json.then_some(detail);
            learner()?.check(&exercises, all, all_messages, json)
        }
        Command::Watch { exercise } => learner()?.watch(exercise.as_deref()),
        Command::Hint { exercise, which } => learner()?.hint(exercise.as_deref(), which.as_deref()),
        Command::List { json } => learner()?.list(json),
        Command::Reset { exercise } => learner()?.reset(exercise.as_deref()),
        Command::Solution { exercise } => learner()?.solution(&exercise),
        Command::Wrong { exercise, mistake: None, .. } => learner()?.wrong(&exercise),
        Command::Wrong { exercise, mistake: Some(mistake), put: true, .. } => {
            learner()?.put_mistake(&exercise, &mistake)
        }
        Command::Wrong { exercise, mistake: Some(mistake), runs: None, .. } => {
            learner()?.show_mistake(&exercise, &mistake)
        }
        Command::Wrong { exercise, mistake: Some(mistake), property, runs: Some(runs), .. } => {
            learner()?.try_mistake(&exercise, &mistake, property.as_deref(), runs)
        }
        Command::Mend { name } => learner()?.mend(name.as_deref()),
        Command::Predict { name, option } => learner()?.predict(name.as_deref(), option.as_deref()),
        Command::Explain { exercise, property } => {
            learner()?.explain(exercise.as_deref(), property.as_deref())
        }
        Command::Schedule { program, threads } => learner()?.schedule(program.as_deref(), &threads),
        Command::Break { page, number } => book::break_it(workspace, page.as_deref(), number).map(|()| true),
        Command::Doctor => Ok(doctor(workspace)),
        Command::Export { student } => {
            export::for_students(workspace, &student)?;
            println!(
                "{} has the course without the answers; try there: cargo course next",
                student.display()
            );
            Ok(true)
        }
        Command::Exam { seed, count, way, key } => exam::print(workspace, seed, count, way.as_deref(), key),
        Command::Book(BookCommand::Build) => {
            println!("{}", book::build(workspace)?.join("index.html").display());
            Ok(true)
        }
        Command::Book(BookCommand::Check) => book::check(workspace),
        Command::Book(BookCommand::Record { files, check }) => book::record(workspace, &files, check),
        #[cfg(unix)]
        Command::Guard { typing, command } => {
            std::process::exit(course::live::guard::guard(&command, typing)?.into())
        }
    }
}
