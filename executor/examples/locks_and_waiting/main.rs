//! Shows ways to wait for another thread. Each trial forces a schedule of the threads that shows whether a
//! way to wait is right or wrong.
//!
//! ```sh
//! cargo run --example locks_and_waiting           # all trials
//! cargo run --example locks_and_waiting -- lost   # one of them: lost, thief or gates
//! ```
//!
//! The book explains this example in the chapter "Locks and waiting".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod gates;
mod post;

use gates::{Latch, Semaphore};
use post::{Letter, Post};
use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

/// The time after which the watchdog reports that the reader still sleeps.
const PATIENCE: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let trials: [(&str, fn()); 3] = [("lost", a_lost_wake_up), ("thief", a_thief), ("gates", two_gates)];
    let wanted = env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    if !trials.iter().any(|(name, _)| is_wanted(name)) {
        eprintln!("say which: lost, thief or gates");
        return ExitCode::from(2);
    }
    for (_, trial) in trials.into_iter().filter(|(name, _)| is_wanted(name)) {
        trial();
    }
    ExitCode::SUCCESS
}

fn a_lost_wake_up() {
    println!("look, let go of the lock, sleep:");
    let post = Arc::new(Post::default());
    let reader = thread_that({
        let post = Arc::clone(&post);
        move || post.take_with_a_gap(|| a_letter_comes(&post))
    });
    match reader.recv_timeout(PATIENCE) {
        Ok(letter) => println!("  the reader has {letter}"),
        Err(_) => {
            println!("  after {PATIENCE:?} the reader still sleeps; letters in the box: {}", post.len());
        }
    }

    println!("look and sleep under one lock:");
    let post = Arc::new(Post::default());
    let reader = thread_that(move || Some(post.take(|| a_letter_comes(&post))));
    println!("  the reader has {}", reader.recv().expect("it takes the letter"));
}

// ANCHOR: between
/// Starts a thread that puts a letter into the letter box. A reader calls this function after it has looked
/// into the box and before it sleeps.
fn a_letter_comes(post: &Arc<Post>) {
    let other = {
        let post = Arc::clone(post);
        thread::spawn(move || post.try_put("a letter"))
    };
    if other.join().expect("it does not panic") {
        println!("  meanwhile a letter comes, and the notification finds no thread asleep");
    } else {
        println!("  meanwhile a letter comes, and its thread has to wait for the lock");
        let post = Arc::clone(post);
        thread::spawn(move || post.put("a letter"));
    }
}
// ANCHOR_END: between

fn a_thief() {
    println!("wait in an `if`:");
    let post = Arc::new(Post::default());
    let (tell, falls_asleep) = mpsc::channel();
    let reader = thread_that({
        let post = Arc::clone(&post);
        move || post.take_with_if(|| tell.send(()).expect("the trial listens"))
    });
    falls_asleep.recv().expect("it finds nothing");
    post.put_for_a_thief("the first letter");
    println!("  the reader was woken and has {}", reader.recv().expect("it returns"));

    println!("wait in a loop:");
    let post = Arc::new(Post::default());
    let (tell, falls_asleep) = mpsc::channel();
    let reader = thread_that({
        let post = Arc::clone(&post);
        move || Some(post.take(|| tell.send(()).expect("the trial listens")))
    });
    falls_asleep.recv().expect("it finds nothing");
    post.put_for_a_thief("the first letter");
    falls_asleep.recv().expect("it finds nothing again");
    println!("  the reader was woken, found nothing, and sleeps again");
    post.put("the second letter");
    println!("  the reader was woken and has {}", reader.recv().expect("it returns"));
}

fn two_gates() {
    // ANCHOR: gates
    let all_done = Arc::new(Latch::new(3));
    for _ in 0..3 {
        let all_done = Arc::clone(&all_done);
        thread::spawn(move || all_done.count_down());
    }
    all_done.wait();
    println!("latch of 3: three threads have counted down, and it is open");

    let room = Semaphore::new(2);
    let (inside, most, pair) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(2));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                room.acquire();
                most.fetch_max(inside.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                pair.wait(); // no thread leaves before a second one is inside
                inside.fetch_sub(1, Ordering::Relaxed);
                room.release();
            });
        }
    });
    println!("semaphore of 2: six threads were inside, {} at once", most.into_inner());
    // ANCHOR_END: gates
}

/// Calls `takes` on a new thread, and sends the result of the call.
fn thread_that(takes: impl FnOnce() -> Option<Letter> + Send + 'static) -> mpsc::Receiver<Letter> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(takes().unwrap_or("nothing")));
    told
}
