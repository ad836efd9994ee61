//! Tests of crawls that are stopped or killed: for each way to stop, and for each order of writes, exactly
//! the pages that the lesson names are lost or repeated. The last tests show the cost of a dead or late
//! worker.

use crawler::web::lessons::leases::{self, PAGES, TRIES, Way};
use crawler::web::lessons::orders::{self, Cost, EVERY, Kill, LETTERS, Letters, Order, Tables};
use crawler::web::lessons::stops::{Page, Point, SITE, TwoDays};
use crawler::web::lessons::stops::{false_positive, links_lost, right, too_slow, wrappers};

const POINTS: [Point; 4] = [Point::Fetching, Point::Fetched, Point::Written, Point::Submitted];

fn sorted(pages: &[Page]) -> Vec<Page> {
    let mut pages = pages.to_vec();
    pages.sort_unstable();
    pages
}

#[test]
fn a_page_that_was_complete_is_fetched_twice() {
    let expected = TwoDays {
        first_day: vec!["/", "/news"],
        left: vec!["/shop", "/about", "/news/today", "/news"],
        second_day: vec!["/shop", "/about", "/news/today", "/news", "/shop/tea", "/shop/cups"],
        lost: vec![],
        twice: vec!["/news"],
    };
    assert_eq!(false_positive(), expected);
}

#[test]
fn tasks_without_an_address_are_lost() {
    let expected = TwoDays {
        first_day: vec!["/"],
        left: vec!["/news"],
        second_day: vec!["/news", "/news/today"],
        lost: vec!["/shop", "/about", "/shop/tea", "/shop/cups"],
        twice: vec![],
    };
    assert_eq!(wrappers(), expected);
}

/// On the second day, the page that contains the link is fetched again. The second fetch of this page does
/// not help, because the link has already been recorded as seen.
#[test]
fn a_link_that_was_seen_and_refused_is_lost() {
    let expected = TwoDays {
        first_day: vec!["/"],
        left: vec!["/news", "/"],
        second_day: vec!["/news", "/", "/news/today", "/about"],
        lost: vec!["/shop", "/shop/tea", "/shop/cups"],
        twice: vec!["/"],
    };
    assert_eq!(links_lost(), expected);
}

/// Even the page that gave up at once is lost, because the listing does not ask for the interrupted pages.
#[test]
fn one_slow_page_loses_all_that_were_being_fetched() {
    let expected = TwoDays {
        first_day: vec!["/"],
        left: vec!["/about"],
        second_day: vec!["/about"],
        lost: vec!["/news", "/shop", "/news/today", "/shop/tea", "/shop/cups"],
        twice: vec![],
    };
    assert_eq!(too_slow(), expected);
}

/// Checks the right way to stop a crawl, at every point of every page, with one thread and with several
/// threads.
#[test]
fn the_right_way_loses_nothing_and_repeats_nothing() {
    let all = sorted(&SITE.map(|(page, _)| page));
    for threads in [1, 2, 4] {
        for point in POINTS {
            for (page, _) in SITE {
                let days = right(threads, point, page);
                let case = format!("{threads} threads, {point:?} of {page}: {days:?}");
                assert_eq!((&days.lost, &days.twice), (&vec![], &vec![]), "{case}");
                assert_eq!(sorted(&[&days.first_day[..], &days.second_day].concat()), all, "{case}");
                // The page was fetched on the first day, unless its task was interrupted while the task
                // waited for the server.
                assert_eq!(days.first_day.contains(&page), point != Point::Fetching, "{case}");
                assert_eq!(days.left.contains(&page), point == Point::Fetching, "{case}");
            }
        }
    }
}

#[test]
fn each_order_costs_what_the_table_says() {
    let pages = SITE.len();
    let expected = [
        (Order::DoneThenLinks, Cost { writes: 2 * pages, lost: pages - 1, again: 1 }),
        (Order::LinksThenDone, Cost { writes: 2 * pages, lost: 0, again: 1 }),
        (Order::Together, Cost { writes: pages, lost: 0, again: 1 }),
        (Order::DoneFirst, Cost { writes: 2 * pages, lost: pages, again: 0 }),
        (Order::List(EVERY), Cost { writes: pages.div_ceil(EVERY), lost: 0, again: EVERY }),
        (Order::List(pages), Cost { writes: 1, lost: 0, again: pages }),
    ];
    assert_eq!(Order::ALL.map(|order| (order, order.cost())), expected);
}

#[test]
fn letters_cost_what_the_table_says() {
    let expected = [
        (Letters::MarkThenSend, Cost { writes: LETTERS, lost: 1, again: 0 }),
        (Letters::SendThenMark, Cost { writes: LETTERS, lost: 0, again: 1 }),
        (Letters::Numbered, Cost { writes: LETTERS, lost: 0, again: 0 }),
    ];
    assert_eq!(Letters::ALL.map(|letters| (letters, letters.cost())), expected);
}

/// Checks that a kill between the two steps of a letter costs at most this letter, and that any other kill
/// costs no letter.
#[test]
fn a_kill_between_the_two_steps_of_a_letter_costs_this_letter() {
    for letters in Letters::ALL {
        let kills = letters.kills();
        assert_eq!(kills.len(), 2 * LETTERS + 1);
        for (steps, kill) in kills.iter().enumerate() {
            let between: Vec<usize> = (steps % 2 == 1).then_some(steps / 2).into_iter().collect();
            let (marked, read) = match letters {
                Letters::MarkThenSend => (steps.div_ceil(2), steps / 2),
                Letters::SendThenMark | Letters::Numbered => (steps / 2, steps.div_ceil(2)),
            };
            let (lost, again) = match letters {
                Letters::MarkThenSend => (between, vec![]),
                Letters::SendThenMark => (vec![], between),
                Letters::Numbered => (vec![], vec![]),
            };
            let expected = Kill { marked, read: (0..read).collect(), lost, again };
            assert_eq!(*kill, expected, "{letters}, killed after {steps} steps");
        }
    }
}

#[test]
fn the_json_says_what_the_tables_say() {
    let (json, tables) = (orders::json(), Tables.to_string());
    let rows = [&json["pages"], &json["letters"]].map(|rows| rows.as_array().unwrap().clone()).concat();
    assert_eq!(rows.len(), Order::ALL.len() + Letters::ALL.len());
    for row in rows {
        let order = row["order"].as_str().unwrap();
        let line = tables.lines().find_map(|line| line.strip_prefix(order)).unwrap();
        let numbers: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(["writes", "lost", "again"].map(|column| row[column].to_string())[..], numbers, "{order}");
    }
}

/// A number of steps that is larger than the number of steps of any run.
const MANY: usize = 3 * SITE.len() + 1;

/// Checks the orders when two runs are killed, one after the other, at every pair of points.
#[test]
fn what_is_never_lost_and_never_done_again_stays_so_if_it_is_killed_twice() {
    for first in 0..=MANY {
        for second in 0..=MANY {
            let killed = [first, second];
            for order in [Order::LinksThenDone, Order::Together, Order::List(EVERY), Order::List(SITE.len())]
            {
                assert_eq!(order.after(&killed).0, 0, "{order} loses a page: killed after {killed:?}");
            }
            assert_eq!(
                Order::DoneFirst.after(&killed).1,
                0,
                "a page is fetched again: killed after {killed:?}"
            );
            assert_eq!(Letters::MarkThenSend.after(&killed).1, 0, "read twice: killed after {killed:?}");
            assert_eq!(Letters::SendThenMark.after(&killed).0, 0, "not read: killed after {killed:?}");
            assert_eq!(Letters::Numbered.after(&killed), (0, 0), "killed after {killed:?}");
        }
    }
}

#[test]
fn a_run_that_nobody_kills_costs_nothing() {
    for order in Order::ALL {
        assert_eq!(order.after(&[]), (0, 0), "{order}");
    }
    for letters in Letters::ALL {
        assert_eq!(letters.after(&[]), (0, 0), "{letters}");
    }
}

/// With tokens, no page is lost and no answer is counted twice, but one request is sent too often.
#[test]
fn each_way_to_share_a_queue_costs_what_the_tables_say() {
    let cost = |lost, asked_again, counted_again, at_once| leases::Cost {
        lost,
        asked_again,
        counted_again,
        at_once,
    };
    let never = cost(PAGES, (TRIES - 1) * PAGES, 0, 0);
    let expected = [
        (Way::Pop, cost(1, 0, 0, 0), cost(0, 0, 0, 0)),
        (Way::AcknowledgeFirst, cost(1, 0, 0, 0), cost(0, 0, 0, 0)),
        (Way::NoToken, cost(0, 1, 0, 0), cost(0, 1, 1, 1)),
        (Way::Token, cost(0, 1, 0, 0), cost(0, 1, 0, 1)),
        (Way::TooShort, never, never),
    ];
    assert_eq!(Way::ALL.map(|way| (way, way.killed(), way.stopped())), expected);
}
