//! Tests the command `cargo course book build`.

use crate::fixture::{Project, course, stderr, stdout};
use std::fs;

/// Runs `book build` on a project with a fault, and returns the error message.
fn complaint(project: &Project) -> String {
    let output = project.course(&["book", "build"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    stderr(&output)
}

#[test]
fn a_listing_is_taken_from_the_code() {
    let project = Project::new();
    let output = project.course(&["book", "build"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output).trim_end(), project.path("target/book/index.html").display().to_string());
    let page = fs::read_to_string(project.path("target/book/second.html")).unwrap();
    assert!(page.contains("fn main() {}"), "{page}");
    assert!(!page.contains("ANCHOR"), "{page}");
}

/// The book is built again only after a change, also after a change in a file that a page includes.
#[test]
fn a_book_is_built_again_only_when_something_has_changed() {
    let project = Project::new();
    let page = project.path("target/book/second.html");
    let build = || assert!(project.course(&["book", "build"]).output().unwrap().status.success());
    build();
    fs::remove_file(&page).unwrap();
    build();
    assert!(!page.exists(), "nothing has changed, and it was built again");
    project.write("code.rs", "// ANCHOR: main\nfn main() { other() }\n// ANCHOR_END: main\n");
    build();
    assert!(fs::read_to_string(&page).unwrap().contains("other"));
    fs::remove_file(&page).unwrap();
    let index = fs::read_to_string(project.path("book/src/index.md")).unwrap();
    project.write("book/src/index.md", &format!("{index}\nMore.\n"));
    build();
    assert!(page.exists());
}

/// The built page contains the right value, which is read from the included file, and no longer the block of
/// the author.
#[test]
fn a_prediction_becomes_data_for_the_script() {
    let project = Project::new();
    let page = |find: &str| {
        let block =
            format!("```predict\n[[field]]\nask = \"</script>\"\nfrom = \"code.rs\"\nfind = '{find}'\n```\n");
        project.write(
            "book/src/index.md",
            &format!(
                "# First\n\n## Predict\n\n{block}\n## Run\n\n```rust\n{{{{#include ../../code.rs}}}}\n```\n"
            ),
        );
    };
    project.write("code.rs", "// ANCHOR: main\nfn main() { sleep(17) }\n// ANCHOR_END: main\n");
    page(r"sleep\((\d+)\)");
    let output = project.course(&["book", "build"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let html = fs::read_to_string(project.path("target/book/index.html")).unwrap();
    let (_, data) = html.split_once("class=\"predict\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data[0]["right"], &data[0]["ask"]), (&17.0.into(), &"</script>".into()));
    assert!(!html.contains("[[field]]"), "{html}");
    page("wait");
    assert!(complaint(&project).contains("index.md:5: \"</script>\": nothing matches `wait`"));
}

#[test]
fn a_missing_anchor_fails_the_build_and_leaves_the_last_book_alone() {
    let project = Project::new();
    assert!(project.course(&["book", "build"]).output().unwrap().status.success());
    project.write("code.rs", "fn main() {}\n");
    let complaint = complaint(&project);
    assert!(complaint.contains("second.md:4: ../../code.rs: anchor `main` does not exist"), "{complaint}");
    assert!(project.path("target/book/second.html").is_file());
}

#[test]
fn a_page_that_nobody_wrote_is_named() {
    let project = Project::new();
    project.write("book/src/SUMMARY.md", "[First](index.md)\n[Third](third.md)\n");
    let complaint = complaint(&project);
    assert!(complaint.contains("third.md"), "{complaint}");
    assert!(!project.path("book/src/third.md").exists());
}

#[test]
fn a_project_without_a_book_says_so() {
    let project = Project::new();
    fs::remove_dir_all(project.path("book")).unwrap();
    let complaint = complaint(&project);
    assert!(complaint.contains("there is no book in"), "{complaint}");
    assert!(complaint.contains("git checkout -- book"), "{complaint}");
}

#[test]
fn a_target_directory_that_cannot_be_written_says_what_to_do() {
    let project = Project::new();
    // The test puts a file in the place of the directory, because permission bits would not stop a superuser.
    project.write("target", "");
    let complaint = complaint(&project);
    assert!(complaint.contains("cannot write the book to"), "{complaint}");
    assert!(complaint.contains("CARGO_TARGET_DIR"), "{complaint}");
}

#[test]
fn a_directory_that_is_not_the_project_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    let output = course(elsewhere.path(), &["book", "build"], elsewhere.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("is not the project's root"), "{}", stderr(&output));
}
