//! The text that a learner reads after a check.

use crate::exercises::check::{Checked, Report, Verdict};
use crate::exercises::stage::Stage;
use crate::exercises::{Style, style};
use crate::workspace::Workspace;
use exercises_protocol::{Exercise, paragraph};
use std::fmt::Write as _;

/// Writes the report for a terminal: the verdict, each property, and the first failure in full; with
/// `all`, every failure in full.
pub(super) fn text(
    workspace: &Workspace,
    exercise: &Exercise,
    report: &Report,
    all: bool,
    style: Style,
) -> String {
    let (short, file) = (exercise.short(), workspace.relative(&exercise.answer()));
    if report.verdict == Verdict::DoesNotCompile {
        return format!(
            "{}{}\n\n{file} does not compile yet. The compiler's first message is the one to begin with.\n",
            report.compiler,
            style.bad(&format!("{}: not tested", exercise.name))
        );
    }
    if report.verdict == Verdict::CouldNotCheck {
        return format!(
            "{}\n\n{}\n\nThis says nothing about your answer. `cargo course doctor` looks for what is missing.\n",
            style.bad(&format!("{}: could not be checked", exercise.name)),
            report.reason
        );
    }
    let mut text = summary(exercise, report, style);
    if report.verdict == Verdict::Solved {
        text.push_str(&solved(exercise, report));
        return text;
    }
    let is_done = report.stage(exercise, 1).is_some_and(Stage::is_done);
    if let Some(asks) = exercise.second_stage.as_ref().filter(|_| is_done) {
        let _ = writeln!(text, "\n{}", style.good("The first stage is done: all of its properties hold."));
        text.push_str(&paragraph("", asks));
    }
    let failures = report.failures(exercise);
    for (checked, mode, failure) in failures.iter().take(if all { usize::MAX } else { 1 }) {
        text.push_str(&failure.message(&checked.name, *mode, style::terminal()));
    }
    text.push_str(&notes(report));
    let drawn = failures.iter().any(|(_, _, failure)| failure.can_be_drawn());
    text.push('\n');
    if !exercise.is_begun() {
        let _ = writeln!(text, "Nothing is written yet: this is the stub, and every todo!() in it fails.");
        text.push_str(&paragraph("It needs", &exercise.needs.join("; ")));
    } else if failures.len() > 1 && !all {
        let _ = writeln!(
            text,
            "This is the one to begin with; mending it often mends others. `--all-messages` shows all."
        );
    }
    let _ = writeln!(
        text,
        "Edit {file}, then: cargo course check {short}\nA hint: cargo course hint {short}{}",
        if drawn {
            format!("\nThe failure as a picture: cargo course explain {short}")
        } else {
            String::new()
        }
    );
    text
}

fn summary(exercise: &Exercise, report: &Report, style: Style) -> String {
    let holding = report.properties.iter().filter(|checked| checked.holds()).count();
    let all = report.properties.len();
    let verdict = format!("{}: {holding} of {all} properties hold", exercise.name);
    let verdict = if holding == all { style.good(&verdict) } else { style.bad(&verdict) };
    let mut text = format!("{verdict}\n");
    let only_aside = report.failures(exercise).iter().all(|(_, _, failure)| failure.aside);
    let mut properties: Vec<&Checked> = report.properties.iter().collect();
    properties.sort_by_key(|checked| checked.stage); // a stable sort: keeps the order within a stage
    let mut before = None;
    for checked in properties {
        if before.replace(checked.stage) != Some(checked.stage) {
            let stage = report.stage(exercise, checked.stage);
            let _ = writeln!(text, "{}", stage.map_or(String::new(), |stage| format!("\n{stage}")));
        }
        let (word, rest) = match (checked.holds(), checked.failure()) {
            (true, _) => (style.good("holds"), String::new()),
            (false, Some((_, failure))) if failure.aside && !only_aside => {
                ("     ".into(), "  (as far as it came: what another one is about ended it)".into())
            }
            (false, Some((mode, _))) => (style.bad("FAILS"), format!("  ({})", mode.place())),
            (false, None) => ("     ".into(), "  (not tried: another one did not end)".into()),
        };
        let _ = writeln!(text, "  {word}  {}{rest}", checked.name);
    }
    text
}

/// Returns the notes on the answer, each in a separate paragraph.
fn notes(report: &Report) -> String {
    let mut text = String::new();
    for note in &report.notes {
        let _ = write!(text, "\n{}", paragraph("note    ", note));
    }
    text
}

fn solved(exercise: &Exercise, report: &Report) -> String {
    let short = exercise.short();
    let mut text = "\nSolved. Neither the model nor real threads found a way to break it.\n".to_owned();
    text.push_str(&notes(report));
    text.push('\n');
    text.push_str(&paragraph("To think about", &exercise.afterwards));
    text.push('\n');
    if !exercise.wrong.is_empty() {
        let _ = writeln!(text, "Which mistakes you did not make: cargo course wrong {short}");
    }
    if exercise.solution().is_file() {
        let _ = writeln!(text, "A solution, and why it is right: cargo course solution {short}");
    }
    text.push_str("What comes next:                cargo course next\n");
    text
}
