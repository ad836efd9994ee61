//! A folder with files and an index, functions that run the two programs on it, and functions that read the
//! index.

use desktop_search::tree;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};
use tantivy::postings::Postings;
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::{DocSet, Index, SegmentReader, TERMINATED, TantivyDocument};
use tempfile::TempDir;

/// The endings of the file names in a demo tree, one for each kind of file.
pub(crate) const KINDS: [&str; 6] = [".txt", ".md", ".rs", ".html", ".txt", ".txt"];

/// A time that is so long ago that it identifies the version of a file.
const LONG_AGO: Duration = Duration::from_secs(1_700_000_000);

/// A folder whose `tree/` is indexed into `index/`.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::create_dir(folder.path("tree")).unwrap();
        folder
    }

    pub(crate) fn with_a_tree(files: usize) -> Folder {
        let folder = Folder::new();
        tree::write(&folder.path("tree"), files, 7).unwrap();
        folder
    }

    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// Returns the contents of the folder's index.
    pub(crate) fn contents(&self) -> BTreeMap<String, Indexed> {
        contents(&self.path("index"))
    }

    /// Writes a file below `tree/`; the prefix `tree/` in its name is optional.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = if name.starts_with("tree/") { self.path(name) } else { self.path("tree").join(name) };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        self.settle(&path);
    }

    /// Sets the time of a file to an old time. Files of different sizes get different times, so that two
    /// versions of a file differ.
    pub(crate) fn settle(&self, path: &Path) {
        let file = File::options().write(true).open(self.directory().join(path)).unwrap();
        let size = file.metadata().unwrap().len();
        file.set_modified(SystemTime::UNIX_EPOCH + LONG_AGO + Duration::from_secs(size)).unwrap();
    }

    /// Sets the modification time of all files in the tree to a given day.
    pub(crate) fn touch(&self, day: &str) {
        let mut find = Command::new("find");
        find.arg(self.path("tree")).args(["-type", "f", "-exec", "touch", "-d", day, "{}", "+"]);
        assert!(find.status().unwrap().success());
    }

    pub(crate) fn program(&self, name: &str) -> Command {
        let path = if name == "index" { env!("CARGO_BIN_EXE_index") } else { env!("CARGO_BIN_EXE_search") };
        let mut command = Command::new(path);
        command
            .current_dir(self.directory())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `index` or `search` on the index of the folder.
    pub(crate) fn run(&self, name: &str, flags: &[&str], words: &[&str]) -> Output {
        let mut command = self.program(name);
        match name {
            "index" => command.args(words).args(["--into", "index"]).args(flags),
            _ => command.args(flags).arg("index").args(words),
        };
        command.output().unwrap()
    }

    /// Indexes the tree, and returns the report.
    pub(crate) fn index(&self, flags: &[&str]) -> Value {
        let tree = self.path("tree");
        self.index_only(&[&[tree.to_str().unwrap()], flags].concat())
    }

    pub(crate) fn index_only(&self, arguments: &[&str]) -> Value {
        let run = self.run("index", &["--json"], arguments);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!((run.status.code(), said.as_str()), (Some(0), ""));
        serde_json::from_slice(&run.stdout).unwrap()
    }

    pub(crate) fn search(&self, words: &[&str]) -> Value {
        let run = self.run("search", &["--json"], words);
        assert!(matches!(run.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice(&run.stdout).unwrap()
    }

    /// Returns the names of the files that a search finds, in the order of the output.
    pub(crate) fn names(&self, words: &[&str]) -> Vec<String> {
        let found = self.search(words);
        let name = |file: &Value| {
            let path = Path::new(file["path"].as_str().unwrap());
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let mut names: Vec<_> = found["files"].as_array().unwrap().iter().map(name).collect();
        names.sort();
        names
    }
}

/// The data that an index has of a file: its version, and the positions of each word.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Indexed {
    stamp: (Option<i64>, Option<u64>),
    words: BTreeMap<(String, String), Vec<u32>>,
}

/// Returns the contents of an index, by path. Panics if the index has a file twice.
pub(crate) fn contents(index: &Path) -> BTreeMap<String, Indexed> {
    let index = Index::open_in_dir(index).unwrap();
    let searcher = index.reader().unwrap().searcher();
    let mut all = BTreeMap::new();
    for (number, segment) in searcher.segment_readers().iter().enumerate() {
        let paths: BTreeMap<u32, String> = segment
            .doc_ids_alive()
            .map(|document| {
                let address = tantivy::DocAddress::new(u32::try_from(number).unwrap(), document);
                let document: TantivyDocument = searcher.doc(address).unwrap();
                let field = index.schema().get_field("path").unwrap();
                (address.doc_id, document.get_first(field).unwrap().as_str().unwrap().to_owned())
            })
            .collect();
        for (document, path) in &paths {
            let columns = segment.fast_fields();
            let modified = columns.i64("modified").unwrap().first(*document);
            let stamp = (modified, columns.u64("size").unwrap().first(*document));
            let indexed = Indexed { stamp, words: BTreeMap::new() };
            assert!(all.insert(path.clone(), indexed).is_none(), "{path} is there twice");
        }
        for field in ["name", "text"] {
            add_words(&index, segment, field, &paths, &mut all);
        }
    }
    all
}

fn add_words(
    index: &Index,
    segment: &SegmentReader,
    field: &str,
    paths: &BTreeMap<u32, String>,
    all: &mut BTreeMap<String, Indexed>,
) {
    let inverted = segment.inverted_index(index.schema().get_field(field).unwrap()).unwrap();
    let mut terms = inverted.terms().stream().unwrap();
    while terms.advance() {
        let word = String::from_utf8(terms.key().to_vec()).unwrap();
        let option = IndexRecordOption::WithFreqsAndPositions;
        let mut postings = inverted.read_postings_from_terminfo(terms.value(), option).unwrap();
        while postings.doc() != TERMINATED {
            if let Some(path) = paths.get(&postings.doc()) {
                let mut positions = Vec::new();
                postings.positions(&mut positions);
                let words = &mut all.get_mut(path).unwrap().words;
                words.insert((field.to_owned(), word.clone()), positions);
            }
            postings.advance();
        }
    }
}
