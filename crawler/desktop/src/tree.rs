//! A tree of example files; each seed gives one tree, which has every kind of file that a real tree
//! has.

use fastrand::Rng;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The words that the files contain.
const VOCABULARY: [&str; 40] = [
    "thread",
    "pool",
    "queue",
    "worker",
    "task",
    "future",
    "handle",
    "cancel",
    "token",
    "latch",
    "semaphore",
    "barrier",
    "steal",
    "join",
    "fork",
    "stripe",
    "bound",
    "reject",
    "policy",
    "shutdown",
    "deadline",
    "timer",
    "wake",
    "park",
    "lock",
    "race",
    "pill",
    "poison",
    "producer",
    "consumer",
    "index",
    "crawl",
    "walk",
    "page",
    "host",
    "retry",
    "limit",
    "queue",
    "café",
    "naïve",
];

/// The modification time of all files; it is so long ago that it identifies the version of a file.
const WRITTEN: Duration = Duration::from_hours(490_896);

/// The number of files in one directory.
const IN_A_DIRECTORY: usize = 50;

/// Writes about `files` files into a directory that is new or empty.
///
/// The files are text, Markdown, source code and HTML in several encodings. The tree also has a binary file,
/// a huge file, a file of one line, a hidden file, and a file that `.ignore` excludes by its name. On Unix
/// the tree also has a link that leads to a directory above the link.
///
/// # Errors
/// Fails if the directory is not empty, or if the system refuses to write.
pub fn write(directory: &Path, files: usize, seed: u64) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    if fs::read_dir(directory)?.next().is_some() {
        return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, "the directory is not empty"));
    }
    let mut rng = Rng::with_seed(seed);
    for number in 0..files {
        let place = directory.join(format!("part-{:03}", number / IN_A_DIRECTORY));
        fs::create_dir_all(&place)?;
        let (name, bytes) = file(number, &mut rng);
        put(&place.join(name), &bytes)?;
    }
    special_ones(directory)
}

/// Returns true if this program has written the directory.
pub fn is_one(directory: &Path) -> bool {
    directory.join("one-line.txt").exists() && directory.join("part-000").exists()
}

/// Returns the name and the bytes of one of the ordinary files.
fn file(number: usize, rng: &mut Rng) -> (String, Vec<u8>) {
    let unique = format!("number{number}");
    let lines = rng.usize(3..60);
    let text: String = (0..lines).map(|_| sentence(rng)).collect();
    match number % 6 {
        0 => (format!("note-{number}.txt"), format!("{text}{unique}\n").into_bytes()),
        1 => (format!("page-{number}.md"), format!("# {unique}\n\n{text}").into_bytes()),
        2 => (
            format!("code_{number}.rs"),
            format!("fn {unique}() {{\n    // {}}}\n", sentence(rng)).into_bytes(),
        ),
        3 => {
            let body = text.replace('\n', "</p>\n<p>");
            let page = format!(
                "<!doctype html>\n<meta charset=utf-8>\n<script>\nvar hidden = 1;\n</script>\n<p>{unique}\n<p>{body}"
            );
            (format!("page-{number}.html"), page.into_bytes())
        }
        4 => {
            let latin = encoding_rs::WINDOWS_1252.encode(&text).0.into_owned();
            (format!("latin-{number}.txt"), [latin, format!("\n{unique}\n").into_bytes()].concat())
        }
        _ => {
            let wide = format!("\u{feff}{text}{unique}\n");
            (format!("wide-{number}.txt"), wide.encode_utf16().flat_map(u16::to_le_bytes).collect())
        }
    }
}

fn sentence(rng: &mut Rng) -> String {
    let words: Vec<_> = (0..rng.usize(4..14)).map(|_| VOCABULARY[rng.usize(..VOCABULARY.len())]).collect();
    format!("{}.\n", words.join(" "))
}

fn special_ones(directory: &Path) -> io::Result<()> {
    put(&directory.join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")?;
    put(&directory.join("one-line.txt"), "endless line ".repeat(100_000).as_bytes())?;
    put(&directory.join(".hidden.txt"), b"a phrase of no other file\n")?;
    put(&directory.join(".ignore"), b"left-out.txt\n")?;
    put(&directory.join("left-out.txt"), b"a phrase of no other file\n")?;
    put(
        &directory.join("japanese.txt"),
        &encoding_rs::SHIFT_JIS
            .encode("吾輩は猫である。\n名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n")
            .0,
    )?;
    let huge = File::create(directory.join("huge.txt"))?;
    huge.set_len(1 << 40).or_else(|_| huge.set_len(1 << 28))?; // a hole: it takes almost no room
    #[cfg(unix)]
    std::os::unix::fs::symlink(directory, directory.join("loop"))?;
    Ok(())
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.set_modified(SystemTime::UNIX_EPOCH + WRITTEN)
}
