//! Runs peers that are written in Java: each comparison has one source file, which the JDK compiles and runs
//! directly.
//!
//! Each line of a peer's input describes a load. Each line of its output is either a message about a failure,
//! or `ok` and numbers; the first number is the time in nanoseconds.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::processor_time;

/// A Java process that runs one mode of a peer's source file. The process ends when this value is dropped.
pub struct Java {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Java {
    /// Starts a Java peer. `source` is a path relative to the folder of the comparisons.
    ///
    /// # Errors
    /// Returns an error if there is no JDK or no such file, if the file does not compile, or if the peer does
    /// not know this mode.
    pub fn start(source: &str, mode: &str) -> anyhow::Result<Java> {
        is_there()?;
        let mut command = command(source)?;
        command.arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot run `java`")?;
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().context("it was asked to be a pipe")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let mut java = Java { child, input, output };
        if line.trim_end() != "ready" {
            let said = java.complaints();
            let what =
                if said.contains("error: compilation failed") { "does not compile" } else { "is not ready" };
            bail!("{source} {what}: {}", first_line(&said));
        }
        Ok(java)
    }

    /// Makes the peer run a load once. Returns the numbers in the peer's answer, and the processor time that
    /// the peer has used, including the JVM's compiler and garbage collector.
    ///
    /// # Errors
    /// Returns an error if the peer has ended or reports a failure.
    pub fn run(&mut self, load: &str) -> anyhow::Result<(Vec<u64>, Option<Duration>)> {
        let before = processor_time::of(self.child.id());
        let input = self.input.as_mut().context("it was asked to be a pipe")?;
        writeln!(input, "{load}").and_then(|()| input.flush()).context("Java is gone")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let cpu = before
            .zip(processor_time::of(self.child.id()))
            .map(|(before, after)| after.saturating_sub(before));
        ensure!(!line.is_empty(), "Java is gone: {}", first_line(&self.complaints()));
        let numbers = line.strip_prefix("ok ").with_context(|| format!("Java says: {}", line.trim_end()))?;
        let numbers: Result<Vec<_>, _> = numbers.split_whitespace().map(str::parse).collect();
        Ok((numbers.context("Java answers numbers")?, cpu))
    }

    /// Returns the messages that a process has written before it ended or failed.
    fn complaints(&mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        said
    }
}

fn first_line(said: &str) -> &str {
    said.lines().next().unwrap_or("nothing was said")
}

impl Drop for Java {
    fn drop(&mut self) {
        drop(self.input.take()); // the peer ends at the end of its input
        let _ = self.child.wait();
    }
}

/// Runs a source file, whose path is relative to the folder of the comparisons.
///
/// # Errors
/// Returns an error if there is no such file.
pub fn command(source: &str) -> anyhow::Result<Command> {
    let file = comparisons().join(source);
    ensure!(file.is_file(), "there is no Java source {}", file.display());
    let mut command = Command::new(program(home(), "java"));
    command.arg(file);
    Ok(command)
}

/// Returns the folder of the comparisons, which is the parent of this package's folder.
fn comparisons() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in the folder of the comparisons")
}

/// Checks that a JDK is installed. A Java runtime alone is not enough: it has no compiler, so it cannot run a
/// source file.
///
/// # Errors
/// Returns an error if there is no JDK.
pub fn is_there() -> anyhow::Result<()> {
    is_in(home())
}

fn is_in(home: Option<PathBuf>) -> anyhow::Result<()> {
    let mut compiler = Command::new(program(home, "javac"));
    let version = compiler.arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let works = version.is_ok_and(|status| status.success());
    ensure!(works, "there is no JDK: it has to be installed, and in the path or in JAVA_HOME");
    Ok(())
}

fn home() -> Option<PathBuf> {
    env::var_os("JAVA_HOME").map(PathBuf::from)
}

/// Returns a program in the folder of a JDK, or, if there is no such folder, the program of this name in the
/// path.
fn program(home: Option<PathBuf>, name: &str) -> PathBuf {
    home.map_or_else(|| name.into(), |home| home.join("bin").join(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::process;

    use super::*;

    fn is(path: &Path, kind: &str) -> bool {
        path.extension().is_some_and(|extension| extension == kind)
    }

    /// Returns the files with a given extension below a folder.
    fn files(folder: &Path, kind: &str) -> Vec<PathBuf> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let found = paths.flat_map(|path| if path.is_dir() { files(&path, kind) } else { vec![path] });
        found.filter(|path| is(path, kind)).collect()
    }

    /// Returns the source files that the comparisons run as peers.
    fn named_in_the_comparisons() -> BTreeSet<String> {
        let texts =
            files(&comparisons().join("src"), "rs").into_iter().map(|path| fs::read_to_string(path).unwrap());
        let quoted = texts.flat_map(|text| text.split('"').map(str::to_owned).collect::<Vec<_>>());
        quoted.filter(|text| is(Path::new(text), "java")).collect()
    }

    #[test]
    fn each_java_source_is_found_by_the_path_that_a_comparison_gives() {
        let named = named_in_the_comparisons();
        for source in &named {
            command(source).unwrap();
        }
        let there = files(&comparisons().join("src"), "java");
        let named: BTreeSet<_> = named.iter().map(|source| comparisons().join(source)).collect();
        assert_eq!(named, there.into_iter().collect());
        assert!(!named.is_empty());
    }

    /// Without a JDK, the test can check only the first message.
    #[test]
    fn a_message_tells_what_is_missing_and_a_peer_starts_if_nothing_is() {
        let no_jdk = is_in(Some("/nowhere".into())).unwrap_err().to_string();
        assert!(no_jdk.starts_with("there is no JDK"), "{no_jdk}");
        if is_there().is_err() {
            return eprintln!("there is no JDK: no peer is started");
        }
        let says = |source: &str| Java::start(source, "no such mode").err().unwrap().to_string();
        let no_source = says("src/Nothing.java");
        assert!(no_source.starts_with("there is no Java source "), "{no_source}");
        let broken = env::temp_dir().join(format!("Broken{}.java", process::id()));
        fs::write(&broken, "class Broken {").unwrap();
        let does_not_compile = says(broken.to_str().unwrap());
        fs::remove_file(&broken).unwrap();
        assert!(does_not_compile.contains("does not compile: "), "{does_not_compile}");
        Java::start("src/bin/timers/Timers.java", "stpe").unwrap();
    }
}
