//! Prints a checksum of each file below a folder. At most eight files are open at a time, and all files
//! together may take ten seconds.
//!
//! ```sh
//! cargo run --example checksums -- executor/src
//! ```
//!
//! `bench` compares this program with versions that use rayon and tokio.

use executor::{FutureTask, ThreadPoolExecutor, prelude::*};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn main() -> io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "executor/src".to_owned());
    for (path, sum) in checksums(Path::new(&folder), 8, Duration::from_secs(10))? {
        let sum = sum.map_or_else(|error| error.to_string(), |sum| format!("{sum:08x}"));
        println!("{sum}  {}", path.display());
    }
    Ok(())
}

// ----- compared in `bench` -----
/// Returns each file with its checksum, or with the reason why it has no checksum.
pub fn checksums(folder: &Path, open: usize, limit: Duration) -> io::Result<Vec<(PathBuf, io::Result<u32>)>> {
    let pool = ThreadPoolExecutor::fixed(open);
    let files = files_below(folder)?;
    let sum = |path: &PathBuf| {
        let path = path.clone();
        FutureTask::fallible(move |token| checksum(&path, || Ok(token.check()?)))
    };
    let sums = pool.invoke_all_timeout(files.iter().map(sum), limit)?;
    let sums = sums.into_iter().map(|sum| sum.join().unwrap_or_else(|cut| Err(cut.into())));
    Ok(files.into_iter().zip(sums).collect())
}
// ----- shared by all sides -----

pub fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { &mut folders } else { &mut files }.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the checksum of a file. Before each block, `goes_on` returns an error if the reading must stop.
pub fn checksum(path: &Path, goes_on: impl Fn() -> io::Result<()>) -> io::Result<u32> {
    let (mut file, mut block, mut sum) = (File::open(path)?, vec![0; 1 << 16], 1_u32);
    while let length @ 1.. = goes_on().and_then(|()| file.read(&mut block))? {
        sum = block[..length].iter().fold(sum, |sum, &byte| sum.rotate_left(5) ^ u32::from(byte));
    }
    Ok(sum)
}
