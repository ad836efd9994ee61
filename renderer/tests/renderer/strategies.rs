//! Tests what each strategy guarantees, whatever the timing: the test decides when its server answers.

use crate::drawing::{Drawing, Seen};
use crate::gated::{Answer, Gated, Held};
use executor::{CancelToken, Promise};
use renderer::{Event, Gap, Loaded, Rendering};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "../../src/bin/completion_service.rs"]
#[allow(dead_code)]
mod completion_service;
#[path = "../../src/bin/future.rs"]
#[allow(dead_code)]
mod future;
#[path = "../../src/bin/sequential.rs"]
#[allow(dead_code)]
mod sequential;
#[path = "../../src/bin/starving.rs"]
#[allow(dead_code)]
mod starving;
#[path = "../../src/bin/time_budget.rs"]
#[allow(dead_code)]
mod time_budget;

const LONG: Duration = Duration::from_hours(1);

/// Returns a page that contains text, then three images, and then more text. The places of the images are 1,
/// 2 and 3.
fn page_of_three(server: &Gated) -> String {
    server.page("/", "<p>above<img src=a.png><img src=b.png><img src=c.png><p>below")
}

/// Makes a page like [`page_of_three`], with an advertisement in place 2.
fn page_with_advertisement(server: &Gated) -> String {
    server.page("/", "<p>above<img src=a.png><img class=ad src=ad.png><p>below")
}

fn hold_all<const N: usize>(server: &Gated, paths: [&'static str; N]) -> [Held; N] {
    paths.map(|path| server.hold(path, Answer::image()))
}

fn answer_all(server: &Gated, paths: &[&'static str]) {
    for path in paths {
        server.route(path, Answer::image());
    }
}

// ----- sequential -----

#[test]
fn sequential_asks_for_an_image_when_the_one_before_it_is_painted() {
    let server = Gated::start();
    let [a, b, c] = hold_all(&server, ["/a.png", "/b.png", "/c.png"]);
    let drawing = Drawing::begin(&page_of_three(&server), &[], sequential::text_first);
    for (image, place, next) in [(&a, 1, Some("/b.png")), (&b, 2, Some("/c.png")), (&c, 3, None)] {
        image.requested();
        assert_eq!(
            next.map_or(0, |path| server.requests(path)),
            0,
            "the next image has been asked for already"
        );
        image.release();
        drawing.wait_for(Event::Image(place));
    }
    let seen = drawing.end().expect("drawn");
    assert_eq!(
        seen.events,
        [Event::TextBegins, Event::Text, Event::Image(1), Event::Image(2), Event::Image(3)]
    );
}

#[test]
fn in_order_shows_text_below_an_image_after_the_image() {
    let server = Gated::start();
    answer_all(&server, &["/b.png", "/c.png"]);
    let [a] = hold_all(&server, ["/a.png"]);
    let drawing = Drawing::begin(&page_of_three(&server), &[], sequential::in_order);
    a.requested();
    assert_eq!(drawing.so_far(), [], "something was shown before what stands above it");
    a.release();
    let seen = drawing.end().expect("drawn");
    assert_eq!(seen.events, [Event::Image(1), Event::Image(2), Event::Image(3), Event::Text]);
}

// ----- future -----

#[test]
fn future_loads_images_while_the_text_is_painted_and_shows_them_after_it() {
    let server = Gated::start();
    let [a, b, c] = hold_all(&server, ["/a.png", "/b.png", "/c.png"]);
    let (drawing, text) = Drawing::with_held_text(&page_of_three(&server), &[], future::draw);
    // While the text is held back, one task loads all images, one after the other.
    for image in [&a, &b, &c] {
        image.requested();
        image.release();
    }
    assert_eq!(drawing.so_far(), [Event::TextBegins], "an image was shown before the text");
    text.release();
    let seen = drawing.end().expect("drawn");
    assert_eq!(
        seen.events,
        [Event::TextBegins, Event::Text, Event::Image(1), Event::Image(2), Event::Image(3)]
    );
}

#[test]
fn future_shows_no_image_before_the_last_one_is_there() {
    let server = Gated::start();
    answer_all(&server, &["/a.png", "/b.png"]);
    let [c] = hold_all(&server, ["/c.png"]);
    let drawing = Drawing::begin(&page_of_three(&server), &[], future::draw);
    c.requested(); // the other images have been loaded
    drawing.wait_for(Event::Text);
    assert_eq!(drawing.so_far(), [Event::TextBegins, Event::Text], "images are given out all at once");
    c.release();
    drawing.wait_for(Event::Image(3));
    drawing.end().expect("drawn");
}

#[test]
fn future_calls_the_images_off_when_its_wait_is_interrupted() {
    let server = Gated::start();
    let [a] = hold_all(&server, ["/a.png"]);
    let drawing = Drawing::begin(&page_of_three(&server), &[], future::draw);
    a.requested();
    drawing.wait_for(Event::Text);
    drawing.stop();
    a.closed_by_client();
    let seen = drawing.end_stopped();
    assert_eq!(server.requests("/b.png"), 0, "the task went on to the next image");
    assert_eq!(seen.gaps, [Gap::NotLoaded, Gap::NotLoaded, Gap::NotLoaded]);
}

#[test]
fn future_tells_a_failure_of_its_task_from_its_own() {
    let server = Gated::start();
    answer_all(&server, &["/a.png", "/b.png", "/c.png"]);
    let strategy = |rendering: &mut Rendering| {
        panics_in(rendering, 2);
        future::draw(rendering)
    };
    let seen =
        Drawing::begin(&page_of_three(&server), &[], strategy).end().expect("the page itself is drawn");
    assert_eq!(seen.events[..2], [Event::TextBegins, Event::Text]);
    assert_eq!(seen.gaps.len(), 3, "the task had all images");
    assert!(
        seen.gaps.iter().all(|gap| matches!(gap, Gap::Panicked(why) if why.contains("place 2"))),
        "{seen:?}"
    );
}

// ----- completion service -----

#[test]
fn completion_service_paints_in_the_order_of_arrival() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let server = Gated::start();
        let images = hold_all(&server, ["/a.png", "/b.png", "/c.png"]);
        let drawing = Drawing::begin(&page_of_three(&server), &[], completion_service::draw);
        images.iter().for_each(Held::requested); // all at once
        for index in order {
            images[index].release();
            drawing.wait_for(Event::Image(index + 1));
        }
        let seen = drawing.end().expect("drawn");
        let arrived: Vec<_> = order.iter().map(|index| Event::Image(index + 1)).collect();
        assert_eq!(seen.events[2..], arrived);
    }
}

#[test]
fn completion_service_loads_as_many_at_once_as_there_are_threads() {
    let server = Gated::start();
    let [a, b, c] = hold_all(&server, ["/a.png", "/b.png", "/c.png"]);
    let drawing = Drawing::begin(&page_of_three(&server), &["--threads", "2"], completion_service::draw);
    a.requested();
    b.requested();
    assert_eq!(server.requests("/c.png"), 0, "there was a third thread");
    b.release();
    c.requested();
    a.release();
    c.release();
    drawing.end().expect("drawn");
}

#[test]
fn completion_service_gives_a_panic_the_place_of_its_image() {
    let server = Gated::start();
    answer_all(&server, &["/a.png", "/b.png", "/c.png"]);
    let strategy = |rendering: &mut Rendering| {
        panics_in(rendering, 2);
        completion_service::draw(rendering)
    };
    let seen = Drawing::begin(&page_of_three(&server), &[], strategy).end().expect("drawn");
    assert!(seen.events.contains(&Event::Image(1)) && seen.events.contains(&Event::Image(3)), "{seen:?}");
    assert!(seen.events.contains(&Event::Gap(2)), "{seen:?}");
    assert!(matches!(&seen.gaps[..], [Gap::Panicked(why)] if why.contains("place 2")), "{seen:?}");
}

#[test]
fn completion_service_closes_all_connections_when_it_is_stopped() {
    let server = Gated::start();
    let [a, b, c] = hold_all(&server, ["/a.png", "/b.png", "/c.png"]);
    let drawing = Drawing::begin(&page_of_three(&server), &[], completion_service::draw);
    [&a, &b, &c].into_iter().for_each(Held::requested);
    b.release();
    drawing.wait_for(Event::Image(2));
    drawing.stop();
    a.closed_by_client();
    c.closed_by_client();
    let seen = drawing.end_stopped();
    assert_eq!(seen.gaps, [Gap::NotLoaded, Gap::NotLoaded], "what was there stays, what was not is missing");
}

// ----- time budget -----

#[test]
fn an_advertisement_in_time_is_painted() {
    let server = Gated::start();
    answer_all(&server, &["/a.png"]);
    let [ad] = hold_all(&server, ["/ad.png"]);
    let drawing = Drawing::begin(&page_with_advertisement(&server), &[], |rendering| {
        time_budget::draw(rendering, LONG)
    });
    ad.requested();
    drawing.wait_for(Event::Image(1)); // the page is drawn, and the strategy waits for the advertisement now
    ad.release();
    let seen = drawing.end().expect("drawn");
    assert_eq!(seen.events, [Event::TextBegins, Event::Text, Event::Image(1), Event::Image(2)]);
}

#[test]
fn a_late_advertisement_is_replaced_and_its_connection_closed() {
    let server = Gated::start();
    answer_all(&server, &["/a.png"]);
    let [ad] = hold_all(&server, ["/ad.png"]);
    let budget = Duration::from_millis(50);
    // The text is held back until the advertisement has been requested, so the budget cannot end before the
    // request.
    let (drawing, text) = Drawing::with_held_text(&page_with_advertisement(&server), &[], move |rendering| {
        time_budget::draw(rendering, budget)
    });
    ad.requested();
    text.release();
    ad.closed_by_client();
    let seen = drawing.end().expect("a replaced advertisement is no failure");
    assert_eq!(seen.events, [Event::TextBegins, Event::Text, Event::Image(1), Event::Replaced(2)]);
    assert_eq!((seen.gaps, seen.replaced), (vec![], vec![Gap::TimedOut { after: budget }]));
}

#[test]
fn an_advertisement_that_lies_ready_is_taken_though_the_budget_is_spent() {
    let server = Gated::start();
    answer_all(&server, &["/ad.png"]);
    let seen = Drawing::begin(&page_with_advertisement(&server), &[], |rendering| {
        let image =
            rendering.images().into_iter().find(|image| image.is_advertisement).expect("it is on the page");
        let (promise, handle) = Promise::new();
        let _ = promise.complete(rendering.loader.load(&image, &CancelToken::current())?);
        let spent =
            Instant::now().checked_sub(Duration::from_millis(1)).expect("later than the first millisecond");
        time_budget::show_in_time(rendering, image.place, handle, spent, LONG)
    })
    .end()
    .expect("drawn");
    assert_eq!(seen.events, [Event::Image(2), Event::Gap(1)]);
}

#[test]
fn with_the_budget_spent_nobody_waits() {
    let server = Gated::start();
    let seen = Drawing::begin(&page_with_advertisement(&server), &[], |rendering| {
        let (promise, handle) = Promise::<Loaded>::new();
        let (spent, asked) = (Instant::now(), promise.token());
        time_budget::show_in_time(rendering, 2, handle, spent, LONG)?;
        anyhow::ensure!(asked.is_cancelled(), "the task was not called off");
        Ok(())
    })
    .end()
    .expect("drawn");
    assert_eq!(seen.replaced, [Gap::TimedOut { after: LONG }]);
}

#[test]
fn an_advertisement_that_fails_is_replaced() {
    let server = Gated::start();
    answer_all(&server, &["/a.png"]);
    server.route("/ad.png", Answer::status(404));
    let drawing = Drawing::begin(&page_with_advertisement(&server), &[], |rendering| {
        time_budget::draw(rendering, LONG)
    });
    let seen = drawing.end().expect("drawn");
    assert_eq!((seen.gaps, seen.replaced), (vec![], vec![Gap::Status(404)]));
}

#[test]
fn a_page_that_is_stopped_while_it_waits_for_the_advertisement_calls_it_off() {
    let server = Gated::start();
    answer_all(&server, &["/a.png"]);
    let [ad] = hold_all(&server, ["/ad.png"]);
    let drawing = Drawing::begin(&page_with_advertisement(&server), &[], |rendering| {
        time_budget::draw(rendering, LONG)
    });
    ad.requested();
    drawing.wait_for(Event::Image(1));
    drawing.stop();
    ad.closed_by_client();
    assert_eq!(drawing.end_stopped().gaps, [Gap::NotLoaded]);
}

// ----- starving -----

/// The test cancels the tasks for the parts of the page that starved, so they do not occupy the only thread
/// when the next page needs it.
#[test]
fn a_page_that_starves_calls_its_parts_off() {
    let server = Gated::start();
    answer_all(&server, &["/a.png", "/b.png", "/c.png"]);
    let seen = Drawing::begin(&page_of_three(&server), &[], starving::draw)
        .end()
        .expect("drawn by the second attempt");
    assert_eq!(seen.events.len(), 5);
    assert_eq!(
        [1, 2, 1],
        ["/a.png", "/b.png", "/c.png"].map(|path| server.requests(path)),
        "header, body, footer"
    );
}

/// Panics on the thread that loads the image in this place.
fn panics_in(rendering: &mut Rendering, place: usize) {
    let loader = Arc::get_mut(&mut rendering.loader).expect("it is not shared yet");
    loader.observe(move |image| assert_ne!(image.place, place, "panics on purpose in place {place}"));
}

type Strategy = fn(&mut Rendering) -> anyhow::Result<()>;

fn with_patience(rendering: &mut Rendering) -> anyhow::Result<()> {
    time_budget::draw(rendering, LONG)
}

/// The picture depends neither on the strategy nor on the order in which images arrive.
#[test]
fn all_strategies_draw_the_same_picture() {
    let server = Gated::start();
    answer_all(&server, &["/a.png", "/b.png", "/c.png"]);
    let page = page_of_three(&server);
    let all: [Strategy; 5] =
        [sequential::text_first, sequential::in_order, future::draw, completion_service::draw, with_patience];
    let pictures: Vec<Seen> =
        all.into_iter().map(|strategy| Drawing::begin(&page, &[], strategy).end().expect("drawn")).collect();
    assert!(pictures.windows(2).all(|two| two[0].picture == two[1].picture), "two strategies differ");
}

/// A page that shows the same bullet forty times has only one image.
#[test]
fn an_image_that_a_page_shows_several_times_is_loaded_once() {
    let all: [Strategy; 6] = [
        sequential::text_first,
        sequential::in_order,
        future::draw,
        completion_service::draw,
        with_patience,
        starving::draw,
    ];
    for (number, strategy) in all.into_iter().enumerate() {
        let server = Gated::start();
        answer_all(&server, &["/a.png"]);
        server.route("/b.png", Answer::status(404));
        let images = "<img src=a.png><img src=b.png>".repeat(3);
        let page = server.page("/", &format!("<p>above{images}<img src=a.png width=400>"));
        let seen = Drawing::begin(&page, &["--max-images", "6"], strategy).end().expect("drawn");
        assert_eq!(["/a.png", "/b.png"].map(|path| server.requests(path)), [1, 1], "strategy {number}");
        let painted = [1, 3, 5].map(Event::Image);
        assert!(
            painted.iter().all(|event| seen.events.contains(event)),
            "strategy {number}: {:?}",
            seen.events
        );
        let mut gaps = vec![Gap::TooManyImages { limit: 6 }];
        gaps.extend([const { Gap::Status(404) }; 3]);
        assert_eq!(seen.gaps, gaps, "strategy {number}");
    }
}
