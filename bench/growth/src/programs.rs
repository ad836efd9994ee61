//! Things that other programs of the course handle: connections, pages of a crawl, and files of an index.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use kit::programs::{Workspace, binary};
use kit::server::{Server, descriptors};
use kit::site;
use tempfile::TempDir;

use crate::Measure;

/// The largest number of connections. A process needs a descriptor for each.
pub(crate) const CONNECTIONS: usize = 10_000;

const OTHER_DESCRIPTORS: usize = 200;

/// The time that a client waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens connections one after the other, and keeps them open. Then each of them asks once. Then each asks again, and
/// the server closes it: the side that closes first keeps the port for a minute.
pub(crate) fn connections() -> anyhow::Result<Measure> {
    let limit = descriptors(CONNECTIONS + OTHER_DESCRIPTORS);
    ensure!(
        limit >= CONNECTIONS + OTHER_DESCRIPTORS,
        "a process may have only {limit} descriptors: see `ulimit -Hn`"
    );
    let server = serve(&[])?;
    Ok(Box::new(move |count| {
        let Server { addr, .. } = &server; // so that the closure owns the server, which runs until then
        let begun = Instant::now();
        let open = |_| {
            let stream = TcpStream::connect(addr).context("cannot connect")?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            anyhow::Ok(stream)
        };
        let mut streams = (0..count).map(open).collect::<Result<Vec<_>, _>>()?;
        streams.iter_mut().try_for_each(|stream| ask(stream, ""))?;
        streams.iter_mut().try_for_each(|stream| {
            ask(stream, "Connection: close\r\n")?;
            ensure!(stream.read(&mut [0; 8])? == 0, "the server goes on after the last answer");
            Ok(())
        })?;
        Ok(begun.elapsed())
    }))
}

fn ask(stream: &mut TcpStream, more: &str) -> anyhow::Result<()> {
    stream.write_all(format!("GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}\r\n").as_bytes())?;
    let (mut answer, mut length) = ([0; 1024], 0);
    while !answer[..length].ends_with(b"Hello, world!") {
        let more = stream.read(&mut answer[length..])?;
        ensure!(more > 0, "not an answer: {}", String::from_utf8_lossy(&answer[..length]));
        length += more;
    }
    Ok(())
}

/// Starts the course's fastest server.
fn serve(arguments: &[&str]) -> anyhow::Result<Server> {
    let mut command = Command::new(binary(Workspace::Course, "servers", "multi_reactor")?);
    command.args(["--quiet", "--addr", "127.0.0.1:0"]).args(arguments).stderr(Stdio::null());
    Server::start(command)
}

/// Crawls sites of small pages.
pub(crate) fn pages() -> anyhow::Result<Measure> {
    let program = binary(Workspace::Course, "crawler", "crawl")?;
    let mut sites = Folders::default();
    let mut running: Option<(usize, Server)> = None;
    Ok(Box::new(move |count| {
        let folder = sites.with(count, |folder| site::write(folder, count))?;
        let root = folder.to_str().context("the path is text")?.to_owned();
        let addr = match &running {
            Some((number, server)) if *number == count => server.addr,
            _ => running.insert((count, serve(&["--root", &root])?)).1.addr,
        };
        crawl(&program, addr)
    }))
}

fn crawl(program: &Path, addr: SocketAddr) -> anyhow::Result<Duration> {
    let place = tempfile::tempdir_in(memory())?;
    let mut command = Command::new(program);
    command.arg(format!("http://{addr}/0.html")).args([
        "--state",
        "state",
        "--delay",
        "0",
        "--allow-private",
    ]);
    command.args(["--threads", "8", "--per-site", "8"]).current_dir(place.path());
    timed(command)
}

/// Puts folders of small text files into an index.
pub(crate) fn files() -> anyhow::Result<Measure> {
    let program = binary(Workspace::Course, "desktop-search", "index")?;
    let mut folders = Folders::default();
    Ok(Box::new(move |count| {
        let folder = folders.with(count, |folder| write_files(folder, count))?;
        let place = tempfile::tempdir_in(memory())?;
        let mut command = Command::new(&program);
        command.arg(folder).args(["--no-ignore", "--hidden", "--into"]).arg(place.path().join("index"));
        timed(command)
    }))
}

/// Writes text files, a thousand in a folder.
fn write_files(folder: &Path, count: usize) -> anyhow::Result<()> {
    for file in 0..count {
        let below = folder.join(format!("{}", file / 1000));
        if file % 1000 == 0 {
            fs::create_dir(&below)?;
        }
        let text = format!("File {file} has a word of its own, word{file}, and words that all files have.\n");
        fs::write(below.join(format!("{file}.txt")), text.repeat(5))?;
    }
    Ok(())
}

/// Runs a program to its end.
fn timed(mut command: Command) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let took = begun.elapsed();
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(took)
}

/// The folder for what only this measurement reads: in memory if there is one, so that no disk is measured.
fn memory() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    if shared.is_dir() { shared } else { env::temp_dir() }
}

/// The folder for the present number of things, which is made once.
#[derive(Default)]
struct Folders(Option<(usize, TempDir)>);

impl Folders {
    fn with(
        &mut self,
        count: usize,
        fill: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        if let Some((number, folder)) = &self.0
            && *number == count
        {
            return Ok(folder.path().to_owned());
        }
        let folder = tempfile::tempdir_in(memory())?;
        fill(folder.path())?;
        Ok(self.0.insert((count, folder)).1.path().to_owned())
    }
}
