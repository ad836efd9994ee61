//! The indexing half of desktop search: it puts the words of files into an index on disk.
//!
//! One thread walks through directories and puts files that have changed into a bounded queue. Several
//! threads take files out of the queue, read them, and put their words into the index. When the walk ends or
//! is stopped, a poison pill for each reading thread is put into the queue. Files that are in front of the
//! pills in the queue are still indexed.
//!
//! ```sh
//! cargo run -p desktop-search --bin index -- --demo demo-files --into demo-index
//! cargo run -p desktop-search --bin search -- demo-index poison pill
//! cargo run --release -p desktop-search --bin index -- ~/documents --into ~/documents.index
//! ```
//!
//! The chapter "Poison pills" of the book explains this program.

use anyhow::{anyhow, bail};
use clap::Parser;
use command_line::FAILED;
use crawler::pills::{self, Consumer, Producer};
use desktop_search::{Content, Crawl, File, IndexArgs, Indexing, read_guarded};
use executor::{CancelToken, ExecutorExt, JoinError, TaskHandle, ThreadPoolExecutor};
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest number of files that wait to be read.
const QUEUE: usize = 1000;

/// The interval at which the waiting thread checks the clock.
const TICK: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let args = IndexArgs::parse();
    command_line::run("index", FAILED, "stopping; files that wait in the queue are still indexed", |stop| {
        let indexing = Arc::new(Indexing::prepare(&args)?);
        let ended = index(&indexing, stop);
        indexing.finish(ended, stop)
    })
}

// ANCHOR: index
/// Indexes everything below the directories of the command line, until the end or until `stop` is
/// cancelled. Returns true if the walk reached its end.
pub(crate) fn index(indexing: &Arc<Indexing>, stop: &CancelToken) -> anyhow::Result<bool> {
    let crawl = indexing.crawl()?;
    let readers = indexing.readers;
    let (producer, consumers) = pills::queue(QUEUE, readers);
    // The tasks wait for each other, so each task needs its own thread.
    let pool = ThreadPoolExecutor::builder().threads(1 + readers).name("index").build()?;
    let stop = stop.clone();
    let crawler = pool.submit(move || stop.attach(|| put_files(crawl, producer)))?;
    let mut indexers = Vec::new();
    for consumer in consumers {
        let indexing = Arc::clone(indexing);
        indexers.push(pool.submit(move || index_files(consumer, &indexing))?);
    }

    let mut failed = None;
    let mut last_commit = Instant::now();
    for indexer in indexers {
        failed = failed.or(wait_for(indexer, indexing, &mut last_commit).err());
    }
    let (crawl, is_whole) = crawler.join().map_err(|_| anyhow!("the thread that walks has panicked"))??;
    match failed {
        // If the commit also fails, the error of the commit explains why the threads have ended.
        Some(error) => indexing.commit(false).and(Err(error)),
        None => indexing.commit_rest(&crawl, is_whole).map(|()| is_whole),
    }
}
// ANCHOR_END: index

// ANCHOR: put_files
/// Puts the files of the walk into the queue; one thread runs this function. Returns true if the walk
/// reached its end.
fn put_files(mut crawl: Crawl, producer: Producer<File>) -> anyhow::Result<(Crawl, bool)> {
    let stop = CancelToken::current();
    while let Some(file) = crawl.next().transpose()? {
        // The walk ends here if all consumers are gone, or if the walk is stopped, even if it is waiting for
        // room in the queue.
        if stop.is_cancelled() || producer.put(file).is_err() {
            return Ok((crawl, false));
        }
    }
    let is_whole = !stop.is_cancelled();
    Ok((crawl, is_whole))
} // the producer is dropped here and puts the pills
// ANCHOR_END: put_files

// ANCHOR: index_files
/// Takes files out of the queue and indexes them; each reading thread runs this function.
fn index_files(mut files: Consumer<File>, indexing: &Indexing) -> anyhow::Result<()> {
    let mut batch = indexing.batch();
    while let Some(file) = files.take()? {
        match read_guarded(&file.path, indexing.max_bytes) {
            Ok(Content::Text(text, stamp)) => indexing.put(file, text, stamp, &mut batch)?,
            Ok(Content::Skipped(why)) => indexing.skip(&file, why),
            Err(error) if error.kind() == ErrorKind::NotFound => indexing.gone(&file),
            Err(error) => indexing.tally.unreadable(Some(&file.path), &error),
        }
    }
    batch.send()
}
// ANCHOR_END: index_files

/// Waits for a thread to end; meanwhile shows the progress of the other threads, and commits at the chosen
/// interval.
fn wait_for(
    mut thread: TaskHandle<anyhow::Result<()>>,
    indexing: &Indexing,
    last_commit: &mut Instant,
) -> anyhow::Result<()> {
    loop {
        match thread.join_timeout(TICK) {
            Ok(ended) => return ended,
            Err(JoinError::TimedOut(again)) => thread = again,
            Err(_) => bail!("a thread that indexes has panicked"),
        }
        indexing.progress.show(&indexing.tally);
        if last_commit.elapsed() >= indexing.commit_every {
            indexing.commit_so_far()?;
            *last_commit = Instant::now();
        }
    }
}
