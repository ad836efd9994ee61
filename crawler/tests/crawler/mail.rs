//! Checks the mail check: it gives one answer for each account, in the order of the accounts, has one
//! deadline for all accounts, and leaves no thread running.

use crawler::mail::demo::{Demo, Fault, Script};
use crawler::mail::report::Checked;
use crawler::mail::{Account, Answer, Login, Progress, Protocol, Secret, Security, Threads, ask, listing};
use executor::{CancelToken, Cancelled, Latch, masked};
use mailcheck::check_mail;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

#[path = "../../src/bin/mailcheck.rs"]
#[allow(dead_code)]
mod mailcheck;

/// A time limit that no operation reaches.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(30);

/// A password that must not appear in any output.
pub(crate) const CANARY: &str = "canary-\"4711\\";

/// Returns a copy of the given account that has another host.
pub(crate) fn at(host: &str, account: &Account) -> Account {
    Account {
        name: account.name.clone(),
        host: host.to_owned(),
        port: account.port,
        protocol: account.protocol,
        security: account.security,
        user: account.user.clone(),
        login: Login::Password(Secret::new(CANARY)),
        folder: account.folder.clone(),
        allow_plain_password: account.allow_plain_password,
        ca: account.ca.clone(),
    }
}

/// The fault of a server, and the moment of the fault.
pub(crate) type Wrong = Option<(&'static str, Fault)>;

pub(crate) const SILENT: Wrong = Some(("connect", Fault::Silence));

/// Returns a fault in which the server sends a wrong line.
#[expect(clippy::unnecessary_wraps, reason = "it is the fault of a script")]
pub(crate) fn says(at: &'static str, words: &str) -> Wrong {
    Some((at, Fault::Says(format!("{words}\r\n"))))
}

/// Returns a fault in which the server refuses the login with the given text.
pub(crate) fn refuses(protocol: Protocol, words: &str) -> Wrong {
    match protocol {
        Protocol::Imap => says("password", &format!("TAG NO [AUTHENTICATIONFAILED] {words}")),
        Protocol::Pop3 => says("password", &format!("-ERR [AUTH] {words}")),
    }
}

/// Returns a fault in which the server refuses the login, and sends the password back twice: in pieces and
/// whole.
pub(crate) fn echoes(protocol: Protocol) -> Wrong {
    let (first, second) = CANARY.split_at(CANARY.len() / 2);
    refuses(protocol, &format!("no \u{1b}[1m{first}\u{1}{second}, and no {CANARY}"))
}

/// Returns the script of a server with a fault and three messages.
pub(crate) fn script(protocol: Protocol, security: Security, fault: Wrong) -> Script {
    Script { mail: 3, password: CANARY.to_owned(), fault, ..Script::new(protocol, security) }
}

/// Returns accounts whose servers are not contacted over a network.
fn accounts(count: usize) -> Vec<Arc<Account>> {
    let account = |number| Account {
        name: format!("account {number}"),
        host: "localhost".to_owned(),
        port: 1,
        protocol: Protocol::Imap,
        security: Security::Plain,
        user: "ada".to_owned(),
        login: Login::Password(Secret::new(CANARY)),
        folder: "INBOX".to_owned(),
        allow_plain_password: false,
        ca: None,
    };
    (0..count).map(|number| Arc::new(account(number))).collect()
}

fn number(account: &Account) -> usize {
    account.name["account ".len()..].parse().expect("a number")
}

fn check(
    accounts: &[Arc<Account>],
    within: Duration,
    most: usize,
    ask: impl Fn(&Account, &Progress, &CancelToken) -> Result<Answer, Cancelled> + Send + Sync + 'static,
) -> Vec<Checked> {
    check_mail(accounts, within, most, &Arc::default(), &CancelToken::new(), ask).expect("a pool")
}

fn answers(checked: Vec<Checked>) -> Vec<Answer> {
    checked.into_iter().map(|checked| checked.answer).collect()
}

fn failed(why: &str) -> Answer {
    Answer::Failed(why.to_owned())
}

/// Checks the order of the answers if each account answers only after the next account has answered.
#[test]
fn answers_come_in_the_order_of_the_accounts() {
    let has_answered: Arc<Vec<Latch>> = Arc::new((0..5).map(|_| Latch::new(1)).collect());
    let asked = check(&accounts(5), WATCHDOG, 5, move |account, _, _| {
        let number = number(account);
        if let Some(later) = has_answered.get(number + 1) {
            later.wait()?;
        }
        has_answered[number].count_down();
        Ok(Answer::New(number as u64 + 1))
    });
    let names: Vec<_> = asked.iter().map(|checked| checked.name.as_str()).collect();
    assert_eq!(names, ["account 0", "account 1", "account 2", "account 3", "account 4"]);
    assert_eq!(answers(asked), [1, 2, 3, 4, 5].map(Answer::New));
}

/// Two threads serve five accounts that never answer: if each account had its own deadline, a thread would be
/// free for the other accounts.
#[test]
fn the_deadline_is_one_for_all() {
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let asked = check(&accounts(5), Duration::from_millis(100), 2, move |_, progress, token| {
        counted.fetch_add(1, SeqCst);
        progress.at("logging in");
        token.sleep(WATCHDOG * 100).map(|()| Answer::None)
    });
    let begun = begun.load(SeqCst);
    assert!(begun <= 2, "{begun} of them had their turn");
    let steps: Vec<_> = asked
        .iter()
        .map(|checked| match &checked.answer {
            Answer::Failed(why) => why.strip_prefix("no answer within 100 ms ").expect(why),
            answer => panic!("{answer:?}"),
        })
        .collect();
    assert_eq!(steps.iter().filter(|step| **step == "(logging in)").count(), begun, "{steps:?}");
    assert_eq!(steps[2..], ["(waiting for a thread)"; 3]);
}

/// Checks that an answer that is ready at the deadline is used, although other accounts have not answered.
#[test]
fn an_answer_that_is_there_is_not_lost_to_those_that_are_late() {
    let asked = check(&accounts(4), Duration::from_millis(200), 4, |account, _, token| {
        match number(account) {
            // The deadline wakes the task, and the task still answers.
            0 => {
                token.sleep(WATCHDOG).map_or(Ok(Answer::New(7)), |()| unreachable!("the deadline is sooner"))
            }
            _ => token.sleep(WATCHDOG * 100).map(|()| Answer::None),
        }
    });
    let asked = answers(asked);
    // If no thread took the task before the deadline, the account has no answer.
    assert!(
        asked[0] == Answer::New(7) || asked[0] == failed("no answer within 200 ms (waiting for a thread)")
    );
    assert!(asked[1..].iter().all(|answer| matches!(answer, Answer::Failed(_))), "{asked:?}");
}

#[test]
fn a_panic_is_the_answer_of_its_account_and_does_not_show_the_password() {
    let asked = check(&accounts(3), WATCHDOG, 1, |account, _, _| match number(account) {
        1 => panic!("no\u{1b} {CANARY} here"),
        _ => Ok(Answer::None),
    });
    assert_eq!(
        answers(asked),
        [Answer::None, failed("the check has panicked: no [password] here"), Answer::None]
    );
}

thread_local! {
    /// A thread-local value that is dropped when its thread ends.
    static ALIVE: RefCell<Option<Alive>> = const { RefCell::new(None) };
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(20)); // without waiting for this thread, the check returns sooner
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Checks that no thread is left even if the tasks continue for some time after the cancellation.
#[test]
fn no_thread_is_left_when_the_call_returns() {
    leaves_no_thread();
}

/// Checks that the call waits for its threads even if the caller's own task is cancelled.
#[test]
fn no_thread_is_left_when_the_caller_is_cancelled() {
    let cancelled = CancelToken::new();
    cancelled.cancel();
    cancelled.attach(leaves_no_thread);
}

fn leaves_no_thread() {
    for within in [Duration::from_millis(50), WATCHDOG] {
        let (threads, alive) = (Arc::new(Threads::default()), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&alive);
        let ask = move |_: &Account, _: &Progress, token: &CancelToken| {
            ALIVE.with_borrow_mut(|alive| {
                alive.get_or_insert_with(|| {
                    counted.fetch_add(1, SeqCst);
                    Alive(Arc::clone(&counted))
                });
            });
            if within < WATCHDOG {
                let cancelled = token.sleep(WATCHDOG * 100);
                masked(|| thread::sleep(Duration::from_millis(20)));
                cancelled?;
            }
            Ok(Answer::None)
        };
        check_mail(&accounts(20), within, 4, &threads, &CancelToken::new(), ask).expect("a pool");
        assert_eq!((alive.load(SeqCst), threads.alive()), (0, 0));
    }
}

#[test]
fn a_token_calls_the_check_off_and_what_was_answered_stays() {
    let (stop, begun) = (CancelToken::new(), Arc::new(Latch::new(3)));
    let stopper = {
        let (stop, begun) = (stop.clone(), Arc::clone(&begun));
        thread::spawn(move || {
            begun.wait_timeout(WATCHDOG).expect("three have begun");
            stop.cancel();
        })
    };
    let ask = move |account: &Account, progress: &Progress, token: &CancelToken| {
        progress.at("counting the messages");
        begun.count_down();
        match number(account) {
            0 => Ok(Answer::New(1)),
            _ => token.sleep(WATCHDOG * 100).map(|()| Answer::None),
        }
    };
    let asked = check_mail(&accounts(5), WATCHDOG * 10, 2, &Arc::default(), &stop, ask).expect("a pool");
    stopper.join().expect("it does not panic");
    let (counting, waiting) =
        (failed("called off (counting the messages)"), failed("called off (waiting for a thread)"));
    assert_eq!(answers(asked), [Answer::New(1), counting.clone(), counting, waiting.clone(), waiting]);
}

/// Checks that each account gets an answer although no server is contacted.
#[test]
fn a_check_that_is_called_off_before_it_begins_has_an_answer_for_each_account() {
    let stop = CancelToken::new();
    stop.cancel();
    let ask = |_: &Account, _: &Progress, token: &CancelToken| token.check().map(|()| Answer::None);
    let asked = check_mail(&accounts(3), WATCHDOG, 1, &Arc::default(), &stop, ask).expect("a pool");
    let off = failed("called off (waiting for a thread)");
    assert_eq!(answers(asked), [off.clone(), off.clone(), off]);
}

fn silent_and_wrong() -> Demo {
    let scripts = [
        ("wrong", script(Protocol::Imap, Security::Plain, refuses(Protocol::Imap, "no"))),
        ("silent", script(Protocol::Imap, Security::Plain, SILENT)),
        ("silent, too", script(Protocol::Pop3, Security::Plain, SILENT)),
    ];
    Demo::start(scripts, None).expect("ports")
}

/// This test uses real sockets, which the check closes at the deadline.
#[test]
fn silent_servers_see_their_connections_closed_at_the_deadline() {
    let demo = silent_and_wrong();
    let stop = CancelToken::new();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            // The test itself cancels the token, as the deadline would, when all checks are in progress.
            let under_way = (0..3).all(|account| demo.heard(account).wait_for("connected", WATCHDOG));
            let one_has_ended = demo.heard(0).wait_for("closed", WATCHDOG);
            stop.cancel();
            assert!(under_way && one_has_ended);
        });
        check_mail(demo.accounts(), WATCHDOG * 10, 3, &Arc::default(), &stop, ask).expect("a pool")
    });
    for account in 0..3 {
        assert!(demo.heard(account).wait_for("closed", WATCHDOG), "{}", demo.accounts()[account].name);
    }
    // A server sees a connection before its client does, so the client may still be connecting.
    let off = ["connecting", "waiting for the greeting"].map(|step| failed(&format!("called off ({step})")));
    let silent = &answers(ended)[1..];
    assert!(silent.iter().all(|answer| off.contains(answer)), "{silent:?}");
}

/// Shows both faults of the listing: it reports no mail although each account has mail, and it leaves
/// threads behind.
#[test]
fn the_listing_takes_silence_and_failure_for_no_new_mail_and_leaves_threads() {
    let (demo, threads) = (silent_and_wrong(), Arc::new(Threads::default()));
    assert!(!listing::check_mail(demo.accounts(), Duration::from_millis(200), &threads));
    assert!((2..=3).contains(&threads.alive()), "{}", threads.alive());
    drop(demo); // closes the connections, so the threads end
    threads.join();
    assert_eq!(threads.alive(), 0);
}

#[test]
fn the_listing_finds_new_mail_if_every_server_answers() {
    let scripts =
        [Protocol::Imap, Protocol::Pop3].map(|protocol| ("mail", script(protocol, Security::Plain, None)));
    let (demo, threads) = (Demo::start(scripts, None).expect("ports"), Arc::new(Threads::default()));
    assert!(listing::check_mail(demo.accounts(), WATCHDOG, &threads));
    threads.join();
}
