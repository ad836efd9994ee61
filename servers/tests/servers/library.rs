//! Tests behaviour of the library that no stage shows.

use crate::support::{Client, DEADLINE, eventually, once_of_five};
use executor::{CancelToken, ExecutorExt, ExecutorService, ThreadPoolExecutor};
use servers::http::{Body, Response, Status};
use servers::{AccessLog, Limits, Listener, Server, Site};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{iter, thread};

/// The accept loop of the pooled stage, on its own thread.
struct Accepting {
    addr: SocketAddr,
    pool: Arc<ThreadPoolExecutor>,
    stop: CancelToken,
    ended: mpsc::Receiver<()>,
}

fn listener(addr: &str) -> Listener {
    Listener::bind(addr.parse().unwrap()).unwrap()
}

fn accept(listener: Listener, site: Site) -> Accepting {
    accept_within(listener, site, Limits::default(), 1)
}

fn accept_within(listener: Listener, site: Site, limits: Limits, threads: usize) -> Accepting {
    let addr = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().port()));
    let pool = Arc::new(ThreadPoolExecutor::fixed(threads));
    let waiting = Arc::clone(&pool);
    let server = Server::new(site, limits, AccessLog::Quiet);
    let server = Arc::new(server.keep_alive_while(move || waiting.stats().backlog() == 0));
    let stop = CancelToken::new();
    let (tell, ended) = mpsc::channel();
    let (executor, token) = (Arc::clone(&pool), stop.clone());
    thread::spawn(move || {
        for connection in listener.incoming_until(&token) {
            let server = Arc::clone(&server);
            let _ = executor.execute(move || server.serve(connection));
        }
        tell.send(()).unwrap();
    });
    Accepting { addr, pool, stop, ended }
}

impl Accepting {
    fn stop(&self) {
        self.stop.cancel();
        self.ended.recv_timeout(DEADLINE).expect("the accept loop goes on");
    }
}

#[test]
fn a_cancelled_token_ends_the_accept_loop() {
    for addr in ["127.0.0.1:0", "0.0.0.0:0"] {
        let accepting = accept(listener(addr), Site::new(None));
        let request = "GET /hello HTTP/1.0\r\n\r\n";
        assert_eq!(Client::connect(accepting.addr).send(request).reply().status, 200);
        accepting.stop();
        accepting.pool.shutdown();
        assert!(accepting.pool.await_termination(DEADLINE));
    }
}

#[test]
fn an_accept_loop_that_was_cancelled_before_does_not_begin() {
    let stop = CancelToken::new();
    stop.cancel();
    assert!(listener("127.0.0.1:0").incoming_until(&stop).next().is_none());
}

#[test]
fn threads_that_share_a_listener_all_stop() {
    let listener = Arc::new(listener("127.0.0.1:0"));
    // A thread takes another thread's wake-up only by chance, so the test has many rounds.
    for _ in 0..300 {
        let stop = CancelToken::new();
        let (tell, ended) = mpsc::channel();
        for _ in 0..4 {
            let (listener, stop, tell) = (Arc::clone(&listener), stop.clone(), tell.clone());
            thread::spawn(move || {
                listener.incoming_until(&stop).for_each(drop);
                tell.send(()).unwrap();
            });
        }
        assert_eq!(Client::connect(listener.local_addr()).reply().status, 503);
        stop.cancel();
        for _ in 0..4 {
            ended.recv_timeout(DEADLINE).expect("an accept loop goes on");
        }
    }
}

#[test]
fn an_abrupt_stop_answers_everyone() {
    for work in ["/block", "/cpu"] {
        let accepting = accept(listener("127.0.0.1:0"), Site::new(None));
        let mut running = Client::connect(accepting.addr);
        running.send(format!("GET {work}?ms=60000 HTTP/1.1\r\nHost: h\r\n\r\n"));
        let mut waiting = Client::connect(accepting.addr);
        waiting.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
        eventually("one does not run or the other does not wait", || {
            let stats = accepting.pool.stats();
            (stats.active, stats.queued) == (1, 1)
        });
        accepting.stop();
        drop(accepting.pool.shutdown_now());
        assert_eq!(waiting.reply().status, 503, "it was never begun");
        waiting.assert_closed();
        assert_eq!(running.reply().status, 503, "{work} was cancelled");
        drop(running);
        assert!(accepting.pool.await_termination(DEADLINE));
    }
}

#[test]
fn an_abrupt_stop_reaches_who_waits_for_a_client() {
    let limits = Limits {
        header_timeout: Duration::from_mins(10),
        body_timeout: Duration::from_mins(10),
        write_timeout: Duration::from_mins(10),
        ..Limits::default()
    };
    let more_than_buffers_hold = || Body::Bytes(vec![0; 64 << 20].into());
    let site = Site::new(None).route("/large", &["GET"], "", move |_| {
        Response::new(Status::Ok, "application/octet-stream", more_than_buffers_hold())
    });
    let accepting = accept_within(listener("127.0.0.1:0"), site, limits, 3);
    let mut clients = Vec::new();
    for request in [
        "GET /large HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /hello HTTP/1.1\r\n",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc",
    ] {
        let mut client = Client::connect(accepting.addr);
        client.send(request);
        clients.push(client);
    }
    // The first byte of the answer has arrived, so the thread that writes the answer will block soon.
    assert_eq!(clients[0].stream.peek(&mut [0]).unwrap(), 1);
    eventually("not all have begun", || accepting.pool.stats().active == 3);
    accepting.stop();
    drop(accepting.pool.shutdown_now());
    for client in &mut clients[1..] {
        assert_eq!(client.reply().status, 503);
        client.assert_closed();
    }
    assert!(accepting.pool.await_termination(DEADLINE), "a thread waits for a client that does not read");
}

#[test]
fn a_busy_connection_makes_way_for_a_waiting_one() {
    let (open, gate) = mpsc::channel();
    let gate = Mutex::new(gate);
    let site = Site::new(None).route("/gate", &["GET"], "", move |_| {
        gate.lock().unwrap().recv_timeout(DEADLINE).unwrap();
        Response::text(Status::Ok, "open")
    });
    let accepting = accept(listener("127.0.0.1:0"), site);
    let mut busy = Client::connect(accepting.addr);
    open.send(()).unwrap();
    assert_eq!(busy.get("/gate").header("Connection"), Some("keep-alive"), "no client waits");
    busy.send("GET /gate HTTP/1.1\r\nHost: h\r\n\r\n");
    let mut waiting = Client::connect(accepting.addr);
    waiting.send("GET /hello HTTP/1.0\r\n\r\n");
    eventually("the second connection does not wait", || accepting.pool.queued() == 1);
    open.send(()).unwrap();
    // The client is never idle, so an answer must tell it that no other answer follows.
    assert_eq!(busy.reply().header("Connection"), Some("close"));
    busy.assert_closed();
    assert_eq!(waiting.reply().status, 200);
    accepting.stop();
}

/// Here only cancelling the task can end the thread's wait on an open connection. So the thread never wakes
/// up just to check something.
#[test]
fn a_task_that_waits_for_long_ends_when_it_is_cancelled() {
    let hours = Duration::from_secs(10_000);
    let limits =
        Limits { header_timeout: hours, body_timeout: hours, idle_timeout: hours, ..Limits::default() };
    let server = Arc::new(Server::new(Site::new(None), limits, AccessLog::Quiet));
    let (listener, pool) = (listener("127.0.0.1:0"), ThreadPoolExecutor::fixed(2));
    let mut clients: Vec<_> = (0..2).map(|_| Client::connect(listener.local_addr())).collect();
    for connection in listener.incoming().take(2) {
        let server = Arc::clone(&server);
        pool.execute(move || server.serve(connection)).unwrap();
    }
    // The server has read the bytes after the first request, so the threads wait or will wait soon.
    for (client, begin) in
        clients.iter_mut().zip(["", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"])
    {
        client.send(format!("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n{begin}"));
        assert_eq!(client.reply().status, 200);
    }
    drop(pool.shutdown_now());
    assert!(pool.await_termination(DEADLINE), "a thread goes on waiting");
    clients[0].assert_closed();
    assert_eq!(clients[1].reply().status, 503);
}

#[test]
fn a_panicking_handler_is_answered_with_500() {
    struct PanicsAgain;
    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("on purpose, and once more");
        }
    }
    let site = Site::new(None).route("/text", &["GET"], "", |_| panic!("on purpose")).route(
        "/payload",
        &["GET"],
        "",
        |_| std::panic::panic_any(PanicsAgain),
    );
    let accepting = accept(listener("127.0.0.1:0"), site);
    for path in ["/text", "/payload"] {
        let mut client = Client::connect(accepting.addr);
        let reply = client.get(path);
        assert_eq!((reply.status, reply.header("Connection")), (500, Some("close")));
        client.assert_closed();
    }
    assert_eq!(Client::connect(accepting.addr).get("/hello").status, 200);
    assert_eq!(accepting.pool.stats().panicked, 0, "the task itself ends in order");
    accepting.stop();
}

#[test]
fn whoever_is_in_the_backlog_when_listening_ends_is_told_so() {
    let listener = listener("127.0.0.1:0");
    let mut clients: Vec<_> = (0..5).map(|_| Client::connect(listener.local_addr())).collect();
    let turned_away = listener.close();
    for client in &mut clients {
        assert_eq!(client.reply().status, 503);
        client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n").assert_closed();
    }
    drop(clients);
    assert_eq!(turned_away.see_off(Instant::now() + DEADLINE), 5);
}

/// Without the filter, the listener would wait a whole second in vain for a moment without a new client.
#[cfg(target_os = "linux")]
#[test]
fn clients_that_come_without_end_do_not_keep_a_listener_open() {
    once_of_five(Duration::from_millis(900), || {
        let listener = listener("127.0.0.1:0");
        let addr = listener.local_addr();
        let (tell, told) = mpsc::channel();
        // There are several clients, so that even on a busy machine a new client is always arriving.
        let coming: Vec<_> = iter::repeat_n(tell, 4)
            .map(|tell| {
                thread::spawn(move || {
                    let connect = || TcpStream::connect(addr).ok();
                    let clients = iter::from_fn(connect).inspect(|_| {
                        let _ = tell.send(());
                        thread::sleep(Duration::from_millis(4)); // the pace of the clients
                    });
                    clients.map(Client::over).collect::<Vec<_>>()
                })
            })
            .collect();
        told.iter().take(20).for_each(drop);
        let began = Instant::now();
        let turned_away = listener.close();
        let took = began.elapsed();
        let clients = coming.into_iter().flat_map(|coming| coming.join().unwrap());
        for mut client in clients {
            assert_eq!(client.reply().status, 503);
        }
        drop(turned_away);
        took
    });
}
