//! Proves that a reader can read the pages from the first to the last: each page needs only earlier pages,
//! and a page names an exercise only after the pages that explain its subject and how to do exercises. The
//! same is true for each way through a part of the course.

use crate::book::pages::Page;
use crate::ways::Ways;
use exercises_protocol::{Contents, Exercise};
use regex::Regex;

/// Returns faults for pages that need a later page, and for exercises that are named too early.
pub(super) fn faults(pages: &[Page], exercises: &[Exercise]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.name == "SUMMARY.md") else { return Vec::new() };
    let contents = Contents::of(&summary.text);
    let mut faults = later_exercises(exercises);
    for page in pages {
        let Some(here) = contents.place(&page.name) else { continue };
        for (line, needed) in needs(page) {
            if contents.place(&needed).is_some_and(|there| there >= here) {
                faults.push(page.fault(line, format_args!("needs {needed}, which does not come before it")));
            }
        }
        for exercise in exercises {
            let is_early = contents.place_of(exercise).is_some_and(|first| here < first);
            let explains = contents.page_of(exercise).filter(|_| is_early);
            if let (Some(explains), Some(line)) = (explains, first_mention(page, exercise.short())) {
                let what = format_args!("names {} before {}", exercise.short(), explains.name);
                faults.push(page.fault(line, what));
            }
        }
    }
    faults
}

/// Returns faults for exercises that need a later exercise. The exercises are in the order of the book.
fn later_exercises(exercises: &[Exercise]) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, exercise) in exercises.iter().enumerate() {
        for later in needed_exercises(exercise, &exercises[number..]) {
            faults.push(format!(
                "exercises/{}: needs {}, which does not come before it",
                exercise.name,
                later.short()
            ));
        }
    }
    faults
}

/// The beginning of the line under the title of a page that is not a core page.
const FURTHER: &str = "<p class=\"facts\">Further reading. ";

/// Returns the chapters with a wrong statement about whether they are core pages. If the book has no core
/// pages, there are no such faults.
pub(super) fn wrong_about_core(pages: &[Page], contents: &Contents, core: &[String]) -> Vec<String> {
    let is_core = |name: &String| core.contains(name);
    let is_chapter = |page: &&Page| {
        let place = contents.place(&page.name);
        place.and_then(|place| contents.page(place)).is_some_and(|page| page.number.is_some())
    };
    let mut faults = Vec::new();
    for page in pages.iter().filter(is_chapter).filter(|_| !core.is_empty()) {
        let of_page = match (is_core(&page.name), page.text.contains(FURTHER)) {
            (true, true) => vec![page.fault(3, "it is a core page, and says that it is further reading")],
            (false, false) => vec![page.fault(
                3,
                "it must begin with \"Further reading. \", or be a page of the way \"core\" of ways.toml",
            )],
            _ => Vec::new(),
        };
        faults.extend(of_page);
    }
    faults
}

/// Returns faults for pages that come too early in a way: before a page that they need, or before an exercise
/// whose solution they show.
pub(super) fn unread(pages: &[Page], ways: &Ways) -> Vec<String> {
    let shown = Regex::new(r"the solution of `(ex\d+)").expect("a valid expression");
    let mut faults = Vec::new();
    for way in ways.iter() {
        for (number, part) in way.parts.iter().enumerate() {
            let to_do: Vec<&String> = way.parts[number..].iter().flat_map(|part| &part.exercises).collect();
            for page in part.pages().filter_map(|name| pages.iter().find(|page| page.name == name)) {
                let too_early = shown.captures_iter(&page.text).map(|captures| captures[1].to_owned());
                faults.extend(too_early.filter(|name| to_do.contains(&name)).map(|name| {
                    format!(
                        "ways.toml: way {:?}, part {:?}: {} shows the solution of {name}, which this way does later",
                        way.name, part.title, page.name
                    )
                }));
            }
        }
        let mut read: Vec<String> = Vec::new();
        for (part, name) in way.parts.iter().flat_map(|part| part.pages().map(move |page| (part, page))) {
            let page = pages.iter().find(|page| page.name == name);
            for (_, needed) in page.map(needs).unwrap_or_default() {
                if !read.contains(&needed) {
                    faults.push(format!(
                        "ways.toml: way {:?}, part {:?}: {name} needs {needed}, which this way has not read",
                        way.name, part.title
                    ));
                }
            }
            read.push(name);
        }
    }
    faults
}

/// Returns the pages that a page names in the line under its title ("You need …"), each with the number of
/// this line.
pub(super) fn needs(page: &Page) -> Vec<(usize, String)> {
    let facts = Regex::new(r#"(?s)<p class="facts">.*?</p>"#).expect("a valid expression");
    let link = Regex::new(r##"href="([^"#]+)\.html"##).expect("a valid expression");
    let Some(facts) = facts.find(&page.text) else { return Vec::new() };
    let number = |at: usize| page.text[..facts.start() + at].matches('\n').count() + 1;
    link.captures_iter(facts.as_str())
        .map(|captures| captures.get(1).expect("one group"))
        .map(|name| (number(name.start()), format!("{}.md", name.as_str())))
        .collect()
}

/// Returns the exercises that another exercise lists as needed: "exercise 16". A number that is not the
/// number of an exercise is skipped.
pub(super) fn needed_exercises<'a>(exercise: &Exercise, all: &'a [Exercise]) -> Vec<&'a Exercise> {
    let number = Regex::new(r"exercise (\d+)").expect("a valid expression");
    let needs = exercise.needs.join("; ");
    let names = number.captures_iter(&needs).map(|captures| format!("ex{:0>2}", &captures[1]));
    names.filter_map(|name| all.iter().find(|other| other.short() == name)).collect()
}

/// Returns the number of the first line of a page that contains `ex01`, alone or at the beginning of a full
/// name.
fn first_mention(page: &Page, exercise: &str) -> Option<usize> {
    let name = Regex::new(&format!(r"\b{}\b", regex::escape(exercise))).expect("a valid expression");
    page.text.lines().zip(1..).find(|(line, _)| name.is_match(line)).map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercises::catalogue;
    use crate::workspace::Workspace;

    /// Returns the faults of a book with these pages, in this order, and with an exercise `ex01` that
    /// `explains.md` explains.
    fn faults_of(order: &[(&str, &str)]) -> Vec<String> {
        let summary: Vec<String> = order.iter().map(|(name, _)| format!("- [A page]({name}.md)\n")).collect();
        let page = |(name, text): &(&str, &str)| Page {
            path: name.into(),
            name: format!("{name}.md"),
            text: (*text).to_owned(),
        };
        let mut pages: Vec<Page> = order.iter().map(page).collect();
        pages.push(page(&("SUMMARY", &summary.concat())));
        let exercises = catalogue::all(&Workspace::find().unwrap()).unwrap();
        let mut exercise = catalogue::named(&exercises, "ex01").unwrap().clone();
        exercise.chapters = vec!["explains.md".to_owned()];
        faults(&pages, &[exercise])
    }

    const NEEDS: &str = "# A\n\n<p class=\"facts\">You need <a href=\"first.html\">one</a>\nand <a href=\"explains.html#x\">another</a>.</p>\n";

    #[test]
    fn pages_that_need_earlier_ones_are_in_order() {
        let pages =
            [("first", "# First\n"), ("explains", "`ex01-worker-pool`\n"), ("a", NEEDS), ("z", "ex01\n")];
        assert_eq!(faults_of(&pages), Vec::<String>::new());
    }

    #[test]
    fn a_page_that_needs_a_later_one_is_named_with_its_line() {
        let faults = faults_of(&[("first", "# First\n"), ("a", NEEDS), ("explains", "ex01\n")]);
        assert_eq!(faults, ["a.md:4: needs explains.md, which does not come before it"]);
    }

    /// Makes a page with this line under its title.
    fn page(name: &str, facts: &str) -> Page {
        let text = format!("# A\n\n<p class=\"facts\">{facts}</p>\n");
        Page { path: name.into(), name: name.into(), text }
    }

    #[test]
    fn chapters_that_are_no_core_pages_say_that_they_are_further_reading() {
        let contents = Contents::of("[Before](before.md)\n- [One](one.md)\n- [Two](two.md)\n");
        let further = "Further reading. 5 minutes.";
        let of = |one, two| {
            let pages = [page("before.md", ""), page("one.md", one), page("two.md", two)];
            wrong_about_core(&pages, &contents, &["one.md".into()])
        };
        assert_eq!(of("5 minutes.", further), Vec::<String>::new());
        assert_eq!(
            of(further, further),
            ["one.md:3: it is a core page, and says that it is further reading"]
        );
        let faults = of("", "5 minutes.");
        assert!(
            matches!(&faults[..], [only] if only.starts_with("two.md:3: it must begin with \"Further reading. \"")),
            "{faults:?}"
        );
    }

    #[test]
    fn a_way_reads_a_page_after_those_that_it_needs() {
        let pages =
            [page("one.md", "5 minutes."), page("two.md", "You need <a href=\"one.html#x\">One</a>.")];
        let of = |first: &str, second: &str| {
            let part = |title: &str, page: &str| {
                format!("[[way.part]]\ntitle = \"{title}\"\npages = [\"{page}\"]\nexercises = []\n")
            };
            let parts = part("Noon", first) + &part("Night", second);
            let ways = toml::from_str(&format!("[[way]]\nname = \"day\"\ntitle = \"\"\n{parts}"));
            unread(&pages, &ways.unwrap())
        };
        assert_eq!(of("one", "two"), Vec::<String>::new());
        assert_eq!(
            of("two", "one"),
            ["ways.toml: way \"day\", part \"Noon\": two.md needs one.md, which this way has not read"]
        );
    }

    #[test]
    fn a_way_does_an_exercise_before_it_reads_the_solution() {
        let mut solution = page("two.md", "5 minutes.");
        solution.text.push_str("\nSteps 2 and 3 are the solution of `ex01-worker-pool`.\n");
        let pages = [page("one.md", "5 minutes."), solution];
        let of = |parts: &str| {
            let ways = format!("[[way]]\nname = \"day\"\ntitle = \"\"\npart = [{parts}]\n");
            unread(&pages, &toml::from_str(&ways).unwrap())
        };
        let noon = r#"{ title = "Noon", pages = ["one"], exercises = ["ex01"] }"#;
        let night = r#"{ title = "Night", pages = ["two"], exercises = ["ex02"] }"#;
        assert_eq!(of(&format!("{noon}, {night}")), Vec::<String>::new());
        assert_eq!(
            of(r#"{ title = "Noon", pages = ["one", "two"], exercises = ["ex01"] }"#),
            [
                "ways.toml: way \"day\", part \"Noon\": two.md shows the solution of ex01, which this way does later"
            ]
        );
    }

    #[test]
    fn an_exercise_needs_only_those_before_it() {
        let mut exercises = catalogue::all(&Workspace::find().unwrap()).unwrap();
        assert_eq!(later_exercises(&exercises), Vec::<String>::new());
        exercises.truncate(2);
        exercises[0].needs = vec!["a lock; exercise 1, or exercise 99".into()];
        assert_eq!(
            later_exercises(&exercises),
            ["exercises/ex00-three-visitors: needs ex01, which does not come before it"]
        );
    }

    #[test]
    fn an_exercise_is_not_named_before_the_page_that_explains_it() {
        let faults = faults_of(&[("a", "# A\n\nsee `ex01-worker-pool`, ex01\n"), ("explains", "ex01\n")]);
        assert_eq!(faults, ["a.md:3: names ex01 before explains.md"]);
        assert_eq!(faults_of(&[("a", "ex011, exex01\n"), ("explains", "ex01\n")]), Vec::<String>::new());
    }

    #[test]
    fn an_exercise_is_not_named_before_the_page_that_says_how_it_is_done() {
        let faults = faults_of(&[("explains", "ex01\n"), ("how-exercises-work", "# How\n")]);
        assert_eq!(faults, ["explains.md:1: names ex01 before how-exercises-work.md"]);
    }
}
