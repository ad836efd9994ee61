//! Runs the examples and compares their output with the transcripts of the book.
//!
//! The book includes the same files (`book/src/transcripts`), so the book always shows this output.

use std::env::{self, consts::EXE_SUFFIX};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the path of an example's program. `cargo test -p task-execution` builds the examples before it
/// runs this test. `cargo test --test examples` builds no example; it runs the programs that were built last.
/// Run `cargo build -p task-execution --examples` before `cargo test --test examples`.
fn example(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).expect("tests are in target/<profile>/deps");
    target.join("examples").join(format!("{name}{EXE_SUFFIX}"))
}

/// Runs an example in a folder where the example may write a picture file. Ends the example if it hangs.
fn run(name: &str, arguments: &str) -> Output {
    let mut command = Command::new(example(name));
    // Without backtraces the output fits into a pipe, so the test need not read the output before the example
    // ends.
    command
        .args(arguments.split_whitespace())
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("cannot run the example {name}: {error}; `cargo test -p task-execution` builds it")
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the example {name} hangs");
        }
        thread::sleep(Duration::from_millis(5)); // std cannot wait for a process with a deadline
    }
    child.wait_with_output().unwrap()
}

fn prints_what_the_book_says(name: &str) {
    let output = run(name, "");
    assert!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    is_in_the_book(&output, name);
}

/// Runs a measuring example again and again, until its figures agree with the example's page. Other programs
/// disturb a measurement, so the test makes up to twenty attempts.
fn measured_until(name: &str, arguments: &str, as_the_page_says: impl Fn(&String) -> bool) {
    one_is(name, &[arguments; 20], as_the_page_says);
}

/// Runs an example with each of the given arguments, until the figures agree with the page of the example.
fn one_is(name: &str, attempts: &[&str], as_the_page_says: impl Fn(&String) -> bool) {
    let mut all = String::new();
    for arguments in attempts {
        let output = run(name, arguments);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        if as_the_page_says(&printed) {
            return;
        }
        all += &printed;
    }
    panic!("{name} was never as its page says:\n{all}");
}

fn is_in_the_book(output: &Output, transcript: &str) {
    let book = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../book/src/transcripts")
        .join(format!("{transcript}.txt"));
    let expected = fs::read_to_string(&book).unwrap_or_else(|error| panic!("{}: {error}", book.display()));
    let printed = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert_eq!(printed, expected.replace("\r\n", "\n"), "{transcript}");
}

/// Runs an example with each of the given arguments. Each run must print the text that the book shows, and
/// must end with the given exit status.
fn each_ends_with(name: &str, ways: &[(&str, i32)]) {
    for (argument, status) in ways {
        let output = run(name, argument);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*status), "{argument}: {errors}");
        is_in_the_book(&output, &transcript(name, argument));
    }
}

/// Runs an example with an argument that it does not know. The example must name the arguments that it knows,
/// and its exit status must be the status of a usage error.
fn says_which(name: &str) {
    let output = run(name, "such a way");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("say which: "), "{name}: {errors}");
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{name}: {errors}");
}

/// Returns the name of the transcript of a run: the name of the example, and the first word of the run's
/// arguments, if there are any.
fn transcript(name: &str, argument: &str) -> String {
    let words = [name].into_iter().chain(argument.split_whitespace().next());
    words.collect::<Vec<_>>().join("_")
}

macro_rules! examples {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            prints_what_the_book_says(stringify!($name));
        }
    )*};
}

examples! {
    alarms,
    await_a_handle,
    cancel_a_read,
    carry_a_token,
    completion_order,
    core_zero,
    crawl_on_tomorrow,
    discard_oldest,
    divide_and_conquer,
    drop_is_no_finaliser,
    earlier_deadline,
    forgotten_cancel,
    growth_order,
    how_a_join_ends,
    how_big_a_pool,
    inside_a_pool,
    keep_a_promise,
    life_of_a_task,
    lock_across_a_join,
    loops,
    main_returns,
    minimal_pool_dies,
    order_of_a_cancel,
    order_of_replies,
    out_of_reach,
    own_factory,
    own_policy,
    pool_of_two,
    pools_on_a_token,
    queue_order,
    results_by_channel,
    same_tasks_three_policies,
    saturation,
    stop_from_inside,
    taking_turns,
    thread_local_leak,
    time_limits,
    tree_walk,
    timer_and_scheduler,
    waits_for_its_own_thread,
    who_asked,
    whose_request,
    who_hears_of_a_panic,
}

/// In the example, a page waits for tasks in its own full pool; the test checks the report to the page, and
/// checks each cure.
#[test]
fn starving_page_is_told_why_and_drawn_with_each_cure() {
    is_in_the_book(&run("starving_page", ""), "starving_page");
    let ways = ["before", "unread", "own_thread", "other_pool", "hand_off", "help", "spare"];
    each_ends_with("starving_page", &ways.map(|way| (way, 0)));
    says_which("starving_page");
}

/// The thread whose wait begins last gets the report. The report lists the same waits, no matter which thread
/// gets the report.
#[test]
fn starving_page_draws_a_circle_through_two_pools() {
    let printed = String::from_utf8(run("starving_page", "circle").stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/starving_page_circle.txt");
    let [printed, book] = [printed, fs::read_to_string(path).unwrap()].map(|text| {
        let mut lines: Vec<_> =
            text.lines().map(|line| line.trim_start_matches(['╭', '─', '▶', '│', ' '])).collect();
        let last = lines.pop().map(str::to_owned);
        assert!(
            last.is_some_and(|last| last.starts_with("╰── until ") && last.ends_with(" goes on")),
            "{text}"
        );
        lines.sort_unstable();
        lines.join("\n")
    });
    assert_eq!(printed, book);
}

/// In the classic listing, the permit of a task is lost if the inner executor drops the task. The library's
/// executor loses no permit in the same case.
#[test]
fn bounding_a_pool_loses_permits_only_with_wrapped_tasks() {
    each_ends_with("bounding_a_pool", &["classic", "ours", "waiting", "ends"].map(|way| (way, 0)));
    says_which("bounding_a_pool");
}

/// For each mistake, the example shows what goes wrong, and shows that the library does not make this
/// mistake.
#[test]
fn order_mistakes_goes_wrong_in_five_ways() {
    let ways = ["lanes", "queue", "flag", "locked_wait", "wrappers"];
    each_ends_with("order_mistakes", &ways.map(|way| (way, 0)));
    says_which("order_mistakes");
}

/// The slow tasks take a second, unless the other tasks run before them. So if the machine stalls for a
/// second, the output of the example is different.
#[test]
fn three_orders_keeps_two_of_them() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/three_orders.txt");
    let book = fs::read_to_string(book).unwrap();
    measured_until("three_orders", "", |printed| printed.replace("\r\n", "\n") == book);
}

/// The watchdog reports the stuck task after 50 ms; by then, the task for which the stuck task waits should
/// have begun. So if the machine stalls for 50 ms, the output of the example is different.
#[test]
fn stuck_pool_shows_who_waits_for_whom() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/stuck_pool.txt");
    let book = fs::read_to_string(book).unwrap();
    measured_until("stuck_pool", "", |printed| printed.replace("\r\n", "\n") == book);
}

#[test]
fn idle_stripes_leaves_none() {
    let output = run("idle_stripes", "5000");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.starts_with("keys: 5000,") && printed.ends_with("at the end: 0\n"), "{printed}");
}

/// When the request to stop comes, one page is complete. The classic listing reports the complete page as cut
/// off.
#[test]
fn what_was_running_is_known_or_presumed() {
    each_ends_with("what_was_running", &["classic", "ours"].map(|way| (way, 0)));
    says_which("what_was_running");
}

/// The test leaves out the argument `measure`, because the trial `measure` takes minutes.
#[test]
fn puzzle_is_solved_or_known_to_have_no_solution() {
    each_ends_with("puzzle", &["moves", "ways", "none"].map(|way| (way, 0)));
    says_which("puzzle");
}

/// The output shows times of a real clock, each rounded down to a multiple of half a period. A busy machine
/// delays a run by some milliseconds, no matter how long the period is. With a longer period, the delay is a
/// smaller part of the period.
#[test]
fn again_has_each_run_when_it_should_be() {
    for what in ["late", "panics", "changes"] {
        let book =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../book/src/transcripts/again_{what}.txt"));
        let book = fs::read_to_string(book).unwrap();
        let [short, long] = [100, 1_000].map(|period| format!("{what} {period}"));
        let attempts = [&*short, &short, &short, &long, &long, &long, &long, &long];
        one_is("again", &attempts, |printed| {
            let with_a_long_period = "first: 1.5s, most: 60s"; // the only times that are not in periods
            let printed = printed.replace("\r\n", "\n").replace(with_a_long_period, "first: 150ms, most: 6s");
            printed == book
        });
    }
    says_which("again");
}

/// The example's delay is two seconds. So if the machine stalls for two seconds, the output of the example is
/// different.
#[test]
fn again_has_tasks_that_end_with_their_executor_or_after_their_time() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/again_ends.txt");
    let book = fs::read_to_string(book).unwrap();
    measured_until("again", "ends", |printed| printed.replace("\r\n", "\n") == book);
}

/// The example prints the delay of the hundredth run, in seconds, for the loop, for the fixed delay and for
/// the fixed rate.
#[test]
fn again_drifts_unless_the_rate_is_fixed() {
    measured_until("again", "drift", |printed| {
        let seconds = |line: &str| line.split(" begins ").nth(1)?.split(' ').next()?.parse::<f64>().ok();
        let seconds: Vec<_> = printed.lines().map(|line| seconds(line).expect("a number")).collect();
        matches!(seconds[..], [sleeps, delay, rate] if sleeps >= 1.2 && delay >= 1.2 && (0.98..1.1).contains(&rate))
    });
}

/// The example prints its delay in seconds. So if the machine stalls for a second, the output of the example
/// is different.
#[test]
fn puzzle_stops_at_its_time_limit_and_at_its_bound() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/puzzle_stop.txt");
    let book = fs::read_to_string(book).unwrap();
    measured_until("puzzle", "stop", |printed| printed.replace("\r\n", "\n") == book);
}

/// The example shows three wrong ways and three correct ways to wait for the two halves of a sort.
#[test]
fn merge_sort_starves_or_is_wrong_until_its_tasks_help() {
    let ways = ["plain", "swallow", "help", "fork_join", "library"];
    each_ends_with("merge_sort", &ways.map(|way| (way, 0)));
    says_which("merge_sort");
}

/// A single worker steals nothing, and two workers steal only a few of the thousand halves. No half remains
/// in a queue.
#[test]
fn merge_sort_says_how_often_it_stole() {
    let as_the_page_says = |printed: &String| {
        let rows: Vec<Vec<u64>> = printed
            .lines()
            .skip(1)
            .map(|row| row.split_whitespace().map(|word| word.parse().expect("a number")).collect())
            .collect();
        assert!(rows[0] == [1, 0, 0, 0] && rows.iter().all(|row| row[2..] == [0, 0]), "{printed}");
        rows.iter().filter(|row| row[0] == 2).all(|row| (1..100).contains(&row[1]))
    };
    measured_until("merge_sort", "stats", as_the_page_says);
}

/// In a shared pool, short tasks wait for the long tasks; in a separate pool, short tasks hardly wait. If
/// each wait of a long task has a time limit, a short task waits at most for this limit. If a wait reaches
/// its limit, the wait fails, or the task repeats the wait until there is an answer.
#[test]
fn long_among_short_holds_up_the_short_ones_in_one_pool_only() {
    let as_the_page_says = |printed: &String| {
        let row = |name: &str| -> Vec<u32> {
            let row = printed.lines().find_map(|line| line.strip_prefix(name)).expect("a row of that name");
            row.split_whitespace().map(|word| word.parse().expect("a number")).collect()
        };
        let (one, two) = (row("one pool of four threads"), row("a pool of three, one of one"));
        let (fail, requeue) = (row("one pool, a limit, fail"), row("one pool, a limit, requeue"));
        assert!([&one, &two].iter().all(|row| row[2..] == [4, 0, 0]) && requeue[2..4] == [4, 0], "{printed}");
        let limit_is_reached = fail[2..] == [0, 4, 0] && requeue[4] > 0;
        limit_is_reached && one[1] > 400 && two[1] < 10 && fail[1] < 40 && requeue[1] < 40
    };
    measured_until("long_among_short", "", as_the_page_says);
}

/// After a second, all eight threads should have begun. So if the machine stalls for a second, the output of the
/// example is different.
#[test]
fn merge_sort_spins_until_it_is_cancelled() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/merge_sort_spin.txt");
    let book = fs::read_to_string(book).unwrap();
    measured_until("merge_sort", "spin", |printed| printed.replace("\r\n", "\n") == book);
}

#[test]
fn merge_sort_mistakes_goes_wrong_in_four_ways() {
    let ways = ["right_bound", "whole_array", "lost", "missing_brace"];
    each_ends_with("merge_sort_mistakes", &ways.map(|way| (way, 0)));
    says_which("merge_sort_mistakes");
}

/// The computation would take hours, so only a cancellation or the end of `main` can end it.
#[test]
fn end_of_a_computation_comes_with_a_cancel_or_with_main() {
    each_ends_with("end_of_a_computation", &[("cancel", 0), ("main_returns", 0)]);
    says_which("end_of_a_computation");
}

/// A simulation uses only its own clock, so its figures are always the same.
#[test]
fn steal_simulation_has_the_speed_ups_that_the_book_shows() {
    each_ends_with("steal_simulation", &[("scale", 0), ("lanes 2", 0)]);
    says_which("steal_simulation");
}

#[test]
fn pictures_are_those_of_the_book() {
    let figures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/figures");
    for (name, argument) in [
        ("puzzle", "picture klotski.svg"),
        ("steal_simulation", "picture 3 deques.svg"),
        ("steal_simulation", "curve simulated-curve.svg"),
    ] {
        let output = run(name, argument);
        assert!(output.status.success(), "{argument}: {}", String::from_utf8_lossy(&output.stderr));
        if argument.starts_with("curve") {
            is_in_the_book(&output, "steal_simulation_curve");
        }
        let file = argument.rsplit(' ').next().unwrap();
        let picture = |folder: &Path| fs::read_to_string(folder.join(file)).unwrap().replace("\r\n", "\n");
        let drawn = picture(Path::new(env!("CARGO_TARGET_TMPDIR")));
        assert!(drawn == picture(&figures), "{argument} draws another one than the book has");
    }
}

#[test]
fn granularity_cuts_into_as_many_pieces_as_the_book_says() {
    each_ends_with("granularity", &[("counts", 0)]);
    assert!(run("granularity", "neighbours").status.success()); // its figures are measured
    says_which("granularity");
}

/// If there is no progress for a second, the example reports a hang. So if the machine stalls for a second,
/// the output of the example is different.
#[test]
fn no_free_thief_hangs_where_partners_lie_in_lanes() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/no_free_thief.txt");
    let book = fs::read_to_string(book).unwrap();
    measured_until("no_free_thief", "", |printed| printed.replace("\r\n", "\n") == book);
}

/// The test runs the trials of `pool_steps` one by one, as the book does.
#[test]
fn pool_steps_shows_what_goes_wrong_without_each_step() {
    for trial in ["panic", "end", "bound", "order"] {
        let output = run("pool_steps", trial);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        is_in_the_book(&output, &format!("pool_steps_{trial}"));
    }
    says_which("pool_steps");
}

/// The test runs the trials of `locks_and_waiting` one by one, as the book does.
#[test]
fn locks_and_waiting_forces_the_schedules_that_decide() {
    for trial in ["lost", "thief", "gates"] {
        let output = run("locks_and_waiting", trial);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        is_in_the_book(&output, &format!("locks_and_waiting_{trial}"));
    }
    says_which("locks_and_waiting");
}

/// The example shows three timed runs, and shows the fault and the cure of each run.
#[test]
fn timed_run_goes_wrong_in_three_ways() {
    for way in ["caller", "thread", "executor"] {
        let output = run("timed_run", way);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        is_in_the_book(&output, &format!("timed_run_{way}"));
    }
    says_which("timed_run");
}

#[test]
fn what_exit_skips_is_what_a_return_does() {
    for how in ["return", "exit"] {
        let output = run("what_exit_skips", how);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        is_in_the_book(&output, &format!("what_exit_skips_{how}"));
    }
    says_which("what_exit_skips");
}

/// If `main` panics, its process ends with the status 101.
#[test]
fn uncaught_panics_ends_with_that_of_main() {
    let output = run("uncaught_panics", "");
    assert_eq!(output.status.code(), Some(101), "{}", String::from_utf8_lossy(&output.stderr));
    is_in_the_book(&output, "uncaught_panics");
}

#[test]
fn ignored_request_is_made_again_by_each_wait() {
    each_ends_with("ignored_request", &[("ignore", 1), ("pass_on", 0)]);
    says_which("ignored_request");
}

/// The example also shows a mistake: if all rounds of the service share one token, the service never pauses
/// again.
#[test]
fn restarting_service_takes_a_token_for_each_round() {
    each_ends_with("restarting_service", &[("restart", 0), ("one_token", 1)]);
    says_which("restarting_service");
}

/// The example also shows a mistake: if each call has its own time limit, the page takes longer than the
/// limit of the page.
#[test]
fn one_deadline_is_for_all_calls_together() {
    each_ends_with("one_deadline", &[("each", 0), ("all", 0)]);
    says_which("one_deadline");
}

/// The example also shows a mistake: if a token replaces the task's own token, the task cannot see the pool's
/// request to stop.
#[test]
fn linked_tokens_hear_of_the_pool_and_of_the_request() {
    each_ends_with("linked_tokens", &[("request", 0), ("both", 0)]);
    says_which("linked_tokens");
}

/// The example `cost_of_a_token` is one of the examples that measure. The page of the example says which
/// rows cost more than other rows.
#[test]
fn cost_of_a_token_is_least_for_a_look() {
    let as_the_page_says = |printed: &String| {
        let figure = |row: &str| -> f64 {
            let figure =
                printed.lines().find(|line| line.starts_with(row)).and_then(|line| line.rsplit(' ').next());
            figure
                .and_then(|figure| figure.parse().ok())
                .unwrap_or_else(|| panic!("no figure for `{row}`:\n{printed}"))
        };
        figure("look") < figure("make a child, drop")
            && figure("make a child, drop") < figure("make a child with")
    };
    measured_until("cost_of_a_token", "", as_the_page_says);
}

/// Only with the guard does a cancellation end the blocked `read` of the reader. (On Windows, a `read` that
/// is already blocked stays blocked.)
#[cfg(unix)]
#[test]
fn reader_thread_is_reached_in_a_read_only_by_its_guard() {
    each_ends_with("reader_thread", &[("deaf", 1), ("polling", 0), ("guarded", 0)]);
    says_which("reader_thread");
}

#[cfg(unix)]
#[test]
fn socket_using_task_gives_its_thread_back_and_a_closure_does_not() {
    each_ends_with("socket_using_task", &[("closure", 0), ("task", 0)]);
    says_which("socket_using_task");
}

/// Cargo builds the examples of this module only with certain features.
#[cfg(all(unix, feature = "processes", feature = "sockets"))]
mod blocked_in_the_system {
    use super::prints_what_the_book_says;

    examples! {
        process_of_its_own,
        stop_a_server,
    }
}

/// Cargo builds this example only with the feature that the example needs. SIGTERM is 15 on every Unix.
#[cfg(all(unix, feature = "signals"))]
#[test]
fn last_words_ends_in_order_with_the_signals_status() {
    let output = run("last_words", "");
    assert_eq!(output.status.code(), Some(128 + 15), "{}", String::from_utf8_lossy(&output.stderr));
    is_in_the_book(&output, "last_words");
}

/// The predictions that `cargo course` asks for show the output of these examples.
#[cfg(all(unix, feature = "signals"))]
mod at_the_end {
    use super::prints_what_the_book_says;

    examples! {
        which_hooks_run,
        second_signal,
    }
}

/// The examples that Cargo builds only with this feature.
#[cfg(feature = "channel")]
mod with_channels {
    use super::{each_ends_with, prints_what_the_book_says, says_which};

    #[test]
    fn select_with_a_token() {
        prints_what_the_book_says("select_with_a_token");
    }

    #[test]
    fn cleaning_up() {
        prints_what_the_book_says("cleaning_up");
    }

    #[test]
    fn primes() {
        each_ends_with("primes", &[("generator", 0), ("broken", 1), ("producer", 0)]);
        says_which("primes");
    }

    /// The first way repeats its attempts forever, the second way loses a task, and the other two ways are
    /// correct.
    #[test]
    fn non_cancelable_task() {
        let ways = [("retries", 1), ("half_way", 0), ("masked", 0), ("limit", 0)];
        each_ends_with("non_cancelable_task", &ways);
        says_which("non_cancelable_task");
    }

    #[test]
    fn pausing_service() {
        prints_what_the_book_says("pausing_service");
    }
}

/// The jobs of `private_batch` hang, so its watchdog ends the process with a failure.
#[test]
fn private_batch_is_ended_by_its_watchdog() {
    let output = run("private_batch", "");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    is_in_the_book(&output, "private_batch");
}

/// `stress` is not part of the book.
#[test]
fn stress_finds_nothing_in_a_second() {
    let output = run("stress", "1");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("each was run once or dropped once"), "{printed}");
}

/// The example `where_time_goes` is one of the examples that measure. The page of the example says that a
/// box costs time, and that the wake-up of a thread costs much more.
#[test]
fn where_time_goes_prints_a_figure_for_each_part() {
    let as_the_page_says = |printed: &String| {
        let figure = |row: &str| -> f64 {
            let line = printed.lines().find(|line| line.trim_start().starts_with(row));
            let figure = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
            figure.unwrap_or_else(|| panic!("no figure for `{row}`:\n{printed}"))
        };
        assert!(figure("ThreadPoolExecutor") > 0.0, "{printed}");
        figure("box it") > figure("call a closure")
            && figure("wake a sleeping thread: until that one") > figure("notify when no thread sleeps")
    };
    measured_until("where_time_goes", "1", as_the_page_says);
}

/// With `Relaxed`, `memory_order` observes two steps in the wrong order; the number of such cases depends on
/// the processor. With `SeqCst`, the example must never observe the wrong order. In so many rounds, the wrong
/// order occurs if the code does not use `SeqCst`. On a machine with one processor, the wrong order cannot
/// occur. On a machine with one processor, the threads must wait for the processor six times in each round;
/// if other programs are busy, the test takes minutes.
#[test]
fn memory_order_never_misses_both_flags_with_seq_cst() {
    let rounds = if thread::available_parallelism().is_ok_and(|processors| processors.get() > 1) {
        20_000
    } else {
        20
    };
    let output = run("memory_order", &rounds.to_string());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains(&format!("SeqCst: in 0 of {rounds} rounds both saw nothing")), "{printed}");
}

/// Each task that goes through a hand-off needs a waiting worker; a queue accepts many tasks at once.
#[test]
fn queue_or_hand_off_costs_most_where_nothing_may_wait() {
    let as_the_page_says = |printed: &String| {
        let at_once = |name: &str| -> f64 {
            let row = printed.lines().find_map(|line| line.strip_prefix(name)).expect("a row of that name");
            row.split_whitespace().last().expect("a figure").parse().expect("a number")
        };
        at_once("queue, no bound") < at_once("hand-off")
    };
    measured_until("queue_or_hand_off", "", as_the_page_says);
}

/// The example `unequal_tasks` is one of the examples that measure, and the statements on its page must be
/// true.
#[test]
fn unequal_tasks_gain_less_than_equal_ones() {
    let as_the_page_says = |printed: &String| {
        let with_five_threads: Vec<f64> =
            printed.lines().skip(1).map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
        let [even, eight, nine, one_long, many] = with_five_threads[..] else { panic!("{printed}") };
        even > eight && eight > nine && many > one_long && many > even
    };
    measured_until("unequal_tasks", "", as_the_page_says);
}

#[test]
fn rows_of_a_picture_are_drawn_in_their_places() {
    let output = run("rows_of_a_picture", "");
    let picture = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<&str> = picture.lines().collect();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((rows.len(), rows[0]), (32, &*".".repeat(64)));
    assert!(
        rows.iter().all(|row| row.len() == 64 && row.starts_with('.') && row.ends_with('.')),
        "{picture}"
    );
    // The upper half of the picture is the mirror image of the lower half, and the points in the middle of
    // the picture never escape.
    for above in 2..16 {
        assert_eq!(rows[above], rows[32 - above], "{picture}");
    }
    assert!(rows[16].contains("@@@@@@@@"), "{picture}");
}

#[test]
fn checksums_are_printed_for_each_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checksums");
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("empty"), "").unwrap();
    fs::write(folder.join("inner/one"), "a").unwrap();
    let output = run("checksums", folder.to_str().unwrap());
    let printed = String::from_utf8_lossy(&output.stdout).replace(folder.to_str().unwrap(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(printed, "00000001  /empty\n00000041  /inner/one\n");
    assert!(!run("checksums", "/no/such/folder").status.success());
}

/// A guard that ends the server if a test has failed.
#[cfg(unix)]
struct Server(std::process::Child);

#[cfg(unix)]
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// A customer cancels a job, another job is late, and a signal ends the server.
#[cfg(unix)]
#[test]
fn a_job_server_answers_its_customers() {
    let server = Command::new(example("job_server"))
        .arg("127.0.0.1:0")
        .stdout(Stdio::piped())
        .spawn()
        .expect("`cargo test` builds the example");
    let mut server = Server(server);
    let mut line = String::new();
    BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("listening on ").expect("the first line");
    let connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let say = |command: &str| {
        writeln!(&connection, "{command}").unwrap();
        let mut answer = String::new();
        BufReader::new(&connection).read_line(&mut answer).unwrap(); // nothing comes before the next command
        answer.trim_end().to_owned()
    };
    let job = |command: &str, result: &str| {
        let id = say(command);
        let id = id.strip_prefix("job ").unwrap_or_else(|| panic!("{command}: {id}")).to_owned();
        if result.is_empty() {
            return id;
        }
        let said = say(&format!("result {id}"));
        assert!(said.contains(result), "{command}: {said}");
        id
    };
    let ended = job("run ada 1 60000 0", "done");
    let blocked = job("run ada 1 3600000 3600000", "");
    job("run ada 1 20 0", "deadline"); // behind the previous job, which ends too late
    assert_eq!(say(&format!("cancel {blocked}")), "cancelled");
    assert_eq!(say(&format!("cancel {blocked}")), "it had ended");
    assert!(say(&format!("result {blocked}")).contains("its customer"));
    assert_eq!(say(&format!("result {ended}")), "error: no such job");
    assert!(say("run ada urgent 1 1").starts_with("error: "));
    assert!(say("hello").contains("the commands are run"));

    let server_id = rustix::process::Pid::from_child(&server.0);
    rustix::process::kill_process(server_id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(server.0.wait().unwrap().code(), Some(128 + 15));
}

/// The example measures for about a quarter of a minute, and prints different figures each time.
const NOT_RUN: &str = "how_many_threads";

#[test]
fn every_example_is_run_here() {
    let sources = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap();
    let this_file = include_str!("examples.rs");
    for source in sources {
        let path = source.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_run = [format!("{name},"), format!("(\"{name}\"")].iter().any(|it| this_file.contains(it));
        assert!(is_run || name == NOT_RUN, "{name} is not in the list above");
    }
}

/// `cargo course book record` writes the transcripts without a comparison; only these tests compare the
/// transcripts with the examples' output. A test covers a command if the test uses the name of the example
/// and the first word of the command's arguments.
#[test]
fn every_transcript_of_an_example_is_compared_here() {
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/transcripts/record.toml");
    let recipes = fs::read_to_string(recipes).unwrap().replace("\r\n", "\n");
    let mut seen = 0;
    for recipe in recipes.split("[[").filter(|recipe| !recipe.contains("\nmeasured = true")) {
        let value = |key: &str| recipe.lines().find_map(|line| line.strip_prefix(key)?.strip_suffix('"'));
        let (Some(command), Some(file)) = (value("command = \""), value("file = \"")) else { continue };
        let Some((_, run)) = command.split_once(" --example ") else { continue };
        let (name, argument) = run.split_once(" -- ").unwrap_or((run, ""));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        if !folder.join(name).exists() && !folder.join(format!("{name}.rs")).exists() {
            continue; // of a program
        }
        assert_eq!(file, transcript(name, argument) + ".txt", "{command}");
        let way = argument.split(' ').next().unwrap();
        let is_run = |test: &str| {
            let has = |word: &str| ['"', ' '].iter().any(|end| test.contains(&format!("\"{word}{end}")));
            has(name) && (way.is_empty() || has(way))
                || way.is_empty() && test.contains(&format!("    {name},\n"))
        };
        assert!(include_str!("examples.rs").split("#[test]").any(is_run), "no test compares {file}");
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}
