//! The properties of the log; each property is a function. `exercise.toml` lists the properties and says what
//! each one promises.

use exercises_harness::{at_once, expect, fail, step};

use super::exercise::{Lines, Refused};
use crate::probe::Counter;
use crate::sync::Arc;

mod queue;

use queue::{CLIENT_WAITS, NOT_ENDED, World, accepted, interrupted, join, start, stopped};

const LOST: &str = "each accepted line is written before run() returns: the log is over when it is stopped and no line is owed";
const COUNT_FIRST: &str = "log() found the log open before stop() was called, and may still put its line, so the line is owed. Count the \
                           line before put(), in the step that finds the log open";
const AT_SIZE: &str = "a log owes any number of lines, and owes each of them until it is written";
const EACH_ITS_OWN: &str =
    "a log must keep its state in itself: if one log is stopped, another log may be open";
const ONE_ENDED: &str = "a client that is interrupted ends its own reservation, and no other one";

pub fn lines_are_written_in_their_order() {
    let lines = ["one", "", "two", "two"]; // an empty line is a line, and so is one that has been before
    let mut world = World::new(lines.len());
    for line in lines {
        world.accept(line);
    }
    world.start_the_writer(|_| ());
    world.until_written(lines.len());
    world.stop();
    world.ends_with(&lines, "run() writes each line that it takes, once, before it takes the next");
}

pub fn what_is_in_the_queue_is_written() {
    let mut world = World::new(3);
    for line in ["one", "two", "three"] {
        world.accept(line);
    }
    world.stop();
    world.start_the_writer(|_| ());
    world.ends_with(&["one", "two", "three"], LOST);
}

pub fn stop_ends_a_writer_that_waits() {
    let mut world = World::waiting(1);
    world.stop();
    world.ends_with(&[], NOT_ENDED);
    let mut world = World::running(1);
    world.stop(); // before the writer waits, perhaps
    world.ends_with(&[], NOT_ENDED);
}

pub fn a_wake_up_is_no_end() {
    let mut world = World::waiting(1);
    world.queue.wake();
    let cause = "take() returned None: a thread has called wake(), but None does not say why. Check whether the log is over, and take \
                 again if it is not";
    world.the_writer_waits("take() returned None, and the log was not stopped", cause);
    world.accept("one");
    world.queue.wake();
    world.the_writer_waits("take() returned None, and the log was not stopped", cause);
    world.stop();
    world.ends_with(&["one"], cause);
}

pub fn after_stop_a_line_comes_back() {
    let mut world = World::running(1);
    world.stop();
    for line in ["late", "later"] {
        stopped(line, at_once("log() after stop()", CLIENT_WAITS, || world.log.log(line.to_owned())));
    }
    if world.queue.puts.get() > 0 {
        fail("the log was stopped, and then log() called put()", "a line that is refused is not put");
    }
    world.ends_with(&[], LOST);
}

pub fn nothing_is_held_while_a_thread_waits() {
    let mut world = World::new(1);
    let (gate, writing) =
        (Arc::new(Counter::new("the disk, which is slow")), Counter::new("the writer to write"));
    let writing = Arc::new(writing);
    let own = (Arc::clone(&gate), Arc::clone(&writing));
    world.start_the_writer(move |line| {
        if line == "one" {
            own.1.add();
            own.0.wait_for(1);
        }
    });
    world.accept("one");
    expect("waiting for the writer to write", "run() writes the line that it takes", || writing.wait_for(1));
    at_once("log(), for whose line there is room,", CLIENT_WAITS, || world.accept("two"));
    let client = world.client_in_put("three");
    world.stop();
    step("the disk has written");
    gate.add();
    let [result] = join("log(), for whose line there is room,", CLIENT_WAITS, client);
    accepted("three", result);
    world.ends_with(&["one", "two", "three"], LOST);
}

pub fn a_client_in_put_is_waited_for() {
    let mut world = World::waiting(0);
    let client = world.client_in_put("one");
    world.stop();
    world.the_writer_waits("a client is still in put(), and its line may come", COUNT_FIRST);
    world.queue.make_room(1);
    let [result] = join("log(), for whose line there is room,", CLIENT_WAITS, client);
    accepted("one", result);
    world.ends_with(&["one"], COUNT_FIRST);
}

pub fn an_interrupted_client_gets_its_line_back() {
    let mut world = World::waiting(0);
    let client = world.client_in_put("one");
    world.queue.interrupt("one");
    interrupted("one", client);
    world.the_writer_waits("a client was interrupted, and the log was not stopped", LOST);
    world.queue.make_room(1);
    world.accept("two");
    world.stop();
    world.ends_with(&["two"], LOST);
}

pub fn an_interrupted_client_wakes_the_writer() {
    let mut world = World::waiting(0);
    let client = world.client_in_put("one");
    world.stop();
    world.the_writer_waits("a client is still in put(), and its line may come", COUNT_FIRST);
    world.queue.interrupt("one");
    interrupted("one", client);
    world.ends_with(&[], NOT_ENDED);

    // The writer also ends if the log is stopped while an interrupted client returns from put().
    let mut world = World::waiting(0);
    let client = world.client_in_put("one");
    world.queue.interrupt("one");
    world.stop();
    interrupted("one", client);
    world.ends_with(&[], NOT_ENDED);
}

pub fn one_of_two_is_interrupted() {
    let mut world = World::waiting(0);
    let clients = [world.client_in_put("one"), world.client_in_put("two")];
    world.stop();
    let [one, two] = clients;
    world.queue.interrupt("one");
    interrupted("one", one);
    world.the_writer_waits("another client is still in put(), and its line may come", ONE_ENDED);
    world.queue.make_room(1);
    let [result] = join("log(), for whose line there is room,", CLIENT_WAITS, two);
    accepted("two", result);
    world.ends_with(&["two"], ONE_ENDED);
}

pub fn who_is_refused_counts_for_nothing() {
    let mut world = World::waiting(0);
    let client = world.client_in_put("one");
    world.stop();
    for line in ["late", "later"] {
        stopped(line, at_once("log() after stop()", CLIENT_WAITS, || world.log.log(line.to_owned())));
    }
    let cause = "a client that is refused has made no reservation, and ends none";
    world.the_writer_waits("a client is still in put(), and its line may come", cause);
    world.queue.interrupt("one");
    interrupted("one", client);
    world.ends_with(&[], cause);
}

pub fn a_second_stop_changes_nothing() {
    let mut world = World::waiting(0);
    let client = world.client_in_put("one");
    world.stop();
    world.stop();
    let cause = "stop() says that the log is stopped. It ends no reservation, however often it is called";
    world.the_writer_waits("a client is still in put(), and its line may come", cause);
    world.stop();
    world.the_writer_waits("a client is still in put(), and its line may come", cause);
    world.queue.make_room(1);
    let [result] = join("log(), for whose line there is room,", CLIENT_WAITS, client);
    accepted("one", result);
    world.ends_with(&["one"], cause);
    world.stop();
}

pub fn accepted_means_written() {
    let mut world = World::running(2);
    let clients = [world.client(["one"]), world.client(["two"])];
    let stopping = Arc::clone(&world.log);
    let stopper = start("stopper", move || stopping.stop());
    let mut expected = 0;
    for client in clients {
        let [result] = join("log()", CLIENT_WAITS, client);
        match result {
            Ok(()) => expected += 1,
            Err(Refused::Stopped(_)) => (),
            Err(refused) => {
                fail(&format!("no client was interrupted, and log() returned {refused:?}"), COUNT_FIRST)
            }
        }
    }
    join("stop()", queue::STOP_WAITS, stopper);
    let cause = "stop() came while a client was in log(). Check that the log is open and count the line in one step, under one lock. \
                 Change the count only under that lock, or one of two changes at the same time is lost";
    world.ends_with_so_many(expected, cause);
}

pub fn many_lines_are_written() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: what is looked for here is no race
    }
    let mut world = World::new(600); // all of them are owed at once
    let clients =
        ["one", "two"].map(|client| (0..300).map(|line| format!("{client} {line}")).collect::<Vec<_>>());
    let threads = clients.clone().map(|lines| {
        let log = Arc::clone(&world.log);
        start("client", move || lines.iter().for_each(|line| accepted(line, log.log(line.clone()))))
    });
    threads.into_iter().for_each(|thread| join("log()", CLIENT_WAITS, thread));
    world.stop();
    world.start_the_writer(|_| ());
    world.ends_with_many(&clients, AT_SIZE);
}

pub fn two_logs_do_not_know_each_other() {
    let (mut one, mut other) = (World::running(1), World::running(1));
    one.stop();
    stopped("late", at_once("log() after stop()", CLIENT_WAITS, || one.log.log("late".to_owned())));
    match expect("log()", CLIENT_WAITS, || other.log.log("one".to_owned())) {
        Ok(()) => {}
        Err(refused) => fail(
            &format!("one of two logs was stopped, and log() of the other gave {refused:?}"),
            EACH_ITS_OWN,
        ),
    }
    one.ends_with(&[], EACH_ITS_OWN);
    other.stop();
    other.ends_with(&["one"], EACH_ITS_OWN);
}
