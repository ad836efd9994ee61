//! Makes exam papers for teachers from the questions in `book/exam.toml`.
//!
//! A paper is Markdown. The same seed gives the same questions and the same letters, so a teacher can print
//! the paper and later its key.

use crate::cli::WrongUsage;
use crate::exercises::{catalogue, say};
use crate::ways::Ways;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow};
use exercises_protocol::Contents;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;

/// All questions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exam {
    #[serde(rename = "question", default)]
    questions: Vec<Question>,
}

/// A question, which has either options or the points of a short answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The files of the pages that answer the question, without `.md`.
    pages: Vec<String>,
    ask: String,
    /// The text of the right option, and the reason why this option is right.
    right: Option<[String; 2]>,
    /// The wrong options; each has the reason why it is wrong.
    #[serde(default)]
    wrong: Vec<[String; 2]>,
    /// The points that a short answer should have.
    #[serde(default)]
    answer: Vec<String>,
    /// A transcript, and those of its words on which the question relies.
    seen: Option<[String; 2]>,
}

/// Settings of a paper: which questions it has, and whether it also has the answers.
struct Paper {
    seed: u64,
    /// The number of questions; `None` means all questions.
    count: Option<usize>,
    /// The files of the pages that the students have read; `None` means all pages.
    read: Option<Vec<String>>,
    key: bool,
}

/// `exam`: prints a paper. Returns whether the project has questions.
///
/// # Errors
/// Returns an error if the named way does not exist, if there are fewer questions than `count`, or if a file
/// is malformed.
pub fn print(
    workspace: &Workspace,
    seed: u64,
    count: Option<usize>,
    way: Option<&str>,
    key: bool,
) -> anyhow::Result<bool> {
    let Some(exam) = Exam::read(workspace)? else {
        say(
            "This copy of the course has no exam questions: it was made for students. Your teacher has them.\n",
        );
        return Ok(false);
    };
    let ways = Ways::read(workspace)?;
    let read = way.map(|way| ways.pages_of(way)).transpose()?;
    let paper = Paper { seed, count, read, key };
    say(&exam.paper(&paper, &catalogue::contents(workspace)).map_err(WrongUsage::of)?);
    Ok(true)
}

impl Exam {
    /// Reads the questions; returns `None` if the project has none, for example a copy for students.
    ///
    /// # Errors
    /// Returns an error if the file is malformed.
    pub(crate) fn read(workspace: &Workspace) -> anyhow::Result<Option<Self>> {
        let path = workspace.book().join("exam.toml");
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let exam =
            toml::from_str(&text).with_context(|| format!("{} is not as it should be", path.display()));
        exam.map(Some)
    }

    /// Returns the number of questions.
    pub(crate) fn count(&self) -> usize {
        self.questions.len()
    }

    /// Makes a paper. The paper has its questions in the order of the book.
    ///
    /// # Errors
    /// Returns an error if there are fewer questions than the paper should have.
    fn paper(&self, paper: &Paper, contents: &Contents) -> anyhow::Result<String> {
        let is_read = |page: &String| paper.read.as_ref().is_none_or(|read| read.contains(&file(page)));
        let mut chosen: Vec<&Question> =
            self.questions.iter().filter(|question| question.pages.iter().all(is_read)).collect();
        let mut chance = Chance(paper.seed);
        let count = paper.count.unwrap_or(chosen.len());
        if count > chosen.len() {
            return Err(anyhow!("there are {} questions about these pages, and not {count}", chosen.len()));
        }
        while chosen.len() > count {
            chosen.remove(chance.below(chosen.len()));
        }
        let mut text = format!("# Questions (seed {}, {} of them)\n", paper.seed, chosen.len());
        for (number, question) in (1..).zip(chosen) {
            question.print(&mut text, number, &mut chance, paper.key, contents);
        }
        Ok(text)
    }

    /// Returns the faults of the questions.
    pub(crate) fn faults(
        &self,
        contents: &Contents,
        transcript: impl Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let mut faults = Vec::new();
        let mut last = 0;
        for question in &self.questions {
            let mut fault =
                |what: &str| faults.push(format!("exam.toml: {:?}: {what}", start(&question.ask)));
            let places: Vec<_> = question.pages.iter().map(|page| contents.place(&file(page))).collect();
            match places[..] {
                [] | [None, ..] => fault("its first page is not in SUMMARY.md"),
                [Some(first), ..] => {
                    if first < last {
                        fault("its page comes before that of the question above it");
                    }
                    last = last.max(first);
                }
            }
            if places.contains(&None) {
                fault("SUMMARY.md does not have each of its pages");
            }
            let has_options = question.right.is_some() && question.wrong.len() >= 2;
            let has_points =
                question.right.is_none() && question.wrong.is_empty() && question.answer.len() >= 2;
            if !(has_options && question.answer.is_empty() || has_points) {
                fault("it must have a right option and two wrong ones at least, or two points of an answer");
            }
            let mut options: Vec<&str> = question.options().map(|[option, _]| option.as_str()).collect();
            options.sort_unstable();
            if options.windows(2).any(|pair| pair[0] == pair[1]) {
                fault("two of its options are the same");
            }
            if let Some([name, words]) = &question.seen
                && !transcript(name).is_some_and(|text| text.contains(words))
            {
                fault(&format!("the transcript {name} does not say {words:?}"));
            }
        }
        faults
    }
}

impl Question {
    /// Returns the options; the right one comes first.
    fn options(&self) -> impl Iterator<Item = &[String; 2]> {
        self.right.iter().chain(&self.wrong)
    }

    fn print(&self, text: &mut String, number: usize, chance: &mut Chance, key: bool, contents: &Contents) {
        let points = self.answer.len().max(1);
        let marks = if points == 1 { "1 mark".to_owned() } else { format!("{points} marks") };
        let _ = writeln!(text, "\n**{number}.** {} ({marks})", self.ask);
        // The same random numbers are drawn with the key and without the key, so the paper and its key have
        // the same letters.
        let mut options: Vec<&[String; 2]> = self.options().collect();
        for last in (1..options.len()).rev() {
            options.swap(last, chance.below(last + 1));
        }
        for ([option, _], letter) in options.iter().zip('a'..) {
            let _ = write!(text, "\n- **{letter}.** {option}");
        }
        if !options.is_empty() {
            text.push('\n');
        }
        if !key {
            return;
        }
        for ([option, why], letter) in options.iter().zip('a'..) {
            let is_right = self.right.as_ref().is_some_and(|[right, _]| right == option);
            let verdict = if is_right { format!("**{letter}** is right.") } else { format!("Not {letter}:") };
            let _ = writeln!(text, "\n> {verdict} {why}");
        }
        for point in &self.answer {
            let _ = writeln!(text, "\n> 1 mark: {point}");
        }
        let titles = self.pages.iter().filter_map(|page| contents.page(contents.place(&file(page))?));
        let titles: Vec<&str> = titles.map(|page| page.title.as_str()).collect();
        let _ = writeln!(text, "\n> Pages: {}", titles.join("; "));
    }
}

fn file(page: &str) -> String {
    format!("{page}.md")
}

/// Returns the first words of a question, which identify it in messages.
fn start(ask: &str) -> String {
    ask.split_whitespace().take(6).collect::<Vec<_>>().join(" ")
}

/// Generates pseudo-random numbers; the same seed gives the same numbers (`SplitMix64`).
struct Chance(u64);

impl Chance {
    /// Returns a number from 0 to `limit` - 1.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % limit as u64).expect("below a number of this type")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTIONS: &str = r#"
[[question]]
pages = ["one"]
ask = "What is one?"
right = ["Right", "it is so"]
wrong = [["A", "not A"], ["B", "not B"], ["C", "not C"]]
seen = ["one.txt", "1 thread"]

[[question]]
pages = ["one", "two"]
ask = "What are two?"
answer = ["first", "second"]
"#;

    fn contents() -> Contents {
        Contents::of("- [One](one.md)\n- [Two](two.md)\n")
    }

    fn paper(seed: u64, key: bool) -> String {
        let exam: Exam = toml::from_str(QUESTIONS).unwrap();
        exam.paper(&Paper { seed, count: None, read: None, key }, &contents()).unwrap()
    }

    #[test]
    fn a_paper_has_no_answer_and_its_key_has_the_letters_of_the_paper() {
        let mut letters = Vec::new();
        for seed in 0..20 {
            let (without, with) = (paper(seed, false), paper(seed, true));
            for told in ["is right", "it is so", "not A", "first", "One"] {
                assert!(!without.contains(told) && with.contains(told), "{without}{with}");
            }
            let letter = |text: &str, before: &str, after: &str| {
                text.lines().find(|line| line.contains(after)).unwrap().split_once(before).unwrap().1[..1]
                    .to_owned()
            };
            let right = letter(&with, "> **", "is right");
            assert_eq!(letter(&without, "- **", "** Right").as_str(), right, "{without}{with}");
            letters.push(right);
        }
        letters.sort();
        letters.dedup();
        assert_eq!(letters, ["a", "b", "c", "d"]);
    }

    #[test]
    fn questions_are_drawn_from_the_pages_that_were_read() {
        let exam: Exam = toml::from_str(QUESTIONS).unwrap();
        let paper = |count, read: &[&str]| {
            let read = Some(read.iter().map(|page| file(page)).collect());
            exam.paper(&Paper { seed: 1, count, read, key: false }, &contents())
                .map_err(|error| error.to_string())
        };
        let both = paper(None, &["one", "two"]).unwrap();
        assert!(both.contains("**2.** What are two? (2 marks)"), "{both}");
        let one = paper(Some(1), &["one"]).unwrap();
        assert!(one.contains("**1.** What is one? (1 mark)") && !one.contains("two"), "{one}");
        assert_eq!(
            paper(Some(2), &["one"]).unwrap_err(),
            "there are 1 questions about these pages, and not 2"
        );
    }

    #[test]
    fn what_is_wrong_with_a_question_is_named() {
        let faults = |from: &str, to: &str| {
            let exam: Exam = toml::from_str(&QUESTIONS.replace(from, to)).unwrap();
            exam.faults(&contents(), |name| (name == "one.txt").then(|| "1 thread".to_owned()))
        };
        assert_eq!(faults("", ""), Vec::<String>::new());
        for (from, to, fault) in [
            ("\"two\"", "\"three\"", "\"What are two?\": SUMMARY.md does not have each of its pages"),
            (
                "[\"one\"]",
                "[\"two\"]",
                "\"What are two?\": its page comes before that of the question above it",
            ),
            ("1 thread", "2 threads", "\"What is one?\": the transcript one.txt does not say \"2 threads\""),
            (
                ", [\"B\", \"not B\"], [\"C\", \"not C\"]",
                "",
                "\"What is one?\": it must have a right option and two",
            ),
            (", \"second\"", "", "\"What are two?\": it must have a right option and two wrong ones"),
            ("[\"B\"", "[\"Right\"", "\"What is one?\": two of its options are the same"),
        ] {
            let faults = faults(from, to);
            assert!(matches!(&faults[..], [only] if only.contains(fault)), "{to}: {faults:?}");
        }
    }
}
