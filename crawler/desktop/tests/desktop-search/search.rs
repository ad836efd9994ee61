//! Tests of desktop search from a shell: the found files, a second run, and exit statuses.

use crate::folder::{Folder, KINDS};
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn every_file_of_a_tree_is_found_by_its_own_word() {
    let folder = Folder::with_a_tree(60);
    let report = folder.index(&[]);
    assert_eq!(report["complete"], true);
    assert_eq!(report["skipped"], serde_json::json!({ "binary": 1, "huge": 1, "special": 0 }));
    // The file of one line and the Japanese file have no number in their names.
    assert_eq!(report["indexed"], 62);
    for number in 0..60 {
        let found = folder.search(&[&format!("number{number}")]);
        assert_eq!(found["count"], 1, "number{number}: {found}");
        let file = &found["files"][0];
        let path = Path::new(file["path"].as_str().unwrap());
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.contains(&number.to_string()) && name.ends_with(KINDS[number % 6]), "{name}");
        // In a UTF-16 file, a line cannot be found by its UTF-8 bytes.
        if number % 6 != 5 {
            let line = usize::try_from(file["line"].as_u64().unwrap()).unwrap();
            let content = fs::read(path).unwrap();
            let line = content.split(|byte| *byte == b'\n').nth(line - 1).unwrap();
            let line = String::from_utf8_lossy(line);
            assert!(line.contains(&format!("number{number}")), "{path:?}: {line}");
        }
    }
}

#[test]
fn what_nobody_expects_is_not_there() {
    let folder = Folder::with_a_tree(6);
    folder.index(&[]);
    assert_eq!(folder.search(&["a phrase of no other file"])["count"], 0);
    assert_eq!(
        folder.search(&["hidden", "var"])["count"],
        0,
        "a script is not what a reader of the page sees"
    );
    folder.index(&["--hidden"]);
    assert_eq!(folder.search(&["a phrase of no other file"])["count"], 1);
    folder.index(&["--hidden", "--no-ignore"]);
    assert_eq!(folder.search(&["a phrase of no other file"])["count"], 2);
    folder.index(&[]);
    assert_eq!(folder.search(&["a phrase of no other file"])["count"], 0, "no longer to be indexed");

    folder.write(".gitignore", b"made.txt\n");
    folder.write("made.txt", b"by a program");
    folder.index(&[]);
    assert_eq!(folder.search(&["by a program"])["count"], 1, "there is no repository");
    fs::create_dir(folder.path("tree/.git")).unwrap();
    folder.index(&[]);
    assert_eq!(folder.search(&["by a program"])["count"], 0);
}

#[test]
fn words_in_every_encoding_are_found() {
    let folder = Folder::new();
    let text = "Größe naïve Ωmega 東京";
    let write = |name: &str, bytes: &[u8]| folder.write(name, bytes);
    write("utf-8.txt", text.as_bytes());
    write("utf-8-mark.txt", format!("\u{feff}{text}").as_bytes());
    let wide: Vec<u16> = format!("\u{feff}{text}").encode_utf16().collect();
    write("utf-16-le.txt", &wide.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<_>>());
    write("utf-16-be.txt", &wide.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<_>>());
    let sjis = encoding_rs::SHIFT_JIS.encode("<meta charset=Shift_JIS><p>東京 Gr&ouml;&szlig;e").0;
    write("page.html", &sjis);
    let latin = encoding_rs::WINDOWS_1252.encode("Die Größe ist naïve genug für ein Café in der Straße.").0;
    write("latin.txt", &latin);
    let koi8 = encoding_rs::KOI8_R.encode("Привет, мир. Это обычный текст на русском языке.").0;
    write("koi8.txt", &koi8);
    folder.index(&[]);
    assert_eq!(folder.names(&["groesse"]), [""; 0]);
    for size in ["GRÖSSE", "große"] {
        let marked =
            ["latin.txt", "page.html", "utf-16-be.txt", "utf-16-le.txt", "utf-8-mark.txt", "utf-8.txt"];
        assert_eq!(folder.names(&[size]), marked);
    }
    assert_eq!(folder.names(&["naive", "omega"]), [""; 0], "Greek letters stay Greek");
    assert_eq!(
        folder.names(&["東京"]),
        ["page.html", "utf-16-be.txt", "utf-16-le.txt", "utf-8-mark.txt", "utf-8.txt"],
    );
    assert_eq!(folder.names(&["привет", "языке"]), ["koi8.txt"]);
}

#[test]
fn phrases_names_and_what_must_not_be_there() {
    let folder = Folder::new();
    folder.write("pool.txt", b"the thread pool\nqueue");
    folder.write("other.txt", b"a pool for each thread, and a queue");
    folder.write("thread pool.md", b"nothing of it inside");
    folder.index(&[]);
    assert_eq!(folder.names(&["thread", "pool"]), ["other.txt", "pool.txt", "thread pool.md"]);
    assert_eq!(folder.names(&["thread pool"]), ["pool.txt", "thread pool.md"]);
    assert_eq!(folder.names(&["pool", "--", "-queue"]), ["thread pool.md"]);
    assert_eq!(folder.names(&["\"thread pool\" -nothing"]), ["pool.txt"]);
    let found = folder.search(&["thread pool", "--limit", "1"]);
    assert_eq!((&found["count"], found["files"].as_array().unwrap().len()), (&Value::from(2), 1));
    let by_name = folder.search(&["md"]);
    assert_eq!(by_name["files"][0]["line"], Value::Null, "there is no line that shows it");
}

#[test]
fn a_second_run_does_what_has_changed() {
    let folder = Folder::with_a_tree(30);
    folder.index(&[]);
    let before = folder.contents();
    let meta = fs::read(folder.path("index/meta.json")).unwrap();
    let again = folder.index(&[]);
    assert!(fs::read(folder.path("index/meta.json")).unwrap() == meta, "there was nothing to commit");
    assert_eq!(
        (&again["indexed"], &again["unchanged"], &again["removed"]),
        (&0.into(), &32.into(), &0.into())
    );
    assert_eq!(folder.contents(), before);

    folder.write("tree/part-000/note-0.txt", b"written anew");
    folder.write("tree/part-000/new.txt", b"written anew");
    folder.write("tree/part-000/page-1.md", b"\0 no text any more");
    fs::remove_file(folder.path("tree/part-000/code_2.rs")).unwrap();
    let third = folder.index(&[]);
    assert_eq!(
        (&third["indexed"], &third["unchanged"], &third["removed"]),
        (&2.into(), &29.into(), &1.into())
    );
    assert_eq!(third["skipped"]["binary"], 2);
    assert_eq!(folder.names(&["written anew"]), ["new.txt", "note-0.txt"]);
    for gone in ["number0", "number1", "number2"] {
        assert_eq!(folder.search(&[gone])["count"], 0, "{gone}");
    }

    fs::rename(folder.path("tree/part-000"), folder.path("tree/moved")).unwrap();
    let fourth = folder.index(&[]);
    assert_eq!((&fourth["indexed"], &fourth["removed"]), (&29.into(), &29.into()));
    fs::remove_dir_all(folder.path("tree")).unwrap();
    fs::create_dir(folder.path("tree")).unwrap();
    assert_eq!(folder.index(&[])["removed"], 31);
    assert_eq!(folder.contents().len(), 0);
}

/// Checks that threads that replace files at the same time do not remove each other's files.
#[cfg(unix)]
#[test]
fn many_threads_renew_an_index() {
    let folder = Folder::with_a_tree(2000);
    folder.index(&[]);
    for day in ["2020-01-01", "2020-01-02"] {
        folder.touch(day);
        assert_eq!(folder.index(&["--threads", "4"])["indexed"], 2002);
        assert_eq!(folder.contents().len(), 2002, "{day}");
    }
    let renewed = folder.contents();
    fs::remove_dir_all(folder.path("index")).unwrap();
    folder.index(&[]);
    assert!(folder.contents() == renewed, "it is not what a new index has");
}

/// File systems store times in steps. So a file that is written twice within one step of time can keep its
/// time and its size.
#[test]
fn a_file_that_was_just_written_is_read_again() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("tree")).unwrap();
    fs::write(folder.path("tree/fresh.txt"), "before").unwrap();
    let time = fs::metadata(folder.path("tree/fresh.txt")).unwrap().modified().unwrap();
    folder.index(&[]);
    fs::write(folder.path("tree/fresh.txt"), "behind").unwrap();
    fs::File::options().write(true).open(folder.path("tree/fresh.txt")).unwrap().set_modified(time).unwrap();
    folder.index(&[]);
    assert_eq!(folder.names(&["behind"]), ["fresh.txt"]);
    assert_eq!(folder.names(&["before"]), [""; 0]);
}

#[test]
fn roots_in_roots_are_indexed_once() {
    let folder = Folder::new();
    folder.write("tree/a.txt", b"word");
    folder.write("tree/.inner/b.txt", b"word");
    folder.write("tree/inner/c.txt", b"word");
    let run = |directories: &[&str]| {
        let directories: Vec<_> = directories.iter().map(|name| folder.path(name)).collect();
        let arguments: Vec<_> = directories.iter().map(|path| path.to_str().unwrap()).collect();
        folder.index_only(&arguments)
    };
    let report = run(&["tree", "tree/inner", "tree/.inner", "tree/../tree", "tree/a.txt"]);
    assert_eq!(report["indexed"], 3);
    assert_eq!(folder.names(&["word"]), ["a.txt", "b.txt", "c.txt"]);
    // A run over a part of the tree removes no files of the other parts.
    assert_eq!(run(&["tree/inner"])["removed"], 0);
    fs::remove_file(folder.path("tree/a.txt")).unwrap();
    assert_eq!(run(&["tree/inner"])["removed"], 0);
    assert_eq!(run(&["tree"])["removed"], 2, "a.txt, and what is hidden");
    assert_eq!(folder.names(&["word"]), ["c.txt"]);
}

#[test]
fn an_index_does_not_index_itself() {
    let folder = Folder::new();
    folder.write("tree/a.txt", b"word");
    let (tree, into) = (folder.path("tree"), folder.path("tree/index"));
    for indexed in [1, 0] {
        let run = folder.program("index").arg(&tree).arg("--into").arg(&into).arg("--json").output().unwrap();
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((&report["indexed"], run.status.code()), (&indexed.into(), Some(0)), "{report}");
    }
}

#[test]
fn search_says_what_it_knows_by_its_exit_status() {
    let folder = Folder::new();
    folder.write("tree/a\u{1b}[2J.txt", b"some \x1b[31m word\n");
    folder.index(&[]);
    let found = folder.run("search", &["--limit", "3"], &["word"]);
    assert_eq!(found.status.code(), Some(0));
    let shown = String::from_utf8(found.stdout).unwrap();
    assert_eq!(shown, "tree/a\u{fffd}[2J.txt:1: some \u{fffd}[31m word\n");
    let none = folder.run("search", &[], &["nothing-of-it"]);
    assert_eq!((none.status.code(), none.stdout.as_slice()), (Some(1), &b"nothing found\n"[..]));
    assert_eq!(folder.run("search", &[], &["?!"]).status.code(), Some(2));
    assert_eq!(folder.run("search", &["--limit", "0"], &["word"]).status.code(), Some(2));
}

#[test]
fn search_says_what_has_become_of_a_file() {
    let folder = Folder::new();
    folder.write("changed.txt", b"a word");
    folder.write("gone.txt", b"a word");
    folder.index(&[]);
    folder.write("changed.txt", b"it says something else now");
    fs::remove_file(folder.path("tree/gone.txt")).unwrap();
    let found = folder.search(&["word"]);
    let mut now: Vec<_> = found["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["now"].as_str().unwrap(), &file["line"]))
        .collect();
    now.sort_by_key(|(now, _)| *now);
    assert_eq!(now, [("changed", &Value::Null), ("unreadable", &Value::Null)]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_unicode_is_a_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"tree/latin-\xe9.txt");
    folder.write("other.txt", b"word");
    fs::write(folder.directory().join(name), "word").unwrap();
    folder.settle(name.as_ref());
    folder.index(&[]);
    assert_eq!(folder.search(&["word"])["count"], 2);
    assert_eq!(folder.index(&[])["unchanged"], 2);
    fs::remove_file(folder.directory().join(name)).unwrap();
    assert_eq!(folder.index(&[])["removed"], 1);
    assert_eq!(folder.names(&["word"]), ["other.txt"]);
}
