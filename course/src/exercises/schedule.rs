//! `schedule`: the learner is the scheduler of a small program, and chooses the next thread until the
//! program breaks.
//!
//! Everything that the program can do is in a file ([`Graph`]), which the proof of the exercises has
//! recorded, so nothing is built.

use crate::cli::WrongUsage;
use crate::exercises::{Learner, say};
use anyhow::{Context, ensure};
use exercises_protocol::counted;
use exercises_protocol::graph::{End, FORMAT, Graph, Kind, Move, Program, Stand, State};
use std::fmt::Write as _;
use std::{fs, io};

impl Learner {
    /// `schedule`: plays the given moves. If no moves are given, the command asks for them.
    ///
    /// # Errors
    /// Returns an error if there is no such program or move, or if a file cannot be read.
    pub fn schedule(&mut self, name: Option<&str>, moves: &[String]) -> anyhow::Result<bool> {
        let program = self.task(&self.kinds.schedule, name, |program| &program.name)?.clone();
        let path = program.graph(&self.workspace.exercises());
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let graph: Graph =
            serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(graph.format == FORMAT, "{} has the format {}", path.display(), graph.format);
        let mut game = Game { graph: &graph, distances: graph.distances(program.breaks), way: Vec::new() };
        say(&game.introduction(&program));
        if moves.is_empty() {
            game.ask();
        }
        for text in moves {
            let told = game.go(text).map_err(|refusal| WrongUsage::of(anyhow::Error::msg(refusal)))?;
            say(&told);
        }
        if !moves.is_empty() {
            say(&game.situation());
        }
        if game.is_at_goal() {
            self.progress.solve_task(&program.name)?;
        }
        Ok(game.is_at_goal() || game.state().end.is_none())
    }
}

/// A game in progress.
struct Game<'a> {
    graph: &'a Graph,
    /// The number of moves from each state to the goal.
    distances: Vec<Option<usize>>,
    /// The moves that were made so far.
    way: Vec<&'a Move>,
}

impl<'a> Game<'a> {
    fn at(&self) -> usize {
        self.way.last().map_or(0, |step| step.to)
    }

    fn state(&self) -> &'a State {
        &self.graph.states[self.at()]
    }

    fn is_at_goal(&self) -> bool {
        self.distances[self.at()] == Some(0)
    }

    /// Returns a description of the code, the threads and the goal.
    fn introduction(&self, program: &Program) -> String {
        let mut text = format!("{}: {}\n\n", program.name, self.graph.title);
        let mut next = None;
        for line in &self.graph.listing {
            if next.is_some_and(|next| next != line.number) {
                text.push_str("      …\n");
            }
            next = Some(line.number + 1);
            let _ = writeln!(text, "{}", format!("{:>5} {}", line.number, line.text).trim_end());
        }
        text.push('\n');
        for (n, thread) in self.graph.threads.iter().enumerate() {
            let _ = writeln!(text, "thread {}, {}: {}", n + 1, thread.name, thread.runs);
        }
        let _ = writeln!(text, "\nYou are the scheduler. Bring this about: {}\n", self.graph.goal);
        text
    }

    /// Asks again and again which thread is next, until the goal is reached or the input ends.
    fn ask(&mut self) {
        let mut lines = io::stdin().lines();
        say(&self.situation());
        while !self.is_at_goal() {
            say("Who goes next? (b back, ? hint, q quit) ");
            let Some(Ok(line)) = lines.next() else { return say("\n") };
            match line.trim() {
                "q" => return,
                "?" => say(&self.hint()),
                "b" => match self.way.pop() {
                    Some(_) => say(&self.situation()),
                    None => say("This is the beginning.\n"),
                },
                text => match self.go(text) {
                    Ok(told) => say(&format!("\n{told}{}", self.situation())),
                    Err(refusal) => say(&format!("{refusal}\n")),
                },
            }
        }
    }

    /// Returns the possible moves, each with the text that the learner types for it: `2`, or `2a` and
    /// `2b` if the thread can wake one of two threads.
    fn choices(&self) -> Vec<(String, &'a Move)> {
        let moves = &self.state().moves;
        let mut choices: Vec<(String, &Move)> = Vec::new();
        for step in moves {
            let of_it = moves.iter().filter(|other| other.thread == step.thread).count();
            let before = choices.iter().filter(|(_, other)| other.thread == step.thread).count();
            let letter = if of_it > 1 { ('a'..).nth(before) } else { None };
            choices
                .push((format!("{}{}", step.thread + 1, letter.map(String::from).unwrap_or_default()), step));
        }
        choices
    }

    /// Lets a thread take a step, and returns the step. The error says why the thread cannot make a step.
    fn go(&mut self, text: &str) -> Result<String, String> {
        let threads = &self.graph.threads;
        let choices = self.choices();
        if let Some((_, step)) = choices.iter().find(|(typed, _)| typed == text) {
            self.way.push(step);
            return Ok(format!("{}: {}\n", threads[step.thread].name, step.text));
        }
        let thread = text.parse().ok().filter(|number| (1..=threads.len()).contains(number));
        let thread =
            thread.ok_or_else(|| format!("`{text}` is no thread: there are 1 to {}", threads.len()))? - 1;
        let (name, next) = (&threads[thread].name, &self.state().threads[thread].next);
        let ways: Vec<&str> = choices
            .iter()
            .filter(|(_, step)| step.thread == thread)
            .map(|(typed, _)| typed.as_str())
            .collect();
        Err(if ways.is_empty() {
            format!("{name} cannot go on: it {next}")
        } else {
            format!("{name} can go on in several ways: {}", ways.join(" or "))
        })
    }

    fn hint(&self) -> String {
        match self.distances[self.at()] {
            Some(moves) => format!("From here it takes {} at least.\n", counted(moves, "move")),
            None => "From here the goal cannot be reached any more: b takes a move back.\n".into(),
        }
    }

    /// Returns the place in the code that each thread has reached, or how the thread has ended.
    fn situation(&self) -> String {
        let width = self.graph.threads.iter().map(|thread| thread.name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let mut add = |typed: &str, name: &str, what: &str| {
            let _ = writeln!(text, "  {typed:2}  {name:width$}  {what}");
        };
        let choices = self.choices();
        for (n, (thread, Stand { next, .. })) in
            self.graph.threads.iter().zip(&self.state().threads).enumerate()
        {
            let own: Vec<_> = choices.iter().filter(|(_, step)| step.thread == n).collect();
            for (typed, step) in &own {
                // The learner sees the result of a step only after the step. There is one exception: if the
                // learner chooses which thread a step wakes, that thread is shown before the step.
                let what =
                    if own.len() > 1 { format!("next: {}", step.text) } else { self.preview(next, step) };
                add(typed, &thread.name, &what);
            }
            if own.is_empty() {
                add("·", &thread.name, next);
            }
        }
        let Some(End { kind, text: end }) = &self.state().end else { return text };
        let _ = match kind {
            Kind::Deadlock => writeln!(text, "\nNo thread can go on: {end}."),
            Kind::BrokenPromise => writeln!(text, "\nAll threads have ended, and {end}."),
            Kind::Ended | Kind::Panic => writeln!(text, "\nThe end: {end}."),
        };
        let moves = counted(self.way.len(), "move");
        let _ = match (self.is_at_goal(), self.distances[0]) {
            (true, Some(least)) => writeln!(text, "That is it, after {moves}. The least is {least}."),
            _ => writeln!(text, "That is not what was asked for, after {moves}."),
        };
        text
    }

    /// Returns the beginning of a step's description, with the line of the step in the listing.
    fn preview(&self, next: &str, step: &Move) -> String {
        let shown = step.line.and_then(|line| self.graph.listing.iter().find(|shown| shown.number == line));
        let code = shown.map(|shown| format!(" :{}  {}", shown.number, shown.text.trim()));
        format!("next: {next}{}", code.unwrap_or_default())
    }
}
