//! Draws a page on a separate thread, so that a test can watch and control the drawing.

use clap::Parser;
use executor::{CancelToken, Latch};
use renderer::{Event, Gap, RenderArgs, Rendering, Stage};
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A time limit that passes only if the test hangs.
const WATCHDOG: Duration = Duration::from_secs(30);

/// A page that is being drawn.
pub(crate) struct Drawing {
    events: Arc<Events>,
    stop: CancelToken,
    thread: JoinHandle<Seen>,
}

/// The result of drawing a page.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Event>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) replaced: Vec<Gap>,
    pub(crate) picture: Vec<u8>,
    /// The width and height of the places of the images.
    pub(crate) places: Vec<(u32, u32)>,
    error: Option<anyhow::Error>,
}

#[derive(Default)]
struct Events {
    seen: Mutex<Vec<Event>>,
    changed: Condvar,
}

/// The lock that holds back the painting of the text.
pub(crate) struct HeldText(Arc<Latch>);

impl HeldText {
    pub(crate) fn release(&self) {
        self.0.count_down();
    }
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,
}

impl Drawing {
    /// Draws the page at an address by the given strategy.
    pub(crate) fn begin(
        page: &str,
        options: &[&str],
        strategy: impl FnOnce(&mut Rendering) -> anyhow::Result<()> + Send + 'static,
    ) -> Drawing {
        Drawing::observed(page, options, |_| (), strategy)
    }

    /// Begins to draw a page, but paints its text only after the test permits it.
    pub(crate) fn with_held_text(
        page: &str,
        options: &[&str],
        strategy: impl FnOnce(&mut Rendering) -> anyhow::Result<()> + Send + 'static,
    ) -> (Drawing, HeldText) {
        let latch = Arc::new(Latch::new(1));
        let text = HeldText(Arc::clone(&latch));
        let hold = move |event| {
            if event == Event::TextBegins {
                latch.wait_timeout(WATCHDOG).expect("the test lets the text be painted");
            }
        };
        (Drawing::observed(page, options, hold, strategy), text)
    }

    fn observed(
        page: &str,
        options: &[&str],
        mut observer: impl FnMut(Event) + Send + 'static,
        strategy: impl FnOnce(&mut Rendering) -> anyhow::Result<()> + Send + 'static,
    ) -> Drawing {
        // The time limit of the page is at least as long as the time limit of the test.
        let patient = ["test", page, "--timeout", "10m", "--page-timeout", "20m"];
        let args = Args::parse_from(patient.iter().chain(options)).render;
        let (events, stop) = (Arc::new(Events::default()), CancelToken::new());
        let (noted, token) = (Arc::clone(&events), stop.clone());
        let thread = thread::spawn(move || {
            let stage = Stage::new("test", &args, token).expect("a page and no server");
            stage.attached(|| {
                let mut rendering = stage.open().expect("the page is there");
                rendering.screen.observe(move |event| {
                    noted.seen.lock().unwrap_or_else(PoisonError::into_inner).push(event);
                    noted.changed.notify_all();
                    observer(event);
                });
                let ended = strategy(&mut rendering);
                let page = Arc::clone(rendering.page());
                let (ended, drawn) = stage.close(rendering, ended);
                let areas = page.images().filter_map(|image| drawn.canvas.layout().area(image.place));
                Seen {
                    events: Vec::new(),
                    gaps: drawn.report.failed.iter().map(|missing| missing.why.clone()).collect(),
                    replaced: drawn.report.replaced.iter().map(|missing| missing.why.clone()).collect(),
                    places: areas.map(|area| (area.width, area.height)).collect(),
                    picture: drawn.canvas.png(),
                    error: ended.err(),
                }
            })
        });
        Drawing { events, stop, thread }
    }

    /// Returns the events that have happened until now.
    pub(crate) fn so_far(&self) -> Vec<Event> {
        self.events.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Blocks until this event has happened.
    pub(crate) fn wait_for(&self, event: Event) {
        let end = Instant::now() + WATCHDOG;
        let mut seen = self.events.seen.lock().unwrap_or_else(PoisonError::into_inner);
        while !seen.contains(&event) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{event:?} does not happen; so far {seen:?}");
            seen = self.events.changed.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Tells the page to stop, as a signal does.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for the end of the page.
    pub(crate) fn end(self) -> anyhow::Result<Seen> {
        let end = Instant::now() + WATCHDOG;
        while !self.thread.is_finished() {
            assert!(Instant::now() < end, "the page does not come to its end; so far {:?}", self.so_far());
            thread::sleep(Duration::from_millis(2)); // the standard library cannot join with a limit
        }
        let mut seen = self.thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        seen.events = std::mem::take(&mut *self.events.seen.lock().unwrap_or_else(PoisonError::into_inner));
        match seen.error.take() {
            None => Ok(seen),
            Some(error) => Err(error),
        }
    }

    /// Waits for the end of a page that was told to stop; the stop is not an error of the strategy.
    pub(crate) fn end_stopped(self) -> Seen {
        assert!(self.stop.is_cancelled());
        self.end().expect("a page that was stopped is written as it is")
    }
}
