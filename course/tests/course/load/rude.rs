//! Tests that each kind of rude client misbehaves as its name says, and that polite clients still get answers
//! at the same time.

use super::{Serving, number, run, short_limits};
use serde_json::Value;

/// Returns the results for three rude clients of one kind after one and a half seconds.
fn fate(kind: &str, path: &str) -> Value {
    let serving = Serving::with(short_limits(), |_| {});
    let (url, rude) = (format!("http://{}{path}", serving.addr), format!("{kind}=3"));
    let flags = ["-c", "2", "--rate", "40", "--duration", "1500ms", "--drip", "1ms", "--rude", &rude];
    let mut run = run(&url, &flags);
    assert_eq!(
        (number(&run, "/succeeded") + number(&run, "/never_sent"), number(&run, "/failed")),
        (60, 0),
        "{run}"
    );
    assert!(number(&run, "/succeeded") > 0, "{run}");
    let fate = run["rude"][0].take();
    assert_eq!(fate["clients"], 3, "{fate}");
    assert!(number(&fate, "/connections") >= 3, "{fate}");
    let ends = ["/ended_by_server", "/ended_by_client", "/held_to_the_end"].map(|end| number(&fate, end));
    assert_eq!(ends.iter().sum::<u64>(), number(&fate, "/connections"), "{fate}");
    fate
}

#[test]
fn who_says_nothing_is_cut_off_in_time() {
    for kind in ["silent", "half"] {
        let fate = fate(kind, "/counted");
        assert!(number(&fate, "/ended_by_server") >= 3, "{fate}");
        assert!(number(&fate, "/longest_ms") >= 200, "not before the limit: {fate}");
    }
}

#[test]
fn garbage_is_answered_and_closed() {
    let fate = fate("garbage", "/counted");
    assert!(number(&fate, "/answered") >= 3 && number(&fate, "/ended_by_server") >= 3, "{fate}");
}

#[test]
fn who_resets_goes_by_itself_with_no_answer() {
    let fate = fate("reset", "/counted");
    assert!(number(&fate, "/ended_by_client") >= 30, "again and again: {fate}");
    assert_eq!(number(&fate, "/answered"), 0, "{fate}");
}

#[test]
fn who_never_reads_is_cut_off_when_nothing_more_can_be_written() {
    let fate = fate("never-reads", "/large");
    assert_eq!(number(&fate, "/answered"), 0, "{fate}");
    assert!(number(&fate, "/ended_by_server") >= 1, "{fate}");
}

#[test]
fn who_drips_within_the_limits_is_answered() {
    let fate = fate("drip", "/counted");
    assert!(number(&fate, "/answered") >= 3, "{fate}");
}
