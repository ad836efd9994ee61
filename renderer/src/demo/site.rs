//! Routes the paths of the built-in server to their contents.

use super::page::{Fault, html, size_of};
use super::{DemoOptions, scenes};
use executor::CancelToken;
use serde_json::json;
use servers::Site;
use servers::http::{Body, Request, Response, Status};
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A company of the travel portal: its name, how many milliseconds it takes to answer, and its kind
/// of answer.
const COMPANIES: [(&str, u64, Offer); 10] = [
    ("Aurora Air", 350, Offer::Euros(189.00)),
    ("Baltic Rail", 120, Offer::Euros(74.50)),
    ("Caravan Coaches", 640, Offer::Euros(49.90)),
    ("Delta Ferries", 90, Offer::Status500),
    ("Express du Lac", 810, Offer::Euros(131.00)),
    ("Fjord Lines", 230, Offer::Euros(112.25)),
    ("Great Western Balloons", 200, Offer::Nonsense),
    ("Holiday Express", 5_000, Offer::Euros(39.00)),
    ("Isle & Sons", 480, Offer::Euros(74.50)),
    ("Jet & Co", 60, Offer::Reset),
];

/// The answer of a company.
#[derive(Clone, Copy)]
enum Offer {
    Euros(f64),
    Status500,
    Nonsense,
    Reset,
}

/// Makes the site of the built-in server. The listener at the address `rude` serves the answers that break
/// the rules of HTTP.
pub(super) fn site(options: &DemoOptions, rude: SocketAddr, stop: &CancelToken) -> Site {
    let page = html(options, rude);
    let mut site = Site::new(None)
        .route("/index.html", &["GET"], "the page", move |_| Response::html(Status::Ok, page.clone()))
        .route("/companies.txt", &["GET"], "who sells journeys", move |_| {
            Response::text(Status::Ok, companies(rude))
        });
    let stopped = stop.clone();
    site = site.route("/quote", &["GET"], "what a journey costs", move |request| quote(request, &stopped));
    let paths = scenes::SCENES.iter().map(|scene| scene.path).chain(["/advertisement.png"]);
    for path in paths {
        let stop = stop.clone();
        site = site.route(path, &["GET"], "an image", move |request| image(path, request, &stop));
    }
    site
}

/// Answers with an image, with the delay and the faults that the address asks for.
fn image(path: &'static str, request: &Request<'_>, stop: &CancelToken) -> Response {
    let begun = Instant::now();
    let size = size_of(request.query_value("size"));
    let fault = request.query_value("fault").and_then(Fault::named);
    let response = match fault {
        Some(Fault::Status(status)) => failure(status),
        Some(Fault::Html) => Response::html(Status::Ok, "<p>No image today.</p>\n".to_owned()),
        Some(Fault::Loop) => Response::redirect(request.target.to_owned()),
        Some(Fault::Bomb) => png(scenes::bomb()),
        Some(Fault::Broken) => {
            let image = scenes::encoded(path, size);
            png(image[..image.len() / 2].to_vec())
        }
        _ => Response::new(
            Status::Ok,
            scenes::media_type(path),
            Body::Bytes(scenes::encoded(path, size).to_vec().into()),
        ),
    };
    wait(request, begun, stop);
    response
}

fn png(bytes: Vec<u8>) -> Response {
    Response::new(Status::Ok, "image/png", Body::Bytes(bytes.into()))
}

fn failure(status: u16) -> Response {
    let all = [Status::Forbidden, Status::NotFound, Status::InternalServerError];
    let status = all.into_iter().find(|known| known.code() == status).unwrap_or(Status::ServiceUnavailable);
    Response::error(status, "as it was asked to")
}

/// Waits until the number of milliseconds in the request's address has passed since the answer began.
fn wait(request: &Request<'_>, begun: Instant, stop: &CancelToken) {
    let latency = request.query_value("ms").and_then(|ms| ms.parse().ok()).unwrap_or(0);
    let _ = stop.sleep(Duration::from_millis(latency).saturating_sub(begun.elapsed()));
}

fn companies(rude: SocketAddr) -> String {
    let mut list = String::from("# name, tab, address of the quote\n");
    for (number, (name, ms, offer)) in COMPANIES.iter().enumerate() {
        let _ = match offer {
            Offer::Reset => writeln!(list, "{name}\thttp://{rude}/quote?ms={ms}&fault=reset"),
            _ => writeln!(list, "{name}\t/quote?company={number}&ms={ms}"),
        };
    }
    list
}

fn quote(request: &Request<'_>, stop: &CancelToken) -> Response {
    let number = request.query_value("company").and_then(|number| number.parse::<usize>().ok());
    let Some((name, _, offer)) = number.and_then(|number| COMPANIES.get(number)) else {
        return Response::error(Status::NotFound, "there is no such company");
    };
    wait(request, Instant::now(), stop);
    match offer {
        Offer::Euros(price) => Response::json(&json!({ "company": name, "price": price, "currency": "EUR" })),
        Offer::Nonsense => Response::text(Status::Ok, "Ask again tomorrow."),
        Offer::Status500 | Offer::Reset => Response::error(Status::InternalServerError, "out of order"),
    }
}
