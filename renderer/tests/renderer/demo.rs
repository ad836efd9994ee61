//! Tests the built-in server: its answers are as slow and as broken as their addresses say, and the server
//! stops when it is dropped.

use executor::CancelToken;
use renderer::Gap;
use renderer::demo::{Demo, DemoOptions, demo_image};
use renderer::fetch::fetch;
use renderer::page::{Page, PageLimits, Source, Viewport};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use url::Url;

const LIMITS: PageLimits = PageLimits { elements: 1000, text: 100_000, viewport: Viewport::USUAL };

fn options(images: &str) -> DemoOptions {
    DemoOptions {
        images: images.split(',').map(|image| demo_image(image).unwrap()).collect(),
        ..DemoOptions::default()
    }
}

fn page(demo: &Demo) -> Page {
    let fetched = fetch(&demo.page(), 100_000, &CancelToken::new()).unwrap().unwrap();
    Page::parse(&fetched.bytes, fetched.content_type.as_deref(), &fetched.url, LIMITS).unwrap()
}

fn addresses(demo: &Demo) -> Vec<Url> {
    let of = |source: &Result<Source, Gap>| match source {
        Ok(Source::Url(url)) => url.clone(),
        other => panic!("an image without an address: {other:?}"),
    };
    page(demo).images().map(|image| of(&image.source)).collect()
}

fn get(url: &Url, timeout: Duration) -> Result<Vec<u8>, Option<Gap>> {
    match fetch(url, 1_000_000, &CancelToken::new().with_timeout(timeout)) {
        Ok(Ok(fetched)) => Ok(fetched.bytes),
        Ok(Err(gap)) => Err(Some(gap)),
        Err(_) => Err(None),
    }
}

#[test]
fn the_page_of_the_book_has_nine_images_of_four_formats() {
    let demo = Demo::start(&DemoOptions::default()).unwrap();
    let page = page(&demo);
    assert_eq!(page.images().count(), 9);
    assert_eq!(page.images().filter(|image| image.is_advertisement).count(), 1);
    let mut formats: Vec<_> = addresses(&demo)
        .iter()
        .map(|url| {
            image::guess_format(&get(url, Duration::from_secs(20)).unwrap()).unwrap().extensions_str()[0]
        })
        .collect();
    formats.sort_unstable();
    formats.dedup();
    assert_eq!(formats, ["gif", "jpg", "png", "webp"]);
}

#[test]
fn an_image_takes_the_time_that_it_is_given() {
    let demo = Demo::start(&options("150ms:32x20,1ms:32x20")).unwrap();
    let begun = Instant::now();
    assert!(get(&addresses(&demo)[0], Duration::from_secs(20)).is_ok());
    assert!(begun.elapsed() >= Duration::from_millis(150));
}

#[test]
fn each_fault_is_the_one_that_was_asked_for() {
    let faults = "1ms:404,1ms:503,1ms:loop,1ms:reset,1ms:endless,1ms:html";
    let demo = Demo::start(&options(faults)).unwrap();
    let all: Vec<_> = addresses(&demo).iter().take(6).map(|url| get(url, Duration::from_secs(20))).collect();
    assert_eq!(
        all[..3],
        [Err(Some(Gap::Status(404))), Err(Some(Gap::Status(503))), Err(Some(Gap::Redirects { most: 5 }))]
    );
    assert!(matches!(&all[3], Err(Some(Gap::Broken(_)))), "{:?}", all[3]);
    assert_eq!(all[4], Err(Some(Gap::TooManyBytes { limit: 1_000_000 })));
    assert!(all[5].as_ref().unwrap().starts_with(b"<p>"));
    let stalling = Demo::start(&options("1ms:stall,1ms:half")).unwrap();
    for url in &addresses(&stalling)[..2] {
        assert_eq!(get(url, Duration::from_millis(100)), Err(None), "{url}");
    }
}

/// A seed gives the same numbers on every machine and in every version.
#[test]
fn a_seed_is_pinned() {
    let demo = Demo::start(&DemoOptions { seed: Some(7), ..DemoOptions::default() }).unwrap();
    let latencies: Vec<_> = addresses(&demo)
        .iter()
        .map(|url| url.query_pairs().find(|(name, _)| name == "ms").unwrap().1.into_owned())
        .collect();
    assert_eq!(latencies.join(" "), "554 455 775 294 547 1063 989 70 101");
}

/// Dropping the server stops it, even while clients wait for a slow answer and for an answer that never
/// comes.
#[test]
fn it_is_gone_when_it_is_dropped() {
    let demo = Demo::start(&options("10m:32x20,1ms:stall")).unwrap();
    let ask = |url: &Url| {
        let mut stream = TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).unwrap();
        let target = &url[url::Position::BeforePath..];
        write!(stream, "GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream
    };
    let waiting: Vec<_> = addresses(&demo)[..2].iter().map(ask).collect();
    let page = demo.page();
    let begun = Instant::now();
    drop(demo);
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?} to stop", begun.elapsed());
    assert!(TcpStream::connect((page.host_str().unwrap(), page.port().unwrap())).is_err());
    for mut stream in waiting {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let ended = stream.read_to_end(&mut Vec::new());
        assert!(
            !matches!(&ended, Err(error) if error.kind() == ErrorKind::WouldBlock),
            "the server did not close the connection"
        );
    }
}

#[test]
fn what_can_be_written_for_an_image_is_said() {
    for written in ["800ms", "0", "2s:404", "1ms:640x400:broken", "1ms:stall:1x1"] {
        assert!(demo_image(written).is_ok(), "{written}");
    }
    for written in ["", "fast", "1ms:0x5", "1ms:100000x100000", "1ms:20000x100", "1ms:640", "1ms:418", "1ms:"]
    {
        let said = demo_image(written).unwrap_err();
        assert!(said.contains("time") || said.contains("640x400"), "{written}: {said}");
    }
}
