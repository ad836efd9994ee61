//! What a learner reads after a check.

use crate::exercises::check::{Checked, Failure, Mode, Report, Verdict};
use crate::exercises::{Exercise, Style};
use crate::workspace::Workspace;
use std::fmt::Write as _;

/// How wide text is set.
const WIDTH: usize = 100;

/// The report for a terminal: the verdict, each property, and the first failure in full; with `all`, every failure.
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
    let mut text = summary(exercise, report, style);
    if report.verdict == Verdict::Solved {
        text.push_str(&solved(exercise));
        return text;
    }
    let failures = report.properties.iter().filter_map(|checked| Some((checked, checked.failure()?)));
    for (checked, (mode, failure)) in failures.take(if all { usize::MAX } else { 1 }) {
        text.push_str(&message(checked, mode, failure, style));
    }
    let drawn =
        report.properties.iter().filter_map(Checked::failure).any(|(_, failure)| failure.can_be_drawn());
    let failing = report.properties.iter().filter(|checked| checked.failure().is_some()).count();
    text.push('\n');
    if !exercise.is_begun() {
        let _ = writeln!(text, "Nothing is written yet: this is the stub, and every todo!() in it fails.");
    } else if failing > 1 && !all {
        let _ = writeln!(
            text,
            "This is the first one that fails; mending it often mends others. `--all-messages` shows all."
        );
    }
    let _ = writeln!(
        text,
        "Edit {file}, then: cargo course check {short}\nA hint: cargo course hint {short}{}",
        if drawn {
            format!("    The failure as a picture: cargo course explain {short}")
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
    let mut text = format!("{verdict}\n\n");
    for checked in &report.properties {
        let (word, rest) = match (checked.holds(), checked.failure()) {
            (true, _) => (style.good("holds"), String::new()),
            (false, Some((mode, _))) => (style.bad("FAILS"), format!("  ({})", mode.place())),
            (false, None) => ("     ".into(), "  (not tried: another one did not end)".into()),
        };
        let _ = writeln!(text, "  {word}  {}{rest}", checked.name);
    }
    text
}

fn solved(exercise: &Exercise) -> String {
    let short = exercise.short();
    let mut text = "\nSolved. Neither the model nor real threads found a way to break it.\n\n".to_owned();
    text.push_str(&paragraph("To think about", &exercise.afterwards));
    let _ = writeln!(
        text,
        "\nWhich mistakes you did not make: cargo course wrong {short}\n\
         A solution to compare with:     cargo course solution {short}\n\
         What comes next:                cargo course next"
    );
    text
}

/// A failure in full, as `cargo test` shows it.
pub(super) fn message(checked: &Checked, mode: Mode, failure: &Failure, style: Style) -> String {
    let mut text = format!("\nproperty  {} ({})\n", style.strong(&checked.name), mode.place());
    for (title, body) in [("promise", &failure.promise), ("seen", &failure.seen), ("cause", &failure.cause)] {
        text.push_str(&paragraph(&format!("{title:8}"), body));
    }
    if failure.can_be_drawn() {
        text.push_str("\nWho did what, in this order, top to bottom (after a colon: the line of your file; ►: the step that decided it):\n\n");
        text.push_str(&failure.schedule.text(style.on()));
    }
    if !failure.output.is_empty() {
        let _ = writeln!(text, "\nWhat your code printed last:\n{}", failure.output);
    }
    text
}

/// A title, two spaces, and text that is set beside it.
pub(super) fn paragraph(title: &str, body: &str) -> String {
    let beside = title.chars().count() + 2;
    let mut text = String::new();
    for (n, line) in body.lines().flat_map(|line| wrap(line, WIDTH)).enumerate() {
        let title = if n == 0 { title } else { "" };
        let _ = writeln!(text, "{title:beside$}{line}");
    }
    text
}

/// Breaks a line at spaces; what follows the first line of an indented one is indented as far.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(line.len() - line.trim_start().len());
    let mut lines = vec![indent.clone()];
    for word in line.split_whitespace() {
        let last = lines.last_mut().expect("there is at least one");
        let empty = last.len() == indent.len();
        if !empty && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push_str(if empty { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_set_beside_its_title_and_keeps_its_indentation() {
        let body = format!("{}end\n  one two", "word ".repeat(30));
        let text = paragraph("seen", &body);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("seen  word") && lines[1].starts_with("      word"), "{text}");
        assert_eq!(lines[2], "        one two");
        assert!(lines.iter().all(|line| line.len() <= WIDTH + 6), "{text}");
    }
}
