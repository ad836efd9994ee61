//! Tests `cargo course book check` with books that each have one fault.

use crate::fixture::{Project, course, stderr, stdout};
use std::fs;
use std::path::Path;

#[test]
fn the_book_of_this_project_is_in_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target = tempfile::tempdir().unwrap();
    let output = course(target.path(), &["book", "check"], root).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn a_small_book_in_order_passes() {
    let output = Project::new().course(&["book", "check"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn each_kind_of_fault_is_found() {
    for (file, text, fault) in [
        ("code.rs", "fn main() {}\n", "second.md:4: ../../code.rs: anchor `main` does not exist"),
        ("code.rs", "// ANCHOR: main\n// ANCHOR_END: main\n", "anchor `main` is empty"),
        ("code.rs", "// ANCHOR: main\nfn main() {}\n", "anchor `main` is not closed"),
        (
            "more.rs",
            "// ANCHOR: spare\nfn f() {}\n// ANCHOR_END: spare\n",
            "more.rs:1: no page includes the anchor `spare`",
        ),
        (
            "book/src/index.md",
            "# First\n\n`cargo run --bin gone`\n",
            "index.md:3: `cargo run --bin gone`: there is no bin `gone`",
        ),
        ("book/src/index.md", "# First\n\n`cargo course gone`\n", "has no command or argument `gone`"),
        (
            "book/src/index.md",
            "# First\n\n```console\n$ ls\nby hand\n```\n",
            "index.md:5: `by hand` is output without a recording",
        ),
        ("book/src/transcripts/old.txt", "old\n", "transcripts/old.txt: record.toml does not name it"),
        (
            "book/src/transcripts/record.toml",
            "[[run]]\ncommand = \"ls\"\nfile = \"ls.txt\"\n",
            "no page shows ls.txt",
        ),
        (
            "book/src/index.md",
            "# First\n\n[gone](gone.html)\n",
            "index.html: the link to gone.html leads nowhere",
        ),
        ("book/src/index.md", "# First\n\n[gone](second.md#gone)\n", "has nothing called #gone"),
        (
            "book/src/index.md",
            "# First\n\n<p class=\"facts\">You need <a href=\"second.html\">the second</a>.</p>\n",
            "index.md:3: needs second.md, which does not come before it",
        ),
        ("book/src/index.md", "# First\n\n## Predict\n\nWhen?\n", "index.md:3: has no block ```predict"),
        ("book/src/third.md", "# Third\n", "third.md: SUMMARY.md does not name this page"),
        ("book/src/index.md", "# First\n\nIt gives 53,583 answers.\n", "index.md:3: 53,583 is in no listing"),
        ("book/src/index.md", "# First\n\nIf it moves away\n", "index.md:3: the sentence stops at"),
        ("book/src/index.md", "# First\n\n<div>\n\nnever closed\n", "mdBook built the book, but complains"),
    ] {
        let project = Project::new();
        project.write(file, text);
        let output = project.course(&["book", "check"]).output().unwrap();
        let said = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{fault}: {said}{}", stderr(&output));
        assert!(said.contains(fault), "{fault}: {said}");
    }
}

#[test]
fn what_no_reader_could_read_is_named() {
    let project = Project::new();
    let theme = ":root { --content-max-width: 600px; --figure-wait: #b35c00 }
        pre > code { font-size: clamp(1.1rem, 1cqi, 1.3rem) }";
    let figure = |x: u8| format!("<svg viewBox=\"0 0 200 50\"><text x=\"{x}\" y=\"20\">running</text></svg>");
    let page = |letters: usize| format!("# First\n\n```rust\ncall({});\n```\n", "x".repeat(letters));
    let check = |theme: &str, x: u8, letters: usize| {
        project.write("book/theme.css", theme);
        project.write("book/src/figures/a.svg", &figure(x));
        project.write("book/src/index.md", &page(letters));
        stdout(&project.course(&["book", "check"]).output().unwrap())
    };
    assert!(check(theme, 20, 60).contains("in order"), "{}", check(theme, 20, 60));
    let said = check(&theme.replace("#b35c00", "#c9a45b"), 180, 70);
    for fault in [
        "has 77 columns, and the page 73",
        "figures/a.svg: `running` reaches beyond the figure",
        "theme.css: in light, --figure-wait has a contrast of 2.",
    ] {
        assert!(said.contains(fault), "{fault}: {said}");
    }
}

/// If another target directory is set, `target` may still contain a copy of the project; Cargo has not tagged
/// this directory.
#[test]
fn what_was_built_is_no_part_of_the_project() {
    let (project, elsewhere) = (Project::new(), tempfile::tempdir().unwrap());
    let check = || {
        let mut command = project.course(&["book", "check"]);
        command.env("CARGO_TARGET_DIR", elsewhere.path()).output().unwrap()
    };
    let copy = "// ANCHOR: main\nfn main() {}\n// ANCHOR_END: main\n";
    project.write("target/copy/code.rs", copy);
    project.write("marked/CACHEDIR.TAG", "");
    project.write("marked/code.rs", copy);
    assert!(check().status.success(), "{}", stdout(&check()));
    project.write("book/target/code.rs", copy);
    assert!(stdout(&check()).contains("book/target/code.rs:1: no page includes"), "{}", stdout(&check()));
}

#[test]
fn an_exercise_and_its_chapter_name_each_other() {
    let project = Project::with_exercises();
    let output = project.course(&["book", "check"]).output().unwrap();
    assert!(
        stdout(&output).contains("exercises/ex01-worker-pool: there is no chapter how-exercises-work.md"),
        "{}",
        stdout(&output)
    );
    project.write("book/src/how-exercises-work.md", "# How\n");
    let output = project.course(&["book", "check"]).output().unwrap();
    assert!(
        stdout(&output).contains("how-exercises-work.md: does not name its exercise, ex01-worker-pool"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_way_is_compared_with_the_book_and_its_plan_is_written_anew() {
    let project = Project::with_exercises();
    let check = || stdout(&project.course(&["book", "check"]).output().unwrap());
    let way = |page: &str| {
        let part = format!("{{ title = \"Monday\", pages = [\"{page}\"], exercises = [\"ex01\"] }}");
        project.write(
            "book/ways.toml",
            &format!("[[way]]\nname = \"day\"\ntitle = \"A day\"\npart = [{part}]\n"),
        );
    };
    project.write(
        "book/src/SUMMARY.md",
        "[First](index.md)\n[Second](second.md)\n[How](how-exercises-work.md)\n[Teachers](teachers.md)\n",
    );
    project.write("book/src/how-exercises-work.md", "# How\n\n<p class=\"facts\">50 minutes.</p>\n");
    project.write("book/src/teachers.md", "# Teachers\n\n{{#include generated/way-day.md}}\n");
    way("how-exercises-work");
    let anew = "generated/way-day.md: was not as the lists are; it has been written anew";
    assert!(check().contains(anew));
    let plan = fs::read_to_string(project.path("book/src/generated/way-day.md")).unwrap();
    assert!(plan.contains("\n| Monday | [How](how-exercises-work.md) | 1 h | `ex01` | 1–1½ h |\n"), "{plan}");
    let said = check();
    assert!(!said.contains(anew) && !said.contains("ways.toml"), "{said}");
    way("no-such-page");
    assert!(check().contains("way \"day\", part \"Monday\": SUMMARY.md has no page no-such-page.md"));
}

#[test]
fn the_book_explains_every_solution() {
    let project = Project::with_exercises();
    let page = |text: &str| project.write("book/src/index.md", &format!("# First\n\n{text}\n"));
    let check = || stdout(&project.course(&["book", "check"]).output().unwrap());
    let missing = "no page includes exercises/ex01-worker-pool/solution/README.md\n";
    assert!(check().contains(missing), "{}", check());
    page("{{#include ../../exercises/ex01-worker-pool/solution/README.md}}");
    let said = check();
    assert!(
        !said.contains(missing)
            && said.contains(&missing.replace("ex01-worker-pool", "ex02-one-shot-future")),
        "{said}"
    );
}

#[test]
fn an_exercise_is_named_after_what_explains_it() {
    let project = Project::with_exercises();
    let check = || stdout(&project.course(&["book", "check"]).output().unwrap());
    project.write("book/src/how-exercises-work.md", "# How\n\n`ex01-worker-pool`\n");
    project.write(
        "book/src/SUMMARY.md",
        "[First](index.md)\n[Second](second.md)\n[How](how-exercises-work.md)\n",
    );
    assert!(!check().contains("names ex01"), "{}", check());
    project.write("book/src/index.md", "# First\n\n`ex01-worker-pool`\n");
    assert!(check().contains("index.md:3: names ex01 before how-exercises-work.md"), "{}", check());
}

#[cfg(unix)]
mod record {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Makes a book that shows the output of `printf`.
    fn project(printed: &str) -> Project {
        let project = Project::new();
        let command = format!("printf '{printed}'");
        project.write(
            "book/src/index.md",
            &format!("# First\n\n```console\n$ {command}\n{{{{#include transcripts/out.txt}}}}\n```\n"),
        );
        project.write(
            "book/src/transcripts/record.toml",
            &format!("[[run]]\ncommand = \"{command}\"\nfile = \"out.txt\"\n"),
        );
        project
    }

    fn record(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
        let output = project.course(&[&["book", "record"], arguments].concat()).output().unwrap();
        (output.status.code(), stdout(&output) + &stderr(&output))
    }

    #[test]
    fn a_transcript_is_recorded_and_then_passes_the_checks() {
        let project = project("done in 1.25 s");
        let (code, said) = record(&project, &["--check"]);
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(record(&project, &[]).0, Some(0));
        assert_eq!(
            fs::read_to_string(project.path("book/src/transcripts/out.txt")).unwrap(),
            "done in 1.25 s\n"
        );
        assert_eq!(record(&project, &["--check", "out.txt"]).0, Some(0));
        assert!(project.course(&["book", "check"]).output().unwrap().status.success());
    }

    #[test]
    fn another_time_changes_nothing_and_another_word_is_a_difference() {
        let project = project("done in 1.25 s");
        project.write("book/src/transcripts/out.txt", "done in 7.5 s\n");
        assert_eq!(record(&project, &["--check"]).0, Some(0));
        assert_eq!(record(&project, &[]).0, Some(0));
        assert_eq!(
            fs::read_to_string(project.path("book/src/transcripts/out.txt")).unwrap(),
            "done in 7.5 s\n"
        );
        project.write("book/src/transcripts/out.txt", "begun in 7.5 s\n");
        let (code, said) = record(&project, &["--check"]);
        assert_eq!(code, Some(1));
        assert!(said.contains("out.txt: differs"), "{said}");
    }

    #[test]
    fn a_check_goes_on_after_a_command_that_prints_nothing() {
        let project = project("done");
        let recipe = "[[run]]\ncommand = \"true\"\nfile = \"nothing.txt\"\n\
                      [[run]]\ncommand = \"printf done\"\nfile = \"out.txt\"\n";
        project.write("book/src/transcripts/record.toml", recipe);
        project.write("book/src/transcripts/out.txt", "begun\n");
        let (code, said) = record(&project, &["--check"]);
        assert_eq!(code, Some(1));
        for part in ["nothing.txt: nothing was printed", "out.txt: differs"] {
            assert!(said.contains(part), "no {part} in {said}");
        }
    }

    #[test]
    fn a_measurement_is_checked_only_if_it_is_named() {
        let project = project("fast");
        let recipe = "[[run]]\nmeasured = true\ncommand = \"echo fast\"\nfile = \"out.txt\"\n";
        project.write("book/src/transcripts/record.toml", recipe);
        project.write("book/src/transcripts/out.txt", "slow\n");
        assert_eq!(record(&project, &["--check"]).0, Some(0));
        let (code, said) = record(&project, &["--check", "out.txt"]);
        assert_eq!(code, Some(1));
        assert!(said.contains("out.txt: differs"), "{said}");
        assert_eq!(record(&project, &[]).0, Some(0));
        assert_eq!(fs::read_to_string(project.path("book/src/transcripts/out.txt")).unwrap(), "fast\n");
    }

    /// Two processors make no program more than twice as fast, so a higher figure was measured badly.
    #[test]
    fn a_speed_up_beyond_the_processors_is_not_kept() {
        let project = project("part\\n0.55\\n");
        let recipe = fs::read_to_string(project.path("book/src/transcripts/record.toml")).unwrap();
        let part = |printed: &str| {
            let recipe = recipe.replace("0.55", printed).replace('\\', "\\\\");
            let limit = "speed_up = { processors = 2, times = [\"part\"] }\n";
            project.write("book/src/transcripts/record.toml", &format!("{recipe}{limit}"));
            let (code, said) = record(&project, &[]);
            let kept = fs::read_to_string(project.path("book/src/transcripts/out.txt")).unwrap_or_default();
            (code, said, kept)
        };
        let (code, said, kept) = part("0.55");
        assert_eq!((code, kept.as_str()), (Some(0), "part\n0.55\n"), "{said}");
        let (code, said, kept) = part("0.45");
        assert_eq!((code, kept.as_str()), (Some(1), "part\n0.55\n"), "{said}");
        assert!(said.contains("out.txt: not kept. part 0.45: 2 processors"), "{said}");
    }

    /// Compilation must not use up the time limit of a command. The stand-in for Cargo runs only programs
    /// that it has built.
    #[test]
    fn programs_are_built_before_they_are_run() {
        let project = project("");
        let command = "timeout 9 cargo run --bin ready -- now";
        project.write(
            "book/src/transcripts/record.toml",
            &format!("[[run]]\ncommand = \"{command}\"\nfile = \"out.txt\"\n"),
        );
        let cargo = "#!/bin/sh\ncase $1 in build) echo \"$@\" > built ;; run) cat built ;; esac\n";
        project.write("bin/cargo", cargo);
        fs::set_permissions(project.path("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
        let output = project.course(&["book", "record"]).env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let recorded = fs::read_to_string(project.path("book/src/transcripts/out.txt")).unwrap();
        assert_eq!(recorded, "build --quiet --bin ready\n");
    }

    /// The client gets its answer before the server logs the answer.
    #[test]
    fn what_a_server_logs_after_the_last_answer_is_kept() {
        let project = project("");
        project.write(
            "server.sh",
            "echo listening on 127.0.0.1:9\nuntil [ -e answered ]; do sleep 0.01; done\necho answered\nexec sleep 600\n",
        );
        let recipe = "[[server]]\ncommand = \"sh server.sh\"\nlog = \"out.txt\"\nstep = [{ run = \"touch answered\" }]\n";
        project.write("book/src/transcripts/record.toml", recipe);
        let (code, said) = record(&project, &[]);
        assert_eq!(code, Some(0), "{said}");
        let recorded = fs::read_to_string(project.path("book/src/transcripts/out.txt")).unwrap();
        assert_eq!(recorded, "answered\n");
    }

    #[test]
    fn a_command_that_prints_nothing_is_an_error() {
        let project = project("");
        let (code, said) = record(&project, &[]);
        assert_eq!(code, Some(1));
        assert!(said.contains("out.txt: nothing was printed"), "{said}");
        let (code, said) = record(&project, &["gone.txt"]);
        assert_eq!(code, Some(1));
        assert!(said.contains("names no transcript `gone.txt`"), "{said}");
    }

    /// The output and the picture of a measurement differ each time, so both are kept, or both are replaced.
    #[test]
    fn a_picture_is_replaced_together_with_its_transcript() {
        let project = project("measured");
        let measure = |what: &str| {
            let command = format!("printf '{what}'; printf '{what}' > target/drawn.svg");
            project.write(
                "book/src/transcripts/record.toml",
                &format!(
                    "[[run]]\ncommand = \"{command}\"\nfile = \"out.txt\"\n\
                     picture = {{ from = \"drawn.svg\", to = \"figures/drawn.svg\" }}\nequal.but = ['\\d+']\n"
                ),
            );
            let recorded = record(&project, &[]);
            assert_eq!(recorded.0, Some(0), "{}", recorded.1);
            ["transcripts/out.txt", "figures/drawn.svg"]
                .map(|file| fs::read_to_string(project.path(&format!("book/src/{file}"))).unwrap())
        };
        fs::create_dir_all(project.path("book/src/figures")).unwrap();
        fs::create_dir_all(project.path("target")).unwrap();
        assert_eq!(measure("1 a second"), ["1 a second\n", "1 a second"]);
        assert_eq!(measure("2 a second"), ["1 a second\n", "1 a second"]);
        assert_eq!(record(&project, &["--check"]).0, Some(0));
        assert_eq!(measure("2 an hour"), ["2 an hour\n", "2 an hour"]);
        fs::remove_file(project.path("book/src/transcripts/out.txt")).unwrap();
        assert_eq!(measure("3 an hour"), ["3 an hour\n", "3 an hour"]);
    }
}
