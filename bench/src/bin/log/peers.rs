//! The peers; each peer writes to a file, as its documentation shows, with the time and the level on each
//! line. If a peer lets its user choose, it blocks its callers and loses no line, unless its name says
//! otherwise.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{mem, thread};

use anyhow::{Context, anyhow};
use fast_log::{FastLogFormat, TimeType};
use flexi_logger::{FileSpec, WriteMode};
use slog::Drain;
use spdlog::sink::{AsyncPoolSink, FileSink, OverflowPolicy};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};

use crate::load::{Load, Measured};

/// The size of the buffer between a peer's thread and the file, if the user can choose the size.
const BUFFER: usize = 1 << 16;

/// The number of lines that a peer's queue holds, if the user can choose the number: the default of
/// spdlog-rs.
const QUEUE: usize = 8192;

fn buffered(path: &Path) -> anyhow::Result<BufWriter<File>> {
    Ok(BufWriter::with_capacity(BUFFER, File::create(path)?))
}

pub(crate) fn spdlog(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let file = FileSink::builder().path(path).truncate(true).capacity(BUFFER).build_arc()?;
    let sink = AsyncPoolSink::builder().sink(file).overflow_policy(OverflowPolicy::Block).build_arc()?;
    let logger = Arc::new(spdlog::Logger::builder().sink(sink).build()?);
    let shared = Arc::clone(&logger);
    // The sink owns the pool, and the pool writes the remaining lines before its thread ends.
    Ok(load.run(move |message| spdlog::info!(logger: shared, "{message}"), || drop(logger)))
}

pub(crate) fn slog_json(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let json = slog_json::Json::default(buffered(path)?);
    let (drain, guard) = slog_async::Async::new(json.fuse())
        .chan_size(QUEUE)
        .overflow_strategy(slog_async::OverflowStrategy::Block)
        .build_with_guard();
    let logger = slog::Logger::root(drain.fuse(), slog::o!());
    Ok(load.run(move |message| slog::info!(logger, "{message}"), || drop(guard)))
}

fn tracing(load: Load, (writer, guard): (NonBlocking, WorkerGuard)) -> anyhow::Result<Measured> {
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(writer).finish();
    tracing::subscriber::set_global_default(subscriber)?;
    Ok(load.run(|message| tracing::info!("{message}"), || drop(guard)))
}

pub(crate) fn tracing_blocking(load: Load, path: &Path) -> anyhow::Result<Measured> {
    tracing(load, NonBlockingBuilder::default().lossy(false).finish(buffered(path)?))
}

/// Sets the peer up as in the first example of its documentation: there is no buffer, and if the queue is
/// full, the line is lost.
pub(crate) fn tracing_default(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let (folder, name) = path.parent().zip(path.file_name()).context("it has a folder and a name")?;
    tracing(load, tracing_appender::non_blocking(tracing_appender::rolling::never(folder, name)))
}

pub(crate) fn fast_log(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let path = path.to_str().context("the folder has a name that is no text")?;
    let format = FastLogFormat::new().set_time_type(TimeType::Utc);
    let config = fast_log::Config::new().level(log::LevelFilter::Info).format(format);
    fast_log::init(config.chan_len(Some(100_000)).file(path)).map_err(|error| anyhow!("{error}"))?;
    Ok(load.run(|message| log::info!("{message}"), || log::logger().flush()))
}

fn flexi(load: Load, path: &Path, mode: WriteMode) -> anyhow::Result<Measured> {
    let logger = flexi_logger::Logger::with(log::LevelFilter::Info)
        .log_to_file(FileSpec::try_from(path)?)
        .format(flexi_logger::opt_format)
        .use_utc()
        .write_mode(mode)
        .start()?;
    Ok(load.run(|message| log::info!("{message}"), || logger.shutdown()))
}

pub(crate) fn flexi_async(load: Load, path: &Path) -> anyhow::Result<Measured> {
    flexi(load, path, WriteMode::Async)
}

pub(crate) fn flexi_buffered(load: Load, path: &Path) -> anyhow::Result<Measured> {
    flexi(load, path, WriteMode::BufferAndFlushWith(BUFFER, Duration::from_secs(1)))
}

pub(crate) fn ftlog(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let builder = ftlog::builder().bounded(100_000, true).utc();
    let guard = builder.root(ftlog::appender::FileAppender::new(path)).try_init();
    let guard = guard.map_err(|error| anyhow!("{error}"))?;
    Ok(load.run(|message| log::info!("{message}"), || drop(guard)))
}

/// Makes the calls without a logger, which shows the cost of the load itself.
pub(crate) fn nothing(load: Load, path: &Path) -> anyhow::Result<Measured> {
    File::create(path)?;
    log::set_max_level(log::LevelFilter::Info);
    Ok(load.run(|message| log::info!("{message}"), || ()))
}

/// The bare double buffer: callers append to one buffer under a lock; a thread replaces this buffer by an
/// empty one and writes it to the file.
#[derive(Default)]
struct DoubleBuffer {
    state: Mutex<Pending>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Default)]
struct Pending {
    lines: Vec<u8>,
    is_stopped: bool,
}

/// A caller waits while the buffer contains more than this many bytes.
const FULL: usize = 1 << 20;

impl DoubleBuffer {
    fn push(&self, line: &[u8]) {
        let state = self.state.lock().expect("no thread panics");
        let mut state =
            self.emptied.wait_while(state, |state| state.lines.len() > FULL).expect("no thread panics");
        if state.lines.is_empty() {
            self.filled.notify_one();
        }
        state.lines.extend_from_slice(line);
    }

    fn write(&self, mut file: File) {
        let mut lines = Vec::new();
        loop {
            let state = self.state.lock().expect("no thread panics");
            let is_idle = |state: &mut Pending| state.lines.is_empty() && !state.is_stopped;
            let mut state = self.filled.wait_while(state, is_idle).expect("no thread panics");
            if state.lines.is_empty() {
                return;
            }
            mem::swap(&mut lines, &mut state.lines);
            drop(state);
            self.emptied.notify_all();
            file.write_all(&lines).expect("there is room on the disk");
            lines.clear();
        }
    }
}

pub(crate) fn double_buffer(load: Load, path: &Path) -> anyhow::Result<Measured> {
    thread_local!(static LINE: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) });
    let (buffer, file) = (Arc::new(DoubleBuffer::default()), File::create(path)?);
    let (written, shared) = (Arc::clone(&buffer), Arc::clone(&buffer));
    let writer = thread::spawn(move || written.write(file));
    let call = move |message| {
        LINE.with_borrow_mut(|line| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later");
            let (seconds, micros) = (now.as_secs() % 86_400, now.subsec_micros());
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            line.clear();
            writeln!(line, "{hours:02}:{minutes:02}:{:02}.{micros:06} INFO {message}", seconds % 60)
                .expect("a vector takes all");
            shared.push(line);
        });
    };
    let stop = || {
        buffer.state.lock().expect("no thread panics").is_stopped = true;
        buffer.filled.notify_one();
        writer.join().expect("it does not panic");
    };
    Ok(load.run(call, stop))
}
