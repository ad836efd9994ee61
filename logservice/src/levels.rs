//! Decides, by target and level, which records are logged. The directives can be changed while the program
//! runs.

use std::borrow::Cow;
use std::cell::Cell;
use std::env;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use log::LevelFilter as LogFilter;
use tracing::Metadata;
use tracing::callsite;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Filter};

use crate::Level;

/// The directives that decide which records are logged. Clones share their directives: a change through one
/// clone takes effect in all clones.
///
/// ```
/// use logservice::{Level, Levels};
///
/// let levels = Levels::parse("info,shop::db=debug,noisy=off")?;
/// assert!(levels.enables("shop::db::pool", Level::Debug));
/// assert!(!levels.enables("shop::web", Level::Debug));
/// levels.set("warn")?;
/// assert!(!levels.enables("shop::db::pool", Level::Debug));
/// # Ok::<(), logservice::BadDirective>(())
/// ```
///
/// # The directives
///
/// Directives are written as in `RUST_LOG`, with commas between them. A directive is either `target=level`, or
/// only a level, for all targets that have no directive. A directive applies to all targets that begin with the
/// directive's target; if several directives match a target, the directive with the longest target counts. A directive
/// that is only a target enables all levels. Levels are `off`, `error`, `warn`, `info`, `debug`, `trace` or a number
/// from 0 to 5. An empty text means `error`, as in other loggers.
///
/// Some directives of other filters are errors here: spans and fields, and a pattern after a `/`. (A
/// subscriber may have such a filter in addition to this service's layer.) A misspelt level (`inf`,
/// `warning`, `6`) is also an error, because otherwise it would be a target, and all other targets would be
/// silent. If the name of a target looks like a misspelt level, the target must be written with a level, for
/// example `inf=trace`.
///
/// # What it costs
///
/// In the `log` facade, a call costs one comparison if its level is off for every target. In the `tracing`
/// facade, a call also costs one comparison if its level is off for the call's own target, because the facade
/// caches the result for each callsite. If a level is on for some targets only, each call of the `log` facade
/// at this level searches the directives.
#[derive(Clone)]
pub struct Levels(Arc<Shared>);

struct Shared {
    /// The highest level that any target has: no record above this level is logged. In the fields `most` and
    /// `least`, levels are counted from 1, and 0 is off.
    most: AtomicUsize,
    /// The lowest level that any target has: every record up to this level is logged.
    least: AtomicUsize,
    /// The version of `targets`. The version is written together with the targets, under their lock.
    version: AtomicU64,
    targets: RwLock<Arc<Targets>>,
}

/// The levels of the process's logger of the `log` crate.
static GOVERNING: Mutex<Vec<Levels>> = Mutex::new(Vec::new());

fn governing() -> MutexGuard<'static, Vec<Levels>> {
    GOVERNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the maximum level of the `log` facade. If two threads change levels at the same time, the thread that
/// takes the lock last sees both changes.
fn tell_log() {
    let governing = governing();
    if let Some(most) = governing.iter().map(|levels| levels.0.most.load(Relaxed)).max() {
        log::set_max_level(
            LogFilter::iter().find(|&filter| filter as usize == most).unwrap_or(LogFilter::Trace),
        );
    }
}

/// A directive that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadDirective {
    directive: String,
    reason: Cow<'static, str>,
}

thread_local! {
    /// The targets that this thread used last, and their version. Because of this cache, a thread need not take
    /// the lock that all threads share.
    static LAST: Cell<Option<(u64, Arc<Targets>)>> = const { Cell::new(None) };
}

impl Levels {
    /// Parses directives.
    ///
    /// # Errors
    /// Returns [`BadDirective`] with the directive that cannot be parsed.
    pub fn parse(directives: &str) -> Result<Self, BadDirective> {
        let targets = parse(directives)?;
        let (most, least) = (AtomicUsize::new(most(&targets)), AtomicUsize::new(least(&targets)));
        Ok(Self(Arc::new(Shared {
            most,
            least,
            version: AtomicU64::new(next_version()),
            targets: RwLock::new(Arc::new(targets)),
        })))
    }

    /// Parses the directives in the environment variable `RUST_LOG`, or in `otherwise` if the variable is
    /// empty or not set.
    ///
    /// # Errors
    /// Fails in the same cases as [`parse`](Self::parse).
    pub fn from_env(otherwise: &str) -> Result<Self, BadDirective> {
        match env::var_os("RUST_LOG").filter(|directives| !directives.is_empty()) {
            Some(directives) => Self::parse(&directives.to_string_lossy()),
            None => Self::parse(otherwise),
        }
    }

    /// Replaces all directives. When this call returns, both facades follow the new directives.
    ///
    /// # Errors
    /// Fails in the same cases as [`parse`](Self::parse). After an error, the directives are unchanged.
    pub fn set(&self, directives: &str) -> Result<(), BadDirective> {
        let targets = Arc::new(parse(directives)?);
        let replaced = {
            let mut current = self.0.targets.write().unwrap_or_else(PoisonError::into_inner);
            self.0.most.store(most(&targets), Relaxed);
            self.0.least.store(least(&targets), Relaxed);
            self.0.version.store(next_version(), Relaxed);
            std::mem::replace(&mut *current, targets)
        };
        drop(replaced); // not under the lock: the drop frees memory, and an allocator may log
        tell_log();
        callsite::rebuild_interest_cache();
        Ok(())
    }

    /// Returns true if a record of this level and target is logged.
    pub fn enables(&self, target: &str, level: Level) -> bool {
        let number = level as usize + 1;
        if number > self.0.most.load(Relaxed) {
            return false;
        }
        number <= self.0.least.load(Relaxed)
            || self.look(|targets| targets.would_enable(target, &level.into()))
    }

    /// Makes the highest of the given levels the `log` facade's maximum level.
    pub(crate) fn govern_log(levels: Vec<Self>) {
        *governing() = levels;
        tell_log();
    }

    fn look<R>(&self, look: impl FnOnce(&Targets) -> R) -> R {
        // Relaxed: a thread that sees the new version takes the lock, under which targets and version were
        // written.
        let version = self.0.version.load(Relaxed);
        let last = LAST.try_with(Cell::take).ok().flatten().filter(|(of, _)| *of == version);
        let targets = last.map_or_else(|| self.current(), |(_, targets)| targets);
        let result = look(&targets);
        // At the end of a thread, its thread-local variables are gone, so the thread cannot cache the targets.
        let _ = LAST.try_with(|last| last.set(Some((version, targets))));
        result
    }

    fn current(&self) -> Arc<Targets> {
        Arc::clone(&self.0.targets.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns a version that is unique in the process, so that it also distinguishes one [`Levels`] value from
/// another.
fn next_version() -> u64 {
    static VERSIONS: AtomicU64 = AtomicU64::new(0);
    VERSIONS.fetch_add(1, Relaxed)
}

fn parse(directives: &str) -> Result<Targets, BadDirective> {
    let directives = directives.split(',').map(str::trim).filter(|directive| !directive.is_empty());
    let mut targets: Option<Targets> = None;
    for directive in directives {
        let before = targets.take().unwrap_or_default();
        let result = parse_one(before, directive);
        targets = Some(result.map_err(|reason| BadDirective { directive: directive.to_owned(), reason })?);
    }
    Ok(targets.unwrap_or_else(|| Targets::new().with_default(LevelFilter::ERROR)))
}

fn parse_one(before: Targets, directive: &str) -> Result<Targets, Cow<'static, str>> {
    if directive.contains(['[', ']', '{', '}']) {
        return Err("spans and fields cannot be chosen by".into());
    }
    let Some((target, level)) = directive.split_once('=') else {
        return match parse_level(directive) {
            Some(level) => Ok(before.with_default(level)),
            None => Ok(before.with_target(alone(directive)?, LevelFilter::TRACE)),
        };
    };
    let (target, level) = (target.trim(), level.trim());
    if target.is_empty() {
        return Err("no target stands before the `=`".into());
    }
    match parse_level(level) {
        Some(level) => Ok(before.with_target(target, level)),
        None => Err("behind the `=` stands none of off, error, warn, info, debug, trace and 0 to 5".into()),
    }
}

/// Parses a directive without `=` that is not a level: it is a target, or an error if it looks like a misspelt
/// level.
fn alone(word: &str) -> Result<&str, Cow<'static, str>> {
    if let Some((before, _)) = word.split_once('/') {
        return Err(format!(
            "no pattern can be chosen by: write `{before}`, or, if all of it is a target, `{word}=trace`"
        )
        .into());
    }
    if word.contains(char::is_whitespace) {
        return Err("directives have commas between them".into());
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("levels are numbered from 0, which is off, to 5".into());
    }
    match meant(&word.to_ascii_lowercase()) {
        Some(level) => {
            Err(format!("it is no level: write `{level}`, or, if it is a target, `{word}=trace`").into())
        }
        None => Ok(word),
    }
}

/// Returns the level that the user probably meant. The word may be the beginning of a level, lack one letter of
/// a level, or be another logger's name for a level.
fn meant(word: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 9] = [
        ("none", "off"),
        ("fatal", "error"),
        ("critical", "error"),
        ("errors", "error"),
        ("warning", "warn"),
        ("warnings", "warn"),
        ("information", "info"),
        ("verbose", "trace"),
        ("all", "trace"),
    ];
    let is_meant = |level: &&str| {
        let lacks = |at| word.strip_prefix(&level[..at]) == Some(&level[at + 1..]);
        level.starts_with(word) || (0..level.len()).any(lacks)
    };
    let level = ["off", "error", "warn", "info", "debug", "trace"].into_iter().find(is_meant);
    level.or_else(|| OTHERS.into_iter().find(|(other, _)| *other == word).map(|(_, level)| level))
}

fn parse_level(level: &str) -> Option<LevelFilter> {
    // The empty text is excluded, because the parser would accept it as a level.
    level.parse().ok().filter(|_| !level.is_empty())
}

fn all(targets: &Targets) -> impl Iterator<Item = usize> {
    let default = targets.default_level().unwrap_or(LevelFilter::OFF);
    targets.iter().map(|(_, level)| level).chain([default]).map(number)
}

fn most(targets: &Targets) -> usize {
    all(targets).max().unwrap_or(0)
}

fn least(targets: &Targets) -> usize {
    all(targets).min().unwrap_or(0)
}

/// Returns the number of a level: from 0, which means off, to 5.
fn number(filter: LevelFilter) -> usize {
    filter.into_level().map_or(0, |level| Level::from(level) as usize + 1)
}

/// Filters the records of one layer. Other layers of the subscriber are not affected.
impl<S> Filter<S> for Levels {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.enables(metadata.target(), (*metadata.level()).into())
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Each callsite caches the answers `always` and `never`, until `set` makes the callsites ask again.
        if self.enables(metadata.target(), (*metadata.level()).into()) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.0.most.load(Relaxed).to_string().parse().ok()
    }
}

/// The directives.
impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.current(), f)
    }
}

impl fmt::Debug for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Levels(\"{self}\")")
    }
}

impl fmt::Display for BadDirective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the log directive `{}` cannot be understood: {}", self.directive, self.reason)
    }
}

impl Error for BadDirective {}
