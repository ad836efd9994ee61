//! Records the picture whenever it changes: a PNG file for each change, and one animated picture of all
//! changes.
//!
//! Encoding a frame takes longer than painting it. So a separate thread writes the frames, and the recording
//! does not delay the page. The painting thread sends the changed pixels to the writing thread, and never
//! waits for a disk. Each place on the page is painted at most three times: empty, with text or a
//! place-holder, and with its final content. So at most the pixels of three pictures wait to be written,
//! however slow the disk is. At the end, the animated picture is made from the files.

use crate::layout::Area;
use crate::timeline::{Activity, Timeline};
use anyhow::{Context, bail};
use executor::CancelToken;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The largest number of frames that are written. After this number of frames, each new frame replaces the
/// newest recorded frame, so the final page is always recorded.
const MOST_FRAMES: usize = 1000;

/// The shortest time for which a frame is shown, because viewers treat shorter times differently.
const SHORTEST: Duration = Duration::from_millis(10);

const ANIMATION: &str = "animation.png";

/// The time for which the last frame of the animated picture is shown.
const LAST: Duration = Duration::from_secs(2);

/// Makes the directory if it does not exist.
pub(crate) fn make(directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| unusable(directory))
}

fn unusable(directory: &Path) -> String {
    format!("the directory {} for the frames cannot be used", directory.display())
}

/// Writes a file whenever the picture has changed.
pub struct Frames {
    changes: Sender<Change>,
    thread: JoinHandle<anyhow::Result<()>>,
}

/// The changed pixels of a part of the picture, and the time of the change.
struct Change {
    at: Duration,
    area: Area,
    pixels: Vec<u8>,
}

impl Frames {
    /// Makes a writer of frames for this directory, and creates the directory if it does not exist.
    /// Frames of an earlier run are removed from the directory. `size` is the size of the whole picture.
    /// The timeline has a bar for each frame. After `stop` is cancelled, the thread skips all unwritten
    /// frames except the last one.
    ///
    /// # Errors
    /// Returns an error with a sentence if the directory cannot be made, read or written, or if the system
    /// cannot start a thread.
    pub fn into(
        directory: PathBuf,
        size: (u32, u32),
        timeline: Timeline,
        stop: CancelToken,
    ) -> anyhow::Result<Frames> {
        make(&directory)?;
        let unusable = || unusable(&directory);
        for entry in fs::read_dir(&directory).with_context(unusable)? {
            let path = entry.with_context(unusable)?.path();
            if is_frame(&path) || path.ends_with(ANIMATION) {
                fs::remove_file(&path).with_context(unusable)?;
            }
        }
        let (changes, to_write) = mpsc::channel();
        let picture = vec![0; size.0 as usize * size.1 as usize * 4];
        let writer = Writer { directory, size, picture, times: Vec::new(), timeline };
        let thread = thread::Builder::new().name("frames".to_owned());
        let thread = thread.spawn(move || writer.write_all(&to_write, &stop));
        Ok(Frames { changes, thread: thread.context("there is no thread for the frames")? })
    }

    /// Records that a part of the picture has changed, and when it has changed, as the time since the start.
    /// The pixels are opaque, four bytes each, row by row. If all pixels are the same as before, no frame is
    /// written. The call does not wait for the file; if the writing fails, [`finish`](Frames::finish) reports
    /// it.
    pub fn add(&self, at: Duration, area: Area, pixels: Vec<u8>) {
        let _ = self.changes.send(Change { at, area, pixels }); // `finish` reports a failure
    }

    /// Waits until all frames are written. Also writes `animation.png`, an animated picture that shows
    /// the frames in order and at their times.
    ///
    /// # Errors
    /// Returns an error with a sentence if a file cannot be read or written. After the first failure, the
    /// thread writes no more frames.
    pub fn finish(self) -> anyhow::Result<()> {
        drop(self.changes);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// The state of the thread that writes frames.
struct Writer {
    directory: PathBuf,
    size: (u32, u32),
    /// The picture after the last change that was applied.
    picture: Vec<u8>,
    /// The times of the frames.
    times: Vec<Duration>,
    timeline: Timeline,
}

impl Writer {
    fn write_all(mut self, changes: &Receiver<Change>, stop: &CancelToken) -> anyhow::Result<()> {
        let mut unwritten = None;
        for change in changes {
            let at = change.at;
            if !self.apply(change) {
                continue;
            }
            unwritten = Some(at);
            if !stop.is_cancelled() {
                self.write(at)?;
                unwritten = None;
            }
        }
        if let Some(at) = unwritten {
            self.write(at)?;
        }
        let path = self.directory.join(ANIMATION);
        let _bar = self.timeline.bar(Activity::Writing, ANIMATION);
        self.animate(&path).with_context(|| format!("the animated picture {} cannot be made", path.display()))
    }

    /// Applies a change to the picture. Returns whether the picture has changed.
    fn apply(&mut self, Change { area, pixels, .. }: Change) -> bool {
        if pixels.len() == self.picture.len() {
            let differs = self.picture != pixels;
            self.picture = pixels; // large changes are not copied
            return differs;
        }
        let (width, row) = (self.size.0 as usize * 4, area.width.max(1) as usize * 4);
        let mut differs = false;
        for (y, new) in (area.y as usize..).zip(pixels.chunks_exact(row)) {
            let old = &mut self.picture[y * width + area.x as usize * 4..][..row];
            differs |= old != new;
            old.copy_from_slice(new);
        }
        differs
    }

    fn write(&mut self, at: Duration) -> anyhow::Result<()> {
        self.times.truncate(MOST_FRAMES - 1);
        self.times.push(at);
        let number = self.times.len();
        let _bar = self.timeline.bar(Activity::Writing, format!("frame {number}"));
        let path = self.path(number);
        fs::write(&path, png(self.size.0, self.size.1, &self.picture))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    fn animate(&self, path: &Path) -> anyhow::Result<()> {
        let count = u32::try_from(self.times.len())?;
        if count == 0 {
            return Ok(());
        }
        let mut file = BufWriter::new(File::create(path)?);
        let mut encoder = encoder(&mut file, self.size.0, self.size.1);
        encoder.set_animated(count, 0)?;
        let mut writer = encoder.write_header()?;
        for number in 1..=self.times.len() {
            let until = self.times.get(number).copied().unwrap_or(self.times[number - 1] + LAST);
            let delay = until.saturating_sub(self.times[number - 1]).max(SHORTEST).as_millis();
            writer.set_frame_delay(u16::try_from(delay).unwrap_or(u16::MAX), 1000)?;
            writer.write_image_data(&rgb_of(&self.path(number))?)?;
        }
        writer.finish()?;
        file.flush()?;
        Ok(())
    }

    fn path(&self, number: usize) -> PathBuf {
        self.directory.join(format!("frame-{number:04}.png"))
    }
}

fn is_frame(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix("frame-").and_then(|rest| rest.strip_suffix(".png"));
    number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn rgb_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
    let Some(size) = reader.output_buffer_size() else { bail!("{} is too large", path.display()) };
    let mut pixels = vec![0; size];
    reader.next_frame(&mut pixels)?;
    Ok(pixels)
}

/// Returns a PNG file of opaque pixels, four bytes each, row by row.
pub(crate) fn png(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let rgb: Vec<u8> = pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut file = Vec::new();
    let writer = encoder(&mut file, width, height).write_header();
    writer.and_then(|mut writer| writer.write_image_data(&rgb)).expect("a Vec takes everything");
    file
}

fn encoder<W: Write>(to: W, width: u32, height: u32) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder
}
