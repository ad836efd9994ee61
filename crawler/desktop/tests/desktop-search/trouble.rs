//! Checks that after a fault of an index, a tree or a disk, the program ends with a message and an exit
//! status, and does not hang. No committed file is lost.

use crate::folder::Folder;
use clap::Parser;
use desktop_search::{IndexArgs, Indexing};
use std::fs::{self, File};
use std::io;
use std::process::Output;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn said(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Runs both programs on a damaged index. A signal must not end either program, and a program that fails must
/// explain its failure in a sentence.
fn both(folder: &Folder, what: &str) -> (Option<i32>, Option<i32>) {
    let search = folder.run("search", &[], &["number1"]);
    let index = folder.run("index", &[], &["tree"]);
    for (run, failed) in [(&search, 2), (&index, 1)] {
        let said = said(run);
        let status = run.status.code().unwrap_or_else(|| panic!("{what}: {}", run.status));
        if status == failed {
            assert!(said.lines().count() == 1 && said.contains("index"), "{what}: {said}");
            assert!(!said.contains("panicked"), "{what}: {said}");
        } else {
            assert_eq!((status, said.as_str()), (0, ""), "{what}");
        }
    }
    (search.status.code(), index.status.code())
}

/// Damages each file of an index in several ways: cuts it in half, empties it, removes it, and flips some
/// of its bits.
#[test]
fn a_damaged_index_is_refused() {
    let folder = Folder::with_a_tree(12);
    folder.index(&["--threads", "1"]);
    let whole = folder.path("whole");
    fs::rename(folder.path("index"), &whole).unwrap();
    let names: Vec<_> = fs::read_dir(&whole).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let mut refused = 0;
    for name in &names {
        for way in ["half", "empty", "gone", "turned"] {
            let _ = fs::remove_dir_all(folder.path("index"));
            fs::create_dir(folder.path("index")).unwrap();
            for other in &names {
                fs::copy(whole.join(other), folder.path("index").join(other)).unwrap();
            }
            let file = folder.path("index").join(name);
            let mut bytes = fs::read(&file).unwrap();
            match way {
                "half" => bytes.truncate(bytes.len() / 2),
                "empty" => bytes.clear(),
                "gone" => fs::remove_file(&file).unwrap(),
                // Each file of the index has a checksum at its end.
                _ => (0..bytes.len() / 2).step_by(7).for_each(|at| bytes[at] ^= 0x24),
            }
            if way != "gone" {
                fs::write(&file, &bytes).unwrap();
            }
            let is_part = !name.to_str().unwrap().starts_with('.');
            let what = format!("{name:?} {way}");
            let (_, index) = both(&folder, &what);
            assert!(!is_part || index == Some(1), "{what}: nothing is built on it");
            refused += usize::from(index == Some(1));
        }
    }
    assert!(refused >= 4 * 6, "{refused} refused of {names:?}");
}

#[test]
fn what_is_no_index_is_left_alone() {
    let folder = Folder::with_a_tree(1);
    fs::create_dir(folder.path("index")).unwrap();
    fs::write(folder.path("index/letter.txt"), "dear").unwrap();
    let (search, index) = both(&folder, "a directory with something else");
    assert_eq!((search, index), (Some(2), Some(1)));
    assert_eq!(fs::read(folder.path("index/letter.txt")).unwrap(), b"dear");

    fs::remove_dir_all(folder.path("index")).unwrap();
    fs::write(folder.path("index"), "a file").unwrap();
    assert_eq!(both(&folder, "a file"), (Some(2), Some(1)));
    fs::remove_file(folder.path("index")).unwrap();

    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("title", tantivy::schema::TEXT);
    fs::create_dir(folder.path("index")).unwrap();
    tantivy::Index::create_in_dir(folder.path("index"), schema.build()).unwrap();
    assert_eq!(both(&folder, "an index of another program"), (Some(2), Some(1)));
}

#[test]
fn an_index_of_another_version_is_refused() {
    for (format, is_said) in [(1, "an earlier version"), (3, "a later version")] {
        let folder = Folder::with_a_tree(1);
        folder.index(&[]);
        let meta = folder.path("index/meta.json");
        let text = fs::read_to_string(&meta).unwrap();
        let other = text.replace(r#"\"format\":2"#, &format!(r#"\"format\":{format}"#));
        assert_ne!(text, other);
        fs::write(&meta, other).unwrap();
        let run = folder.run("search", &[], &["number0"]);
        assert!(said(&run).contains(is_said), "{}", said(&run));
        assert_eq!(both(&folder, is_said), (Some(2), Some(1)));
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let folder = Folder::new();
    let run = folder.run("index", &[], &["tree", "nowhere"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(said(&run).starts_with("index: nowhere: "), "{}", said(&run));
    assert!(!folder.path("index").exists(), "nothing has been begun");
    let run = folder.run("search", &[], &["word"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(said(&run).contains("there is no index"), "{}", said(&run));
}

#[test]
fn two_at_once_are_refused() {
    let folder = Folder::with_a_tree(3);
    folder.index(&[]);
    let (tree, into) = (folder.path("tree"), folder.path("index"));
    let args = IndexArgs::parse_from(["index", tree.to_str().unwrap(), "--into", into.to_str().unwrap()]);
    let first = Indexing::prepare(&args).unwrap();
    let second = folder.run("index", &[], &["tree"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(said(&second).contains("another process is at work"), "{}", said(&second));
    assert_eq!(folder.search(&["number1"])["count"], 1, "searching is no trouble");
    drop(first);
    folder.index(&[]);
}

/// A limit for the size of files has the same effect as a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing_that_was_committed() {
    let folder = Folder::with_a_tree(12);
    folder.index(&[]);
    let before = folder.contents();
    for number in 0..200 {
        let text = (0..200).map(|word| format!("w{}x{word}", number * 7919)).collect::<Vec<_>>().join(" ");
        folder.write(&format!("tree/new/{number}.txt"), text.as_bytes());
    }
    let index = env!("CARGO_BIN_EXE_index");
    let limited = format!("trap '' XFSZ; ulimit -f 40; exec {index} tree --into index");
    let mut shell = std::process::Command::new("sh");
    let run = shell.args(["-c", &limited]).current_dir(folder.directory()).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    let said = said(&run);
    assert!(said.contains("cannot be written") && said.contains("File too large"), "{said}");
    assert_eq!(folder.contents(), before);
    assert_eq!(folder.search(&["number1"])["count"], 1);
    let again = folder.index(&[]);
    assert_eq!((&again["indexed"], &again["unchanged"]), (&200.into(), &14.into()));
}

/// One link leads to a directory above the link, and another link leads nowhere.
#[cfg(unix)]
#[test]
fn links_are_no_trouble() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with_a_tree(3);
    symlink(folder.path("tree/nowhere"), folder.path("tree/broken")).unwrap();
    symlink(folder.path("tree/part-000"), folder.path("tree/again")).unwrap();
    symlink(folder.path("tree/one-line.txt"), folder.path("tree/again.txt")).unwrap();
    folder.write("../outside/a.txt", b"outside");
    symlink(folder.path("outside"), folder.path("tree/out")).unwrap();
    symlink(folder.path("outside/a.txt"), folder.path("tree/out.txt")).unwrap();
    assert_eq!(folder.index(&[])["indexed"], 5, "links are not followed");
    symlink(folder.path("index"), folder.path("tree/index")).unwrap();
    let run = folder.run("index", &["--follow", "--json"], &["tree"]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let named = report["named"].as_array().unwrap();
    assert!(named.len() == 1 && named[0]["path"].as_str().unwrap().ends_with("broken"), "{named:?}");
    assert_eq!((&report["indexed"], &report["complete"]), (&2.into(), &true.into()), "what is outside");
    assert_eq!(folder.search(&["number1"])["count"], 1, "it has a name in the tree");
    assert_eq!(folder.search(&["outside"])["count"], 2);
}

/// Each of seven directories has a link to each of the seven directories, which makes 13,699 paths to seven
/// files.
#[cfg(unix)]
#[test]
fn directories_that_link_to_each_other_are_walked_once() {
    use std::os::unix::fs::symlink;
    for place in ["tree/inside", "outside"] {
        let folder = Folder::new();
        folder.write("tree/a.txt", b"word");
        for from in 0..7 {
            let directory = folder.path(&format!("{place}/{from}"));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("a.txt"), "word").unwrap();
            for to in 0..7 {
                symlink(folder.path(&format!("{place}/{to}")), directory.join(format!("to-{to}"))).unwrap();
            }
            symlink(&directory, folder.path(&format!("tree/link-{from}"))).unwrap();
        }
        let report = folder.index(&["--follow"]);
        assert_eq!((&report["indexed"], &report["unreadable"]), (&8.into(), &0.into()), "{report}");
    }
}

/// Opening a pipe blocks until a process opens the other end, and here no process does.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    folder.write("a.txt", b"word");
    let made = std::process::Command::new("mkfifo").arg(folder.path("tree/pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(folder.index(&[])["skipped"]["special"], 1);
    // A pipe can also replace a file after the directory of the file was read.
    let (sender, content) = mpsc::channel();
    let pipe = folder.path("tree/pipe");
    thread::spawn(move || sender.send(desktop_search::read(&pipe, 100).unwrap()));
    let content = content.recv_timeout(Duration::from_secs(30)).expect("it does not wait");
    assert_eq!(content, desktop_search::Content::Skipped(desktop_search::Skipped::Special));
}

/// A reader that has closed its end of the pipe wants no more output, so a closed pipe is not an error. A
/// full disk is an error of the program. The program does not panic on a full disk or a closed pipe.
#[cfg(target_os = "linux")]
#[test]
fn output_that_nobody_takes_is_no_panic() {
    let folder = Folder::with_a_tree(5);
    let runs: [(_, &[_], _); 4] = [
        ("index", &["tree", "--into", "index"], 1),
        ("index", &["tree", "--into", "index", "--json", "--verbose"], 1),
        ("search", &["index", "number1"], 2),
        ("search", &["index", "number1", "--json"], 2),
    ];
    for (program, words, failed) in runs {
        let closed = || io::pipe().unwrap().1;
        let full = File::options().write(true).open("/dev/full").unwrap();
        let run = folder.program(program).args(words).stdout(closed()).stderr(closed()).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{program} {words:?}");
        let run = folder.program(program).args(words).stdout(full).output().unwrap();
        assert_eq!(run.status.code(), Some(failed), "{program} {words:?}: {}", said(&run));
        assert!(said(&run).contains("the output cannot be written"), "{program} {words:?}: {}", said(&run));
        assert!(!said(&run).contains("panicked"), "{program} {words:?}: {}", said(&run));
    }
}
