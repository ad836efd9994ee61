//! Computes the checksums of `executor/examples/checksums.rs` with tokio's blocking pool. A blocking task
//! that has begun cannot be aborted, so the task reads a flag.

use super::checksums_ours::{checksum, files_below};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

// ----- compared in `bench` -----
pub fn checksums(folder: &Path, open: usize, limit: Duration) -> io::Result<Vec<(PathBuf, io::Result<u32>)>> {
    let runtime =
        Builder::new_multi_thread().worker_threads(1).max_blocking_threads(open).enable_time().build()?;
    let files = files_below(folder)?;
    let late = Arc::new(AtomicBool::new(false));
    let sum = |path: &PathBuf| {
        let (path, late) = (path.clone(), Arc::clone(&late));
        let goes_on = move || if late.load(Relaxed) { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) };
        spawn_blocking(move || goes_on().and_then(|()| checksum(&path, goes_on)))
    };
    Ok(runtime.block_on(async {
        let tasks: Vec<_> = files.iter().map(sum).collect();
        let flag = Arc::clone(&late);
        tokio::spawn(async move {
            sleep(limit).await;
            flag.store(true, Relaxed);
        });
        let mut sums = Vec::new();
        for (path, task) in files.into_iter().zip(tasks) {
            sums.push((path, task.await.unwrap_or_else(|panicked| Err(io::Error::other(panicked)))));
        }
        sums
    }))
}
