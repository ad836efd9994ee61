//! The picture each time it changed: a PNG for each, and an animated one of all.
//!
//! Each frame is written when it is made, so that only one is in memory. The animated picture is made of the files at the end.

use anyhow::{Context, bail};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Frames that are written. After that, each one takes the place of the last, so that the end of the page is there.
const MOST_FRAMES: usize = 1000;

/// The shortest time of a frame: viewers have a mind of their own about shorter ones.
const SHORTEST: Duration = Duration::from_millis(10);

const ANIMATION: &str = "animation.png";

/// How long the last frame of the animated picture stays.
const LAST: Duration = Duration::from_secs(2);

/// Writes a file whenever the picture has changed.
pub struct Frames {
    directory: PathBuf,
    /// When each of them was there.
    times: Vec<Duration>,
    last: Vec<u8>,
    size: (u32, u32),
}

impl Frames {
    /// Into this directory, which is made if it is not there. Frames of an earlier run are removed from it.
    ///
    /// # Errors
    /// A sentence, if the directory cannot be made, read or written to.
    pub fn into(directory: PathBuf) -> anyhow::Result<Frames> {
        let unusable = || format!("the directory {} for the frames cannot be used", directory.display());
        fs::create_dir_all(&directory).with_context(unusable)?;
        for entry in fs::read_dir(&directory).with_context(unusable)? {
            let path = entry.with_context(unusable)?.path();
            if is_frame(&path) || path.ends_with(ANIMATION) {
                fs::remove_file(&path).with_context(unusable)?;
            }
        }
        Ok(Frames { directory, times: Vec::new(), last: Vec::new(), size: (0, 0) })
    }

    /// The picture as it is at a time since the start: opaque pixels, four bytes each, row by row. One that is the same as
    /// the one before it is no frame.
    ///
    /// # Errors
    /// A sentence, if the file cannot be written.
    pub fn add(&mut self, at: Duration, width: u32, height: u32, pixels: &[u8]) -> anyhow::Result<()> {
        if self.size == (width, height) && self.last == pixels {
            return Ok(());
        }
        self.times.truncate(MOST_FRAMES - 1);
        self.times.push(at);
        self.size = (width, height);
        pixels.clone_into(&mut self.last);
        let path = self.path(self.times.len());
        fs::write(&path, png(width, height, pixels))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Makes the animated picture `animation.png`, in which the frames follow each other as they did.
    ///
    /// # Errors
    /// A sentence, if a file cannot be read or written.
    pub fn finish(self) -> anyhow::Result<()> {
        let path = self.directory.join(ANIMATION);
        self.animate(&path).with_context(|| format!("the animated picture {} cannot be made", path.display()))
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

/// A PNG file of opaque pixels, four bytes each, row by row.
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
