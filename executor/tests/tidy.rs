//! Checks rules that the compiler does not check: the order of the modules, the descriptions of the modules
//! in `guide.rs`, and the length of the examples.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files that list modules in bottom-up order: `lib.rs`, and the `mod.rs` of each folder at any
/// depth. If a listed file defines items itself, these items describe the folder of the file, and any module
/// of this folder may name these items.
fn lists() -> Vec<String> {
    fn below(folder: &str, lists: &mut Vec<String>) {
        for name in names_in(&src(folder)) {
            let inner = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if src(&inner).is_dir() {
                lists.push(format!("{inner}/mod.rs"));
                below(&inner, lists);
            }
        }
    }
    let mut lists = vec!["lib.rs".to_owned()];
    below("", &mut lists);
    lists
}

/// The largest permitted number of lines in the code that a new reader must read first.
const FIRST_PATH: usize = 1_620;

/// The largest permitted number of the library's types that occur in the code that a new reader must read
/// first.
const FIRST_PATH_TYPES: usize = 60;

/// Each file of an example must have fewer lines than this number, so that a reader can read the file in five
/// minutes.
const EXAMPLE: usize = 60;

/// Examples that may be longer. Some of the long examples measure or are built step by step, and some long
/// examples must still be shortened.
const LONG_EXAMPLES: &[&str] = &[
    "how_many_threads.rs",
    "locks_and_waiting",
    "memory_order.rs",
    "own_factory.rs",
    "pool_steps",
    "private_batch",
    "saturation.rs",
    "steal_simulation",
    "stress",
    "time_limits.rs",
    "where_time_goes.rs",
];

fn src(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the lines of the text without the items that only tests use, because tests may use all modules. An
/// item for tests ends at the first line that closes an item and is not indented.
fn without_tests(text: &str) -> impl Iterator<Item = &str> {
    let mut in_tests = false;
    text.lines().filter(move |line| {
        in_tests |= line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
        let kept = !in_tests;
        in_tests &= line.starts_with([' ', '#']) || !line.ends_with(['}', ';']);
        kept
    })
}

/// Returns the code without comments, because links in comments may name any module.
fn code(text: &str) -> String {
    without_tests(text)
        .map(|line| line.split("//").next().unwrap_or_default().trim_end().to_owned() + "\n")
        .collect()
}

/// Returns the identifier at the beginning of a text.
fn identifier(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

/// Returns the first identifier of each path in `{A, B as C}` or `A`.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    let list = text.strip_prefix('{').and_then(|list| list.split('}').next());
    assert!(list.is_none_or(|list| !list.contains('{')), "a list inside a list is not read: {list:?}");
    list.unwrap_or_else(|| identifier(text)).split(',').map(|item| identifier(item.trim()))
}

/// Returns the modules that a file declares, in the order of the file.
fn modules(code: &str) -> Vec<&str> {
    let declared = code.lines().filter_map(|line| {
        line.trim_start_matches("pub(crate) ").trim_start_matches("pub ").strip_prefix("mod ")
    });
    declared.filter_map(|declared| declared.strip_suffix(';')).collect()
}

/// Returns the names that a file re-exports, each with its module.
fn passed_on<'a>(code: &'a str, modules: &[&str]) -> BTreeMap<&'a str, &'a str> {
    let uses = code.split("use ").skip(1).filter_map(|path| path.split_once("::"));
    let of_modules = uses.filter(|(module, _)| modules.contains(module));
    of_modules.flat_map(|(module, names)| listed(names).map(move |name| (name, module))).collect()
}

/// Returns the paths with which a module of a list can name another module of the same list. If a wing (a
/// folder of modules) re-exports a name for the library's users, the modules of this wing may use the
/// re-exported path, too.
fn prefixes(list: &str) -> Vec<String> {
    match list.strip_suffix("/mod.rs") {
        None => vec!["crate::".to_owned()],
        Some(folder) => {
            let inside = format!("crate::{}::", folder.replace('/', "::"));
            vec!["super::".to_owned(), inside, "crate::".to_owned()]
        }
    }
}

/// Returns the modules of a list that name a module further down in the list. The argument `sources` is a
/// function that returns the texts of a module.
fn upward(list: &str, prefix: &str, sources: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let list = code(list);
    let modules = modules(&list);
    let names = passed_on(&list, &modules);
    let place = |name: &str| modules.iter().position(|module| module == names.get(name).unwrap_or(&name));
    let mut wrong = Vec::new();
    for (own, module) in modules.iter().enumerate() {
        for text in sources(module) {
            let code = code(&text);
            let mentioned = code.split(prefix).skip(1).flat_map(listed);
            let below = mentioned.filter(|name| place(name).is_some_and(|place| place > own));
            wrong.extend(below.map(|name| format!("{module} names {prefix}{name}")));
        }
    }
    wrong
}

/// Returns the texts of a module: the file `NAME.rs`, or all files in the folder `NAME` and below it. The
/// path `super` means the folder of the list only in the `mod.rs` of that folder.
fn sources(folder: &Path, module: &str, prefix: &str) -> Vec<String> {
    let file = folder.join(format!("{module}.rs"));
    let inner = folder.join(module);
    if file.exists() {
        return vec![read(&file)];
    }
    if prefix == "super::" {
        return vec![read(&inner.join("mod.rs"))];
    }
    let below = names_in(&inner).into_iter().filter(|name| name != "mod");
    let below = below.flat_map(|name| sources(&inner, &name, prefix));
    std::iter::once(read(&inner.join("mod.rs"))).chain(below).collect()
}

/// If all modules keep this order, their references cannot form a cycle.
#[test]
fn a_module_refers_only_to_modules_above_it() {
    for name in lists() {
        let list = src(&name);
        let folder = list.parent().unwrap();
        assert!(!modules(&code(&read(&list))).is_empty(), "{name} lists nothing");
        for prefix in prefixes(&name) {
            let wrong = upward(&read(&list), &prefix, |module| sources(folder, module, &prefix));
            assert!(wrong.is_empty(), "not the order of {}:\n{}", list.display(), wrong.join("\n"));
        }
    }
}

/// The wings of the web crawler, and the modules of each wing, are listed in bottom-up order, too.
#[test]
fn a_wing_of_the_crawler_refers_only_to_wings_above_it() {
    for wing in ["", "sites/", "crawl/", "out/", "lessons/"] {
        let list = src(&format!("../../crawler/src/web/{wing}mod.rs"));
        let folder = list.parent().unwrap();
        for prefix in ["super::".to_owned(), format!("crate::web::{}", wing.replace('/', "::"))] {
            let wrong = upward(&read(&list), &prefix, |module| sources(folder, module, &prefix));
            assert!(wrong.is_empty(), "not the order of {}:\n{}", list.display(), wrong.join("\n"));
        }
    }
}

/// The modules of the exercises' harness, and the modules of its folders, are listed in bottom-up order, too.
/// A module with a `#[path]` attribute is compiled from another folder, so the check leaves it out.
#[test]
fn a_module_of_the_harness_refers_only_to_modules_above_it() {
    for wing in ["", "diagnosis/", "recorder/", "model/", "model/graph/", "memory/"] {
        let folder = src("../../exercises/harness/src").join(wing);
        let list = read(&folder.join(if wing.is_empty() { "lib.rs" } else { "mod.rs" }));
        let is_here = |module: &str| {
            [".rs", "/mod.rs"].iter().any(|end| folder.join(format!("{module}{end}")).exists())
        };
        for prefix in prefixes(&format!("{wing}{}", if wing.is_empty() { "lib.rs" } else { "mod.rs" })) {
            let texts =
                |module: &str| if is_here(module) { sources(&folder, module, &prefix) } else { Vec::new() };
            let wrong = upward(&list, &prefix, texts);
            assert!(wrong.is_empty(), "not the order of {}:\n{}", folder.display(), wrong.join("\n"));
        }
    }
}

/// Returns the sorted names of the sources and folders in a folder, without `.rs`.
fn names_in(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries
        .filter(|name| Path::new(name).extension().is_none_or(|kind| kind == "rs"))
        .map(|name| name.trim_end_matches(".rs").to_owned())
        .collect();
    names.sort_unstable();
    names
}

/// If a file is missing from the list of its folder, the check does not know the position of the file in the
/// order.
#[test]
fn the_list_of_a_folder_has_each_file_in_it() {
    for name in lists() {
        let list = src(&name);
        let (list, folder) = (code(&read(&list)), list.parent().unwrap());
        let mut modules = modules(&list);
        modules.push(identifier(name.rsplit('/').next().unwrap()));
        modules.sort_unstable();
        assert_eq!(modules, names_in(folder), "{name}");
    }
}

/// The check must find a reference, even if a comment or an attribute is next to the declaration of a module.
#[test]
fn a_reference_to_a_module_below_is_found() {
    let list = "mod a; // first\n\npub mod b;\npub use b::{\n    B, C,\n};\n\n#[cfg(test)]\nmod t;\nmod d;  // last\n";
    let wrong = upward(list, "crate::", |module| {
        let text = match module {
            "a" => "//! [`B`](crate::B)\nuse crate::{E, d::F};\nfn f() -> crate::C {} // as crate::b\n",
            "b" => {
                "use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::d::T;\n}\nuse crate::{B, d::D};\n"
            }
            _ => "use crate::b::B;\n",
        };
        vec![text.to_owned()]
    });
    assert_eq!(wrong, ["a names crate::d", "a names crate::C", "b names crate::d"]);
}

#[test]
fn a_reference_to_a_file_below_in_the_same_folder_is_found() {
    let list = "mod tree;\n\nmod current;\npub use current::masked;\n";
    for (prefix, line) in prefixes("cancel/mod.rs").iter().zip([
        "super::masked",
        "crate::cancel::current::masked",
        "crate::masked",
    ]) {
        let wrong = upward(list, prefix, |module| {
            vec![if module == "tree" { format!("use {line};\n") } else { "use super::tree::T;\n".to_owned() }]
        });
        assert_eq!(wrong.len(), 1, "{line}");
    }
}

/// Returns the rows of the guide's table of modules, as cells.
fn table(guide: &str) -> Vec<Vec<&str>> {
    let rows = guide.lines().skip_while(|line| !line.starts_with("//! | module |")).skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("//! | "));
    rows.map(|row| row.split('|').map(str::trim).collect()).collect()
}

fn module_of<'a>(row: &[&'a str]) -> &'a str {
    identifier(row[0].trim_start_matches(['[', '`']))
}

#[test]
fn the_table_of_modules_has_their_order_and_names_chapters_of_the_book() {
    let guide = read(&src("guide.rs"));
    let table = table(&guide);
    let in_table: Vec<_> = table.iter().map(|row| module_of(row)).collect();
    assert_eq!(in_table, modules(&code(&read(&src("lib.rs")))));
    let book = read(&src("../../book/src/SUMMARY.md"));
    for row in table {
        let page = row[0].split("/src/executor/").nth(1).and_then(|path| path.split(".html)").next());
        assert!(page.is_some_and(|page| src(page).exists()), "no link to the source: {row:?}");
        let first_met_in = row[2];
        assert!(first_met_in == "–" || book.contains(&format!("[{first_met_in}]")), "{row:?}");
    }
}

#[test]
fn the_first_path_is_short_and_its_modules_are_marked() {
    let guide = read(&src("guide.rs"));
    let path = guide.lines().skip_while(|line| *line != "//! # A first path").skip(1);
    let (mut lines, mut on_it, mut named) = (0, Vec::new(), BTreeSet::new());
    for step in path.take_while(|line| !line.starts_with("//! # ")).filter(|line| line.contains(". `")) {
        let mut quoted = step.split('`').skip(1).step_by(2);
        let file = quoted.next().unwrap();
        let end = quoted.next().filter(|_| step.contains(", up to `"));
        let text = read(&src(file));
        assert!(end.is_none_or(|end| text.contains(end)), "{step}");
        let stop = without_tests(&text).take_while(|line| end.is_none_or(|end| !line.contains(end)));
        let stop: Vec<_> = stop.collect();
        lines += stop.len();
        let code = code(&stop.join("\n"));
        named.extend(words(&without_imports(&code)).map(str::to_owned));
        on_it.push(identifier(file));
    }
    assert!((1_000..=FIRST_PATH).contains(&lines), "{lines} lines");
    let mut files = Vec::new();
    files_below("", &mut files);
    let all: Vec<_> = files.iter().map(|file| code(&read(&src(file)))).collect();
    let types: BTreeSet<_> =
        all.iter().flat_map(|code| types(code)).map(|(name, _)| name.to_owned()).collect();
    let named: Vec<_> = named.intersection(&types).collect();
    assert!((20..=FIRST_PATH_TYPES).contains(&named.len()), "{named:?}");
    for row in table(&guide) {
        assert_eq!(row[0].contains('★'), on_it.contains(&module_of(&row)), "{row:?}");
    }
}

/// Returns the files of an example: its single file, or the files of its folder.
fn files_of(example: &Path) -> Vec<PathBuf> {
    match fs::read_dir(example) {
        Ok(folder) => folder.map(|file| file.unwrap().path()).collect(),
        Err(_) => vec![example.to_owned()],
    }
}

#[test]
fn the_files_of_an_example_are_short() {
    for example in fs::read_dir(src("../examples")).unwrap() {
        let example = example.unwrap();
        let files = files_of(&example.path()).into_iter();
        let too_long: Vec<_> = files.filter(|file| read(file).lines().count() >= EXAMPLE).collect();
        let may_be_long = LONG_EXAMPLES.contains(&&*example.file_name().to_string_lossy());
        assert_eq!(!too_long.is_empty(), may_be_long, "{}: {too_long:?}", example.path().display());
    }
}

/// Returns those types of a file that are visible in the whole crate or in the file's folder.
fn visible_types(code: &str) -> impl Iterator<Item = &str> {
    types(code).filter_map(|(name, is_visible)| is_visible.then_some(name))
}

/// Returns the types that a module declares, each with a flag that is true if other modules can use the
/// type.
fn types(code: &str) -> impl Iterator<Item = (&str, bool)> {
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    code.lines().filter_map(move |line| {
        let item = line.strip_prefix("pub").unwrap_or(line);
        let item = item.strip_prefix('(').map_or(item, |scope| &scope[scope.find(')').unwrap_or(0) + 1..]);
        let name = kinds.iter().find_map(|kind| item.trim_start().strip_prefix(kind)).map(identifier)?;
        (!line.starts_with(' ')).then_some((name, line.starts_with("pub")))
    })
}

/// Returns those words of a text that can be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the code of a file without its imports.
fn without_imports(code: &str) -> String {
    let mut in_import = false;
    let kept = code.lines().filter(|line| {
        let item =
            line.strip_prefix("pub").map_or(*line, |item| item.split_once(' ').map_or("", |(_, item)| item));
        in_import |= item.starts_with("use ");
        let kept = !in_import;
        in_import &= !line.ends_with(';');
        kept
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// Adds the files of a folder and of the folders below it, with their paths relative to `src`.
fn files_below(folder: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(src(folder)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if src(&path).is_dir() {
            files_below(&path, files);
        } else if src(&path).extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// All visible types have different names, so a reader who searches for a name finds only one type.
#[test]
fn no_two_types_that_a_module_shows_have_the_same_name() {
    let (mut files, mut seen) = (Vec::new(), BTreeMap::new());
    files_below("", &mut files);
    for file in files {
        for name in visible_types(&code(&read(&src(&file)))) {
            let other = seen.insert(name.to_owned(), file.clone());
            assert!(other.is_none(), "{name} is in {file} and in {}", other.unwrap());
        }
    }
    assert!(seen.len() > 100, "only {} types were found", seen.len());
}

#[test]
fn a_type_that_others_see_is_found_whoever_may_see_it() {
    let text =
        "pub struct A<T>(T);\npub(super) enum B {}\nstruct C;\npub(in crate::x) trait D {}\npub fn e() {}\n";
    assert_eq!(visible_types(text).collect::<Vec<_>>(), ["A", "B", "D"]);
}

/// The guide describes a task's path through the library, and this description names only functions that
/// exist.
#[test]
fn each_function_on_the_walk_of_a_task_is_in_its_file() {
    let guide = read(&src("guide.rs"));
    let rows = guide.lines().skip_while(|line| !line.starts_with("//! | where | function |")).skip(2);
    let rows: Vec<_> = rows.map_while(|line| line.strip_prefix("//! | ")).collect();
    assert!(rows.len() >= 8, "the walk has {} steps", rows.len());
    for row in rows {
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let function = code(&read(&src(cells[0])))
            .lines()
            .any(|line| line.split_once("fn ").is_some_and(|(_, declared)| identifier(declared) == cells[1]));
        assert!(function, "{} has no function {}", cells[0], cells[1]);
    }
}

/// For each word, the guide's list of words names the file that explains the word. The documentation of this
/// file must use the word.
#[test]
fn each_word_of_the_list_is_on_the_page_that_explains_it() {
    let guide = read(&src("guide.rs"));
    let rows = guide.lines().skip_while(|line| !line.starts_with("//! | word |")).skip(2);
    let rows: Vec<_> = rows.map_while(|line| line.strip_prefix("//! | ")).collect();
    assert!(rows.len() > 10, "the list has {} rows", rows.len());
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let page = read(&src(cells[2].trim_matches('`')));
        let comments: String =
            page.lines().filter_map(|line| Some(line.split_once("//")?.1.to_lowercase() + " ")).collect();
        let comments = comments.replace(['/', '!', '*'], "");
        let comments = comments.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(comments.contains(cells[0]), "{} does not speak of a {}", cells[2], cells[0]);
    }
}
