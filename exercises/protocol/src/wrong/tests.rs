use super::*;

const LIST: &str = "\
# What this file is.

=== m01_one
Wrong: the first line
goes on here.
The learner sees: nothing.
Caught by a_property: \"it says \\\"why\\\"\"
@@
 b
-c
+C

 b
-d

=== m02_two
Wrong: it is built in another way. The learner sees: a hang.
Caught by another: \"words: \"more\"\"
Beside right/r01_other:
# Another comment.
@@
-a

=== m03_three
Wrong: all.
The learner sees: all.
Caught by a_property: \"words\"
The whole of it: wrong/m03_three.rs
";

const SOLUTION: &str = "//! Right.\na\nb\nc\n\nb\nd\nb\n";

/// Makes an exercise with the given solution, one right answer, and the given list.
fn exercise(list: &str) -> (tempfile::TempDir, anyhow::Result<Exercise>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join("ex99-x").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "exercise.toml",
        "title = \"\"\nchapters = []\nneeds = []\nhints = []\nafterwards = \"\"\nproperty = []\n",
    );
    write("solution/exercise.rs", SOLUTION);
    write("right/r01_other.rs", "//! Right: otherwise.\na\nz\n");
    write("wrong/m03_three.rs", "whole\n");
    write("wrong.diff", list);
    let exercise = Exercise::read(folder.path().join("ex99-x"));
    (folder, exercise)
}

/// Returns the error for an edit of the solution.
fn said_of(hunks: &str) -> String {
    let entry = format!("=== m01\nWrong: x\nThe learner sees: y\nCaught by p: \"w\"\n{hunks}");
    let (_folder, exercise) = exercise(&entry);
    let text = exercise.and_then(|exercise| exercise.wrong_answer(&exercise.wrong[0]));
    text.unwrap_or_else(|error| format!("{error:#}"))
}

#[test]
fn an_entry_says_what_is_wrong_what_catches_it_and_what_it_changes() {
    let (_folder, exercise) = exercise(LIST);
    let exercise = exercise.unwrap();
    let [one, two, three] = exercise.wrong.as_slice() else { panic!("{:?}", exercise.wrong) };
    assert_eq!((one.name.as_str(), one.property.as_str()), ("m01_one", "a_property"));
    assert_eq!(one.message, "it says \\\"why\\\"", "as it stands, without escapes");
    assert_eq!(two.message, "words: \"more\"");
    assert_eq!(
        (one.what_is_wrong(), one.what_is_seen()),
        ("the first line goes on here.".into(), "nothing.".into())
    );
    assert_eq!(
        (two.what_is_wrong(), two.what_is_seen()),
        ("it is built in another way.".into(), "a hang.".into())
    );
    assert_eq!(LIST.lines().skip(one.lines.start).take(one.lines.len()).last(), Some("-d"));

    let head = "//! Wrong: the first line\n//! goes on here.\n//! The learner sees: nothing.\n";
    assert_eq!(exercise.wrong_answer(one).unwrap(), format!("{head}a\nb\nC\n\nb\nb\n"));
    assert!(exercise.wrong_answer(two).unwrap().ends_with(" a hang.\nz\n"));
    assert!(exercise.wrong_answer(three).unwrap().ends_with("The learner sees: all.\nwhole\n"));
    let shown = exercise.edit(one, 1).unwrap().unwrap();
    let [stays, goes, comes] =
        [Line::Stays, Line::Goes, Line::Comes].map(|kind| move |text: &str| kind(text.into()));
    let lines = [stays("a"), stays("b"), goes("c"), comes("C"), stays(""), stays("b"), goes("d"), stays("b")];
    assert_eq!(shown, [Hunk { lines: lines.into() }]);
    assert_eq!(exercise.edit(three, 1).unwrap(), None);
}

#[test]
fn an_edit_applies_in_exactly_one_place_after_the_hunk_before() {
    assert!(said_of("@@\n-a\n@@\n-d\n+D\n").ends_with("\nb\nc\n\nb\nD\nb\n"));
    assert!(said_of("@@\n-d\n@@\n-b\n").ends_with("\na\nb\nc\n\nb\n"), "there is one b after d");
    for (hunks, said) in [
        (
            "@@\n b\n+x\n",
            "these lines stand in 3 places, so the hunk needs more of what is around them:\n    b",
        ),
        ("@@\n-c\n@@\n-b\n", "these lines stand in 2 places"),
        ("@@\n a\n-z\n", "these lines do not stand in the answer that it edits:\n    a\n    z"),
        ("@@\n-d\n@@\n-c\n", "these lines stand before those of the hunk before:\n    c"),
        ("@@\n-c\n@@\n b\n-c\n", "these lines stand before those of the hunk before:\n    b\n    c"),
        ("@@\n+x\n", "a hunk needs a line that stays or goes, which says where it applies:\n    x"),
        ("@@\n c\n", "a hunk changes nothing:\n    c"),
        ("@@\n", "a hunk changes nothing"),
        ("@@\n-c\n+c\n", "the edit leaves the answer as it was"),
        ("Beside right/r09_gone:\n@@\n-c\n", "ex99-x m01: cannot read right/r09_gone.rs"),
        ("The whole of it: wrong/m01.rs\n", "ex99-x m01: cannot read wrong/m01.rs"),
    ] {
        assert!(said_of(hunks).contains(said), "{hunks}: {}", said_of(hunks));
    }
}

#[test]
fn what_is_no_entry_is_refused_with_its_line() {
    let head = "Wrong: x\nThe learner sees: y\n";
    for (list, said) in [
        ("x\n=== m01\n".to_owned(), "line 1: an entry begins with `=== NAME`"),
        ("=== \n".to_owned(), "line 1: \"\" is no name of a module"),
        ("=== m 1\n".to_owned(), "line 1: \"m 1\" is no name"),
        (format!("=== m01\n{head}"), "line 1: m01 has no line `Caught by PROPERTY: \"WORDS\"`"),
        (
            format!("=== m01\n{head}@@\n-c\n"),
            "line 4: m01: a line `Caught by PROPERTY: \"WORDS\"` comes before",
        ),
        (
            format!("=== m01\n{head}Caught by p: words\n@@\n-c\n"),
            "line 4: m01: `Caught by PROPERTY: \"WORDS\"`",
        ),
        ("=== m01\nWrong: x\nCaught by p: \"w\"\n@@\n-c\n".to_owned(), "line 1: m01 does not say"),
        (format!("=== m01\n{head}Caught by p: \"w\"\n"), "line 1: m01: there is no hunk"),
        (format!("=== m01\n{head}Caught by p: \"w\"\n-c\n"), "line 5: a hunk begins with a line `@@`"),
        (format!("=== m01\n{head}Caught by p: \"w\"\n@@\nc\n"), "line 6: a line of a hunk begins with"),
        (
            format!("=== m01\n{head}Caught by p: \"w\"\nThe whole of it: wrong/m02.rs\n"),
            "has to be wrong/m01.rs",
        ),
        (LIST.replace("m02_two", "m01_one"), "line 16: there are two entries m01_one"),
    ] {
        let error = format!("{:#}", exercise(&list).1.unwrap_err());
        assert!(
            error.contains("wrong.diff is not as it should be") && error.contains(said),
            "{list}: {error}"
        );
    }
}
