//! Decodes and scales images, with tasks of our pool and with rayon; this work uses only processor time.
//!
//! Run this comparison with `cargo run --release --bin render` in `bench/`. README.md says what the
//! program measures.

use anyhow::ensure;
use bench::contest::print_json;
use bench::figures::{median_ratio, range, shown};
use bench::finding::{Finding, Goal};
use clap::Parser;
use cpu_time::ProcessTime;
use executor::{CancelToken, ExecutorCompletionService, ThreadPoolExecutor};
use image::{ExtendedColorType, ImageEncoder, codecs::jpeg::JpegEncoder};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use renderer::picture::{ImageLimits, decode};
use std::hint::black_box;
use std::sync::{Arc, mpsc};
use std::time::Instant;

/// The width and height of an image before and after it is scaled.
const SIZE: (u32, u32) = (1600, 1200);
const PLACE: (u32, u32) = (320, 240);

const LIMITS: ImageLimits = ImageLimits { bytes: 16 << 20, pixels: 25_000_000 };

/// The goal: our time is at most this multiple of the peer's time, so we decode at least 0.95 of the peer's
/// images per second.
const GOAL: Goal = Goal::AtMost(1.05);

/// Compares tasks that decode images, painted as they arrive, with the same work on rayon
#[derive(Parser)]
#[command(name = "render")]
struct Args {
    /// How many threads the pools have, one number after the other
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "1,2,4,8", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,

    /// How many images a page has
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    images: u32,

    /// How often each side is measured
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Print an array of objects and nothing else; README.md describes them
    #[arg(long)]
    json: bool,
}

/// The elapsed time and the processor time, in milliseconds.
type Took = (f64, f64);

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let page: Vec<Arc<[u8]>> = (0..args.images).map(image).collect::<Result<_, _>>()?;
    let expected = one_by_one(&page);
    let mut findings = Vec::new();
    if !args.json {
        println!(
            "{} images of {}×{}, decoded and scaled to {}×{}",
            page.len(),
            SIZE.0,
            SIZE.1,
            PLACE.0,
            PLACE.1
        );
        println!(
            "{:<9}{:<28}{:<28}{:<28}{:>6}{:>6}{:>9}",
            "workers", "one by one, ms", "ours, ms", "rayon, ms", "ratio", "CPU", "speed-up"
        );
    }
    for workers in args.workers.iter().copied().map(usize::from) {
        let (mut alone, mut wall, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
        let ours = ThreadPoolExecutor::fixed(workers);
        let rayon = rayon::ThreadPoolBuilder::new().num_threads(workers).build()?;
        for round in 0..=args.rounds {
            let (single, _) = timed(|| Ok(one_by_one(&page)), expected)?;
            let (our_wall, our_cpu) = timed(|| by_tasks(&ours, &page), expected)?;
            let (their_wall, their_cpu) = timed(|| Ok(by_rayon(&rayon, &page)), expected)?;
            if round > 0 {
                // The first round is not counted.
                alone.push(single);
                wall.push((our_wall, their_wall));
                cpu.push((our_cpu, their_cpu));
            }
        }
        let row = format!("images: {workers} workers");
        let [time, processor] = [("time", &wall, Some(GOAL)), ("cpu", &cpu, None)]
            .map(|(figure, pairs, goal)| Finding::new(&row, "rayon", figure, "ms", pairs, goal));
        if !args.json {
            let speedups: Vec<_> =
                alone.iter().zip(&wall).map(|(alone, (ours, _))| (*alone, *ours)).collect();
            let (ours, theirs): (Vec<_>, Vec<_>) = wall.into_iter().unzip();
            let [alone, ours, theirs] = [alone, ours, theirs].map(|times| range(&times, 1));
            let [ratio, cpu, speedup] = [time.ratio, processor.ratio, median_ratio(&speedups)].map(shown);
            let told = time.told();
            println!("{workers:<9}{alone:<28}{ours:<28}{theirs:<28}{ratio:>6}{cpu:>6}{speedup:>9}  {told}");
        }
        findings.extend([time, processor]);
    }
    if args.json {
        print_json(&findings);
    }
    Ok(())
}

/// Makes an image with many details; each number gives a different image.
fn image(number: u32) -> anyhow::Result<Arc<[u8]>> {
    let (width, height) = SIZE;
    let byte = |value: u32| u8::try_from(value % 256).expect("a remainder of 256");
    let rgb: Vec<u8> = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .flat_map(|(x, y)| [byte(x * y / 97 + number * 13), byte(x / 3 + y + number), byte(x ^ y)])
        .collect();
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, 85).write_image(
        &rgb,
        width,
        height,
        ExtendedColorType::Rgb8,
    )?;
    Ok(bytes.into())
}

/// Decodes an image and scales it down. Returns the number of pixels of the result.
fn pixels(image: &[u8], token: &CancelToken) -> usize {
    let picture = decode(image, &LIMITS, PLACE, token)
        .expect("its token is not cancelled")
        .expect("an image within the limits");
    let picture = black_box(picture);
    usize::try_from(picture.width() * picture.height()).expect("a small picture")
}

/// Decodes all images on one thread. The sum of all pixels shows that each image was decoded.
fn one_by_one(page: &[Arc<[u8]>]) -> usize {
    let token = CancelToken::new();
    page.iter().map(|image| pixels(image, &token)).sum()
}

/// Decodes as `completion_service` does: each image has a task, and the caller takes the task's result when
/// the task completes.
fn by_tasks(pool: &ThreadPoolExecutor, page: &[Arc<[u8]>]) -> anyhow::Result<usize> {
    let images = ExecutorCompletionService::new(pool);
    for image in page {
        let image = Arc::clone(image);
        images.submit_cancellable(move |token| Ok(pixels(&image, token)))?;
    }
    let mut sum = 0;
    while let Some(next) = images.take()? {
        sum += next.join()?;
    }
    Ok(sum)
}

/// Decodes the images on rayon; the caller also takes each image when it is completed.
fn by_rayon(pool: &rayon::ThreadPool, page: &[Arc<[u8]>]) -> usize {
    let (sender, arrivals) = mpsc::channel();
    pool.install(|| {
        page.par_iter().for_each_with(sender, |sender, image| {
            let _ = sender.send(pixels(image, &CancelToken::new()));
        });
    });
    arrivals.iter().sum()
}

fn timed(work: impl FnOnce() -> anyhow::Result<usize>, expected: usize) -> anyhow::Result<Took> {
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let sum = work()?;
    let took = (wall.elapsed().as_secs_f64() * 1e3, cpu.elapsed().as_secs_f64() * 1e3);
    ensure!(sum == expected, "{sum} pixels instead of {expected}");
    Ok(took)
}
