use super::{Kept, LONG, Manner, bare, books, fill, line, put, start};
use logservice::{Durability, FlushError, Level, LogService, NotLogged, Overflow, Sink};
use std::io;
use std::sync::{Arc, Mutex};

#[test]
fn a_sink_that_takes_little_or_panics_gets_each_line_once() {
    let kept = Kept::shut();
    kept.set(|state| (state.one_by_one, state.manner) = (true, Manner::Panics));
    let service = start(&kept, 20, Overflow::Block);
    fill(&service, &kept, 20);
    kept.wait_until(|state| state.refused > 2);
    kept.open();
    assert_eq!(books(service.stop(LONG)), [21, 21, 0, 0]);
    assert!(kept.lines().into_iter().eq((0..21).map(line)));
}

/// A sink that writes a log record itself each time the writer's thread calls it.
struct Talks(LogServiceSlot);
type LogServiceSlot = Arc<Mutex<Option<logservice::LogHandle>>>;

impl Sink for Talks {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if let Some(handle) = self.0.lock().unwrap().as_ref() {
            assert_eq!(handle.say(Level::Info, "sink", format_args!("written")), Err(NotLogged::OwnThread));
            assert_eq!(handle.flush(Durability::System, LONG), Err(FlushError::OwnThread));
        }
        Ok(lines.len())
    }

    fn name(&self) -> String {
        "one that talks".into()
    }
}

#[test]
fn a_sink_that_logs_waits_for_nothing_and_feeds_nothing() {
    let slot = LogServiceSlot::default();
    let service = LogService::builder().format(bare).start(Talks(Arc::clone(&slot))).unwrap();
    *slot.lock().unwrap() = Some(service.handle());
    put(&service, 0).unwrap();
    assert_eq!(books(service.stop(LONG)), [1, 1, 0, 1]);
}

/// A sink that panics when it is dropped; the payload of this panic also panics when it is dropped.
struct Falls(Kept);
struct Bomb;

impl Sink for Falls {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.0.write(lines)
    }

    fn name(&self) -> String {
        "one that falls".into()
    }
}

impl Drop for Falls {
    fn drop(&mut self) {
        std::panic::panic_any(Bomb);
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("as the test has asked");
    }
}

#[test]
fn a_sink_that_panics_when_it_is_dropped_takes_nobody_with_it() {
    for _ in 0..20 {
        let kept = Kept::default();
        let service = LogService::builder().format(bare).start(Falls(kept.clone())).unwrap();
        put(&service, 0).unwrap();
        assert_eq!(books(service.stop(LONG)), [1, 1, 0, 0]);
        drop(service); // the writer is dropping its sink, or has ended
        assert_eq!(kept.lines(), [line(0)]);
    }
}
