//! Proves the exercises' tests: `cargo run -p exercises-proof`.

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use exercises_proof::{
    Job, NO_VERDICT, Proof, ROUNDS, edits, ledger, matrix, predicted, pristine, through_cargo, work,
    write_graphs, write_list, write_table,
};
use exercises_protocol::{Exercise, Mode, counted};

/// Runs every stub, solution and wrong answer of the exercises, checks the verdicts, and prints which
/// property catches which mistake.
#[derive(Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Args {
    /// Only this exercise: `ex01-worker-pool`, or `ex01`
    exercise: Option<String>,
    /// Prove it for this number of rounds, each with other schedules; if there are twenty or more, write it
    /// into `proven.toml`
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Check only that the learners' files are the stubs, as they are in a clean checkout
    #[arg(long, conflicts_with = "rounds")]
    pristine: bool,
    /// Write the table of properties and the minutes into each README, and the list of exercises
    #[arg(long, conflicts_with_all = ["rounds", "pristine"])]
    tables: bool,
    /// Record the graphs in which a learner plays the scheduler, and write them into `exercises/graphs`
    #[arg(long, conflicts_with_all = ["rounds", "pristine", "tables"])]
    graphs: bool,
    /// Write this wrong answer as a whole file, `wrong/NAME.rs`; a new one is the solution, with the texts
    /// that it needs
    #[arg(long, value_name = "NAME", requires = "exercise", conflicts_with_all = ["rounds", "pristine", "tables"])]
    edit: Option<String>,
    /// Make entries of `wrong.diff` from such files, and remove the files
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "exercise", conflicts_with_all = ["rounds", "pristine", "tables", "edit"])]
    keep: Vec<String>,
    /// The right answer that the entry edits: `r03`, or `solution` [default: the one that differs least]
    #[arg(long, value_name = "NAME", requires = "keep")]
    beside: Option<String>,
    /// Write what was seen of the wrong answers that learners predict: `exercises/seen`
    #[arg(long, conflicts_with_all = ["rounds", "pristine", "tables"])]
    seen: bool,
    /// Have `cargo test` judge each answer, as it would a learner's: slow
    #[arg(long, conflicts_with_all = ["rounds", "pristine"])]
    through_cargo: bool,
    /// Run one job of the proof: mode, exercise, answer, properties
    #[arg(long, hide = true, num_args = 4)]
    run: Option<Vec<String>>,
    /// How often
    #[arg(long, hide = true, requires = "run")]
    runs: Option<usize>,
    /// Run jobs one after the other, as they come on the standard input
    #[arg(long, hide = true)]
    work: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some([mode, exercise, answer, properties]) = args.run.as_deref() {
        let mode = Mode::named(mode).context("no mode is called so")?;
        let Err(error) = (Job { mode, exercise, answer, properties, runs: args.runs }).run_and_exit();
        eprintln!("{error:#}");
        return Ok(ExitCode::from(NO_VERDICT));
    }
    if args.work {
        return work().map(|()| ExitCode::SUCCESS);
    }
    if args.seen {
        let exe = std::env::current_exe().context("cannot find this program's own file")?;
        for (path, text) in predicted(&exe)? {
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.graphs {
        let written = write_graphs(args.exercise.as_deref())?;
        anyhow::ensure!(!written.is_empty(), "no program is from {}", args.exercise.unwrap_or_default());
        println!("written: {}", written.join(", "));
        return Ok(ExitCode::SUCCESS);
    }
    let exercises = exercises_proof::exercises(args.exercise.as_deref())?;
    if let Some(name) = &args.edit {
        println!("{}", edits::edit(&exercises[0], name)?.display());
        return Ok(ExitCode::SUCCESS);
    }
    for name in &args.keep {
        // The wrong answers are read again, because a new entry changes the places of the later entries.
        let exercise = Exercise::read(exercises[0].folder())?;
        println!("{}", edits::keep(&exercise, name, args.beside.as_deref())?);
    }
    if !args.keep.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    if args.tables {
        exercises.iter().try_for_each(write_table)?;
        write_list()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mistakes = if args.pristine {
        pristine(&exercises)?
    } else if args.through_cargo {
        through_cargo(&exercises)?
    } else {
        let exe = std::env::current_exe().context("cannot find this program's own file")?;
        let mut mistakes = Vec::new();
        for exercise in &exercises {
            let proof = Proof::of(exercise, &exe, args.rounds)?;
            match args.rounds {
                None => println!("{}", matrix(exercise, &proof)),
                Some(rounds) if proof.mistakes.is_empty() => {
                    println!("{}: as it should be, rounds 0 to {}", exercise.name, rounds - 1);
                    if rounds >= ROUNDS {
                        write_graphs(Some(&exercise.name))?; // their listings quote the exercise, comments and all
                        ledger::write(exercise)?;
                    }
                }
                Some(_) => {}
            }
            mistakes.extend(proof.mistakes);
        }
        mistakes
    };
    for mistake in &mistakes {
        eprintln!("NOT PROVEN: {mistake}\n");
    }
    if mistakes.is_empty() {
        println!("{}: everything as it should be", counted(exercises.len(), "exercise"));
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}
