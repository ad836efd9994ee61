//! Checks two rules that the compiler does not check: each source file begins with a comment that explains
//! the file, and a module uses only modules that are listed before this module.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the sources in a directory and in its subdirectories.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// Returns the code of a file without its comments and without its tests, because tests may use every module.
fn code(file: &Path) -> String {
    let text = read(file);
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// Returns the modules that `lib.rs` lists, each with its code.
fn rooms() -> Vec<(String, String)> {
    let src = root().join("src");
    let list = code(&src.join("lib.rs"));
    let rooms = list
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let with_code = |name: &str| {
        let file = src.join(name).with_extension("rs");
        let files = if file.exists() { vec![file] } else { sources(&src.join(name)) };
        let files = files.iter().filter(|file| !file.ends_with("tests.rs"));
        (name.to_owned(), files.map(|file| code(file)).collect())
    };
    rooms.map(with_code).collect()
}

#[test]
fn each_file_has_a_page() {
    let files = ["src", "tests", "examples"].map(|folder| sources(&root().join(folder))).concat();
    let has_none = |file: &&PathBuf| !read(file).starts_with("//!") && !read(file).starts_with("#![doc = ");
    assert!(files.len() > 100, "{files:?}");
    assert_eq!(
        files.iter().filter(has_none).collect::<Vec<_>>(),
        Vec::<&PathBuf>::new(),
        "no page at the top"
    );
}

#[test]
fn a_folder_s_own_module_is_in_it() {
    let mut files = sources(&root().join("src"));
    files.retain(|file| file.with_extension("").is_dir());
    assert_eq!(files, Vec::<PathBuf>::new(), "these are to be the mod.rs of their folders");
}

#[test]
fn the_readme_names_each_room() {
    let readme = read(&root().join("README.md"));
    let rooms = rooms();
    assert!(rooms.len() > 20);
    for (name, _) in rooms {
        assert!(
            ["`NAME.rs`", "`NAME/`"].iter().any(|form| readme.contains(&form.replace("NAME", &name))),
            "{name}"
        );
    }
}

/// So there is no cycle among the modules of the library.
#[test]
fn a_room_names_only_rooms_above_it() {
    let rooms = rooms();
    for (place, (name, code)) in rooms.iter().enumerate() {
        for (below, _) in &rooms[place + 1..] {
            assert!(
                !code.contains(&format!("crate::{below}::")),
                "{name} names {below}, which is below it in lib.rs"
            );
        }
    }
}
