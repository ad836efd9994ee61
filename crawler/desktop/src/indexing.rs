//! A run of `index`: the data that its threads share, and the report at its end.

use crate::content::{Content, Skipped, Stamp, read};
use crate::progress::Progress;
use crate::{Batch, Crawl, File, IndexArgs, Rules, Store, Tally, Writer, roots, tree};
use anyhow::{Context, anyhow};
use command_line::{GAPS, INTERRUPTED};
use executor::CancelToken;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The largest number of threads that turn text into parts of the index. The library allows at most this
/// number of threads.
const MOST_WRITERS: usize = 8;

/// The data that the threads of a run share.
pub struct Indexing {
    /// The number of threads that read files.
    pub readers: usize,
    /// The size of the largest file that is read, in bytes.
    pub max_bytes: u64,
    /// The interval between two commits of the index.
    pub commit_every: Duration,
    /// The counts of indexed, skipped and removed files.
    pub tally: Arc<Tally>,
    /// Shows the counts of files during the run.
    pub progress: Progress,
    roots: Vec<PathBuf>,
    rules: Rules,
    store: Store,
    writer: Writer,
    is_verbose: bool,
    is_json: bool,
    begun: Instant,
}

impl Indexing {
    /// Opens the index that the command line names, and finds the directories to index.
    ///
    /// # Errors
    /// Fails if a directory does not exist. Also fails if the index is damaged, has a later version, is in
    /// use by another process, or cannot be written.
    pub fn prepare(args: &IndexArgs) -> anyhow::Result<Indexing> {
        let demo = args.demo.as_ref();
        if let Some(directory) = demo {
            write_demo(directory, args.demo_files)?;
        }
        let named = demo.map_or(args.directories.as_slice(), std::slice::from_ref);
        let roots = roots(named).map_err(|(path, error)| anyhow!("{}: {error}", path.display()))?;
        let store = Store::open_or_create(&args.into)?;
        store.verify()?;
        let readers = args.readers();
        let writer = Writer::new(&store, readers.min(MOST_WRITERS))?;
        let known = store.files()?;
        Ok(Indexing {
            readers,
            max_bytes: args.max_bytes,
            commit_every: args.commit_every,
            tally: Arc::default(),
            progress: Progress::new(known, !args.json && !args.verbose),
            roots,
            rules: args.rules.clone(),
            store,
            writer,
            is_verbose: args.verbose,
            is_json: args.json,
            begun: Instant::now(),
        })
    }

    /// Returns the walk below all directories.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn crawl(&self) -> anyhow::Result<Crawl> {
        Crawl::new(self.roots.clone(), &self.rules, &self.store, &self.tally)
    }

    /// Returns a batch, through which one thread puts files into the index.
    pub fn batch(&self) -> Batch<'_> {
        self.writer.batch()
    }

    /// Puts a version of a file into the index, through the batch of a thread.
    ///
    /// # Errors
    /// Fails if the index cannot be written.
    pub fn put(&self, file: File, text: String, stamp: Stamp, batch: &mut Batch<'_>) -> anyhow::Result<()> {
        let (bytes, named) = (text.len() as u64, self.is_verbose.then(|| file.path.clone()));
        batch.put(file, text, stamp)?;
        self.tally.count(|tally| &tally.indexed);
        self.tally.bytes.fetch_add(bytes, Relaxed);
        if let Some(path) = named {
            command_line::say(format_args!("indexed {}", crate::printable(&path.to_string_lossy())));
        }
        Ok(())
    }

    /// Leaves a file out of the index, for the reason `why`.
    pub fn skip(&self, file: &File, why: Skipped) {
        self.writer.remove(file);
        self.tally.skipped(why);
    }

    /// Removes from the index a file that was deleted after its directory was read.
    pub fn gone(&self, file: &File) {
        if self.writer.remove(file) {
            self.tally.count(|tally| &tally.removed);
        }
    }

    /// Commits all changes that were made to the index so far; this is for the middle of a run.
    ///
    /// # Errors
    /// Fails if the index cannot be written. After an error, the index stays in the state of the last
    /// commit.
    pub fn commit_so_far(&self) -> anyhow::Result<()> {
        self.writer.commit_changes().map(|is_new| self.committed(is_new))
    }

    /// Makes the last commit of a run.
    ///
    /// # Errors
    /// Fails in the same cases as [`commit_so_far`](Self::commit_so_far).
    pub fn commit(&self, is_complete: bool) -> anyhow::Result<()> {
        self.writer.commit(is_complete).map(|is_new| self.committed(is_new))
    }

    /// Makes the last commit of a run that had no error. If the walk reached its end, also removes from the
    /// index the files that no longer exist.
    ///
    /// # Errors
    /// Fails in the same cases as [`commit_so_far`](Self::commit_so_far).
    pub fn commit_rest(&self, crawl: &Crawl, is_whole: bool) -> anyhow::Result<()> {
        if is_whole {
            crawl.remove_unseen(&self.writer)?;
        }
        self.commit(is_whole)
    }

    fn committed(&self, is_new: bool) {
        if is_new && self.is_verbose {
            command_line::say(format_args!("committed {}", self.tally.indexed.load(Relaxed)));
        }
    }

    /// Prints the report, and returns the exit status.
    ///
    /// # Errors
    /// Returns the error that ended the run, if the run failed.
    pub fn finish(
        self: Arc<Self>,
        ended: anyhow::Result<bool>,
        stop: &CancelToken,
    ) -> anyhow::Result<ExitCode> {
        self.progress.finish();
        let is_whole = ended?;
        let run = Arc::into_inner(self).context("a thread of the run has not ended")?;
        if is_whole && !stop.is_cancelled() {
            run.writer.close()?;
        }
        let seconds = run.begun.elapsed().as_secs_f64();
        if run.is_json {
            let mut report = run.tally.json();
            report["complete"] = is_whole.into();
            report["seconds"] = seconds.into();
            command_line::print(format_args!("{report}\n"))?;
        } else {
            let end = if is_whole {
                ""
            } else {
                "Incomplete: it was told to stop. The same command goes on from here.\n"
            };
            command_line::print(format_args!("{} in {seconds:.1} s\n{end}", run.tally))?;
        }
        Ok(match (is_whole, run.tally.gaps()) {
            (false, _) => ExitCode::from(INTERRUPTED),
            (true, 0) => ExitCode::SUCCESS,
            (true, _) => ExitCode::from(GAPS),
        })
    }
}

/// Reads a file like [`read`], but turns a panic into an error. If a library panics on the file, only this
/// file counts as unreadable.
///
/// # Errors
/// Fails in the same cases as [`read`].
pub fn read_guarded(path: &Path, limit: u64) -> io::Result<Content> {
    catch_unwind(AssertUnwindSafe(|| read(path, limit)))
        .unwrap_or_else(|_| Err(io::Error::other("reading it panicked, which is a bug of this program")))
}

/// Writes the files of the demo, unless the files already exist.
fn write_demo(directory: &Path, files: usize) -> anyhow::Result<()> {
    match tree::write(directory, files, 1) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tree::is_one(directory) => Ok(()),
        written => written.with_context(|| format!("cannot write files into {}", directory.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::fs;
    use std::time::SystemTime;

    /// Writes a file; all files with texts of equal length get the same time.
    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(text.len() as u64);
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_commit_in_the_middle_of_a_run_does_not_decide_what_the_index_is_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, into) = (folder.path().join("tree"), folder.path().join("index"));
        fs::create_dir(&tree).unwrap();
        let flags = ["index".as_ref(), tree.as_os_str(), "--into".as_ref(), into.as_os_str()];
        let args = IndexArgs::parse_from(flags);
        // Runs `index`. Returns whether the index was complete in the middle of the run, and whether it was
        // complete at the end of the run.
        let run = |(text, is_whole): (&str, bool)| {
            write(&tree.join("file"), text);
            let run = Indexing::prepare(&args).unwrap();
            let (mut crawl, mut batch) = (run.crawl().unwrap(), run.batch());
            for file in crawl.by_ref().map(Result::unwrap) {
                let stamp = Stamp::of(&file.path.metadata().unwrap());
                run.put(file, text.to_owned(), stamp, &mut batch).unwrap();
            }
            batch.send().unwrap();
            run.commit_so_far().unwrap();
            let middle = run.store.is_complete().unwrap();
            run.commit_rest(&crawl, is_whole).unwrap();
            (middle, run.store.is_complete().unwrap())
        };
        let ran = [("first", true), ("", true), ("", true), ("last", true), ("last", false)].map(run);
        assert_eq!(ran, [(false, true), (false, true), (true, true), (false, true), (true, false)]);
    }
}
