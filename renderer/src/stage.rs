//! What every program does around its strategy: it finds the page, stops when it is told to, and writes the
//! picture.
//!
//! ```text
//!   command line ─▶ Stage ─open─▶ Rendering ─the strategy paints─▶ finish: PNG, timeline, summary, exit status
//!                     │
//!                     └ the first Ctrl-C or SIGTERM cancels its token, the second ends the process
//! ```
//!
//! While the strategy runs, the page's token is the current token. So each wait of the strategy ends at a
//! signal, or when the time limit of the page has passed. The strategy then returns an error, but the program
//! still writes what was drawn so far.

use crate::args::RenderArgs;
use crate::canvas::Canvas;
use crate::demo::Demo;
use crate::fetch::{Fetched, beginning, fetch};
use crate::frames::{self, Frames};
use crate::gap::Gap;
use crate::layout::{Layout, LayoutOptions};
use crate::loader::Loader;
use crate::page::{ImageRef, Page, PageLimits, Viewport};
use crate::picture::ImageLimits;
use crate::repeats::Repeats;
use crate::report::Report;
use crate::screen::{Drawn, Screen};
use crate::timeline::{Activity, Timeline};
use anyhow::{Context, anyhow, bail, ensure};
use command_line::{FAILED, INTERRUPTED};
use executor::CancelToken;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use url::Url;

/// How many bytes of text a page may have.
const MOST_TEXT: usize = 1 << 20;

/// How many elements a page may have.
const MOST_ELEMENTS: usize = 20_000;

/// Before the page is laid out, the program searches this many bytes of an image file for the size of the
/// image. Cameras write much other data before the size.
const LOOK: u64 = 64 << 10;

/// The program around a strategy.
pub struct Stage<'a> {
    name: &'static str,
    args: &'a RenderArgs,
    timeline: Timeline,
    /// A signal cancels this token.
    stop: CancelToken,
    /// This token is cancelled together with `stop`, and also when the page's time limit has passed.
    token: CancelToken,
    demo: Option<Demo>,
}

/// A page that is being drawn; each strategy gets one.
pub struct Rendering {
    /// The screen on which the page is painted.
    pub screen: Screen,
    /// Loads an image, on the calling thread. Each task gets its own clone.
    pub loader: Arc<Loader>,
    /// The value of `--threads`; the default is six, because browsers open six connections to one server.
    pub threads: usize,
    page: Arc<Page>,
}

/// Draws the page of the command line with `strategy`, and reports the result.
pub fn draw_page(
    name: &'static str,
    args: &RenderArgs,
    strategy: impl FnOnce(&mut Rendering) -> anyhow::Result<()>,
) -> ExitCode {
    run(name, args, |stage| {
        let mut rendering = stage.open()?;
        let ended = strategy(&mut rendering);
        stage.finish(rendering, ended)
    })
}

/// Runs a program that draws: signals stop it, and an error becomes a sentence and exit status 1.
pub fn run(
    name: &'static str,
    args: &RenderArgs,
    program: impl FnOnce(&Stage<'_>) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    let stop = CancelToken::new();
    let ended = command_line::stop_on_signals(&stop)
        .and_then(|()| Stage::new(name, args, stop.clone()))
        .and_then(|stage| stage.attached(|| program(&stage)));
    let failed = if stop.is_cancelled() { INTERRUPTED } else { FAILED };
    command_line::ended(name, failed, ended)
}

impl<'a> Stage<'a> {
    /// Makes a program that draws according to `args`, until `stop` is cancelled. Starts the built-in server,
    /// if the program needs it.
    ///
    /// # Errors
    /// Returns an error if the picture or the frames cannot be written where the flags say, or if the system
    /// has no free port or cannot start a thread.
    pub fn new(name: &'static str, args: &'a RenderArgs, stop: CancelToken) -> anyhow::Result<Stage<'a>> {
        [Some(&args.out), args.timeline.as_ref()]
            .into_iter()
            .flatten()
            .try_for_each(|path| check_place(path))?;
        args.frames.as_deref().map_or(Ok(()), frames::make)?;
        let demo = match &args.page {
            Some(_) => None,
            None => Some(Demo::start(&args.demo_options()).context("the built-in server cannot start")?),
        };
        let token = stop.with_timeout(args.page_timeout);
        Ok(Stage { name, args, timeline: Timeline::start(), stop, token, demo })
    }

    /// Runs `program` so that each of its waits ends when the program must stop or when the page's time limit
    /// has passed.
    pub fn attached<R>(&self, program: impl FnOnce() -> R) -> R {
        self.token.attach(program)
    }

    /// Returns the timeline, which shows what the program's threads have done since the program's start.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns the address on the command line, or else the address of the page on the built-in server.
    ///
    /// # Errors
    /// Returns an error with a sentence if the argument is neither an address nor the name of a file.
    pub fn address(&self, of_demo: impl FnOnce(&Demo) -> Url) -> anyhow::Result<Url> {
        match (&self.args.page, &self.demo) {
            (Some(written), _) => address(written),
            (None, Some(demo)) => Ok(of_demo(demo)),
            (None, None) => unreachable!("without a page there is the built-in server"),
        }
    }

    /// Fetches the bytes at an address.
    ///
    /// # Errors
    /// Returns an error with a sentence if the bytes cannot be fetched, or if the program must stop.
    pub fn fetch(&self, url: &Url) -> anyhow::Result<Fetched> {
        let _bar = self.timeline.bar(Activity::Fetching, "page");
        let fetched = match fetch(url, self.args.max_bytes, &self.token) {
            Err(_) if !self.stop.is_cancelled() => Err(Gap::TimedOut { after: self.args.page_timeout }),
            fetched => fetched?,
        };
        fetched.map_err(|gap| anyhow!("{url} cannot be drawn: {gap}"))
    }

    /// Fetches the page that the command line names, and lays it out.
    ///
    /// # Errors
    /// Returns an error with a sentence if there is no page at that address.
    pub fn open(&self) -> anyhow::Result<Rendering> {
        let fetched = self.fetch(&self.address(Demo::page)?)?;
        self.lay_out(&fetched)
    }

    /// Computes the layout of a page.
    ///
    /// # Errors
    /// Returns an error with a sentence if the bytes are not a page, or if the font or the directory for the
    /// frames cannot be used.
    pub fn lay_out(&self, fetched: &Fetched) -> anyhow::Result<Rendering> {
        let args = self.args;
        let viewport = Viewport { width: args.width, scale: args.scale };
        let limits = PageLimits { elements: MOST_ELEMENTS, text: MOST_TEXT, viewport };
        let mut page = Page::parse(&fetched.bytes, fetched.content_type.as_deref(), &fetched.url, limits)
            .map_err(|no_page| anyhow!("{} cannot be drawn: {}", fetched.url, no_page))?;
        let of_file = |url: &Url| if self.token.is_cancelled() { None } else { beginning(url, LOOK) };
        page.measure(args.max_images, of_file);
        let page = Arc::new(page);
        let font = args.font.as_deref();
        let layout = Layout::new(
            &page,
            &LayoutOptions { width: args.width, scale: args.scale, font, max_pixels: args.max_pixels },
        )?;
        let limits = ImageLimits { bytes: args.max_bytes, pixels: args.max_pixels };
        let repeats = Repeats::on(&page);
        let loader = Loader::new(&page, &layout, &repeats, limits, args.timeout, self.timeline.clone());
        let report = Report {
            strategy: self.name,
            page: fetched.url.to_string(),
            title: page.title.clone(),
            images: page.images().count(),
            bytes: fetched.bytes.len() as u64,
            is_empty: page.elements.is_empty() && page.left_out == 0,
            left_out: page.left_out,
            cut: layout.cut(),
            no_glyph: layout.no_glyph().clone(),
            size: layout.size(),
            ..Report::default()
        };
        let frames = args.frames.clone();
        let frames =
            frames.map(|to| Frames::into(to, layout.size(), self.timeline.clone(), self.stop.clone()));
        let frames = frames.transpose()?;
        let mut screen = Screen::new(
            Arc::clone(&page),
            repeats,
            Canvas::new(layout),
            self.timeline.clone(),
            frames,
            report,
        );
        for image in page.images().skip(args.max_images) {
            screen.leave_out(image.place, Gap::TooManyImages { limit: args.max_images });
        }
        Ok(Rendering {
            screen,
            loader: Arc::new(loader),
            threads: args.threads.map_or(6, NonZeroUsize::get),
            page,
        })
    }

    /// Writes the picture and reports what is missing, even if the strategy has failed.
    ///
    /// # Errors
    /// Returns the error of the strategy, unless the program was stopped or the page's time limit has passed.
    /// Returns an error with a sentence if a file cannot be written.
    pub fn finish(&self, rendering: Rendering, ended: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
        let (ended, Drawn { canvas, report, failure }) = self.close(rendering, ended);
        write(&self.args.out, &canvas.png())?;
        if let Some(path) = &self.args.timeline {
            let page = report.title.as_deref().unwrap_or(&report.page);
            write(path, self.timeline.svg(&format!("{}: {page}", self.name)).as_bytes())?;
        }
        self.say(&report)?;
        ended?;
        failure.map_or(Ok(()), Err)?;
        Ok(ExitCode::from(report.exit_status()))
    }

    /// Ends the page: each image that has not arrived counts as missing, and the strategy's error gives the
    /// reason. If the program was stopped, or the page's time limit has passed, the strategy has not failed.
    pub fn close(&self, rendering: Rendering, ended: anyhow::Result<()>) -> (anyhow::Result<()>, Drawn) {
        let interrupted = self.stop.is_cancelled();
        let (why, ended) = match ended {
            Ok(()) => (Gap::NotLoaded, Ok(())),
            Err(_) if interrupted => (Gap::NotLoaded, Ok(())),
            Err(_) if self.token.is_cancelled() => (Gap::TimedOut { after: self.args.page_timeout }, Ok(())),
            Err(error) => (Gap::Cancelled(format!("{error:#}")), Err(error)),
        };
        let mut drawn = rendering.screen.finish(&why);
        drawn.report.interrupted = interrupted;
        (ended, drawn)
    }

    fn say(&self, report: &Report) -> anyhow::Result<()> {
        let text = if self.args.json {
            format!("{}\n", report.json())
        } else {
            format!("{}{} is drawn\n", report.table(terminal_width()), self.args.out.display())
        };
        command_line::print(text)
    }
}

impl Rendering {
    /// Returns the page; the index of each element is its place.
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// Returns the images that must be loaded, in the order of the page. An image that the page shows several
    /// times is listed once.
    pub fn images(&self) -> Vec<Arc<ImageRef>> {
        self.screen.open_images()
    }
}

fn address(written: &str) -> anyhow::Result<Url> {
    let url = match Url::parse(written) {
        Ok(url) if url.scheme().len() > 1 => url, // a single letter is a Windows drive
        _ => {
            let path = fs::canonicalize(written).with_context(|| format!("{written} cannot be read"))?;
            Url::from_file_path(&path)
                .map_err(|()| anyhow!("{} is no name that can be an address", path.display()))?
        }
    };
    match url.scheme() {
        "file" | "http" | "https" => Ok(url),
        other => {
            Err(anyhow!("{other} addresses are not fetched; give a file, or an http:// or https:// address"))
        }
    }
}

/// Checks that the program can write a file at this path, as far as this is known without creating the file.
/// So the program does not load a page if it cannot write the picture.
fn check_place(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!("{} cannot be written: there is no directory {}", path.display(), folder.display());
    }
    ensure!(!path.is_dir(), "{} cannot be written: it is a directory", path.display());
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}

fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(100, |(terminal_size::Width(columns), _)| usize::from(columns))
}
