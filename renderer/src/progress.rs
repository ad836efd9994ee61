//! A line on a terminal that shows how much of the page has been drawn. The line appears at the first
//! change, because the next change may take a long time.

use command_line::ProgressLine;
use std::time::{Duration, Instant};

/// The progress line; dropping this value removes it.
pub(crate) struct Progress {
    images: usize,
    started: Instant,
    line: ProgressLine,
}

impl Progress {
    pub(crate) fn new(images: usize) -> Progress {
        Progress { images, started: Instant::now(), line: ProgressLine::after(Duration::ZERO) }
    }

    /// Updates the line after a change of the page.
    pub(crate) fn update(&self, has_text: bool, painted: usize, failed: usize) {
        self.line.show(|| {
            let text = if has_text { "text" } else { "no text yet" };
            let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
            let seconds = self.started.elapsed().as_secs_f64();
            format!("{text}, {painted} of {} images{failed}, {seconds:.1} s", self.images)
        });
    }

    /// Shows that the page is finished and that its frames are still being written.
    pub(crate) fn writes_frames(&self) {
        self.line.update(|bar| {
            bar.set_message("writing the frames");
            bar.force_draw(); // this is the last change
        });
    }
}
