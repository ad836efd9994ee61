//! Reads keys as they are pressed, without waiting for Enter and without echo.
//!
//! The module changes only two settings of the terminal: each key is delivered at once, and keys are not
//! echoed. Ctrl-C and the program's output work as usual. When the program ends, for whatever reason, the
//! terminal gets its old settings back. The drop of [`Keys`] restores the settings, also after a panic; a
//! handler restores them after Ctrl-C and after the signals that end a program.
//!
//! On Windows the module changes no settings, and each key needs Enter.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The commands that the user can give with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Hint,
    List,
    Next,
    Again,
    Quit,
}

impl Key {
    /// Returns the command for this byte. Most bytes have no command, because keys that move the cursor
    /// send several bytes.
    fn of(byte: u8) -> Option<Self> {
        match byte {
            b'h' => Some(Self::Hint),
            b'l' => Some(Self::List),
            b'n' => Some(Self::Next),
            b'\n' | b'\r' => Some(Self::Again),
            b'q' | END_OF_INPUT => Some(Self::Quit),
            _ => None,
        }
    }
}

/// The byte of Ctrl-D: with these settings the terminal delivers it like any other key.
const END_OF_INPUT: u8 = 0x04;

/// Receives the keys that are pressed from now on.
pub(super) struct Keys {
    pressed: Receiver<Key>,
    #[cfg(unix)]
    terminal: terminal::Changed,
}

impl Keys {
    /// Starts to listen for keys, if this program is in the foreground of a terminal.
    pub(super) fn listen() -> Option<Self> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return None;
        }
        #[cfg(unix)]
        let terminal = terminal::Changed::new().ok()?;
        let (sender, pressed) = mpsc::channel();
        // The thread reads until the process ends, because a read cannot be cancelled.
        thread::spawn(move || bytes().filter_map(Key::of).all(|key| sender.send(key).is_ok()));
        Some(Self {
            pressed,
            #[cfg(unix)]
            terminal,
        })
    }

    /// Returns the next key, if the user presses one within the given time. If the terminal is closed,
    /// returns [`Key::Quit`].
    pub(super) fn within(&self, time: Duration) -> Option<Key> {
        match self.pressed.recv_timeout(time) {
            Ok(key) => Some(key),
            Err(RecvTimeoutError::Timeout) => {
                #[cfg(unix)]
                self.terminal.change_again();
                None
            }
            Err(RecvTimeoutError::Disconnected) => Some(Key::Quit),
        }
    }
}

/// Returns the bytes that the user types: each byte, or the first byte of each line.
fn bytes() -> Box<dyn Iterator<Item = u8>> {
    if cfg!(unix) {
        Box::new(io::stdin().lock().bytes().map_while(Result::ok))
    } else {
        Box::new(io::stdin().lines().map_while(Result::ok).map(|line| first_of(&line)))
    }
}

fn first_of(line: &str) -> u8 {
    line.trim().bytes().next().unwrap_or(b'\n')
}

#[cfg(unix)]
mod terminal {
    use anyhow::ensure;
    use rustix::process::getpgrp;
    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
    };
    use std::io::stdin;
    use std::process;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    /// As long as this value lives, the terminal delivers each key at once.
    pub(super) struct Changed {
        /// The terminal's settings before the change. A thread that changes the terminal holds this lock. A
        /// signal handler that has restored the terminal keeps the lock until the process ends, so that no
        /// thread changes the terminal again.
        before: Arc<Mutex<Termios>>,
        changed: Termios,
    }

    impl Changed {
        pub(super) fn new() -> anyhow::Result<Self> {
            ensure!(in_foreground(), "in the background");
            let mut changed = tcgetattr(stdin())?;
            let before = Arc::new(Mutex::new(changed.clone()));
            let held = lock(&before);
            let at_the_end = Arc::clone(&before);
            command_line::on_signals(move |status| {
                let before = lock(&at_the_end);
                put_back(&before);
                process::exit(status);
            })?;
            changed.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            changed.special_codes[SpecialCodeIndex::VMIN] = 1;
            changed.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(stdin(), OptionalActions::Now, &changed)?;
            drop(held);
            Ok(Self { before, changed })
        }

        /// Changes the settings again, because the terminal has the settings of the shell after Ctrl-Z and
        /// `fg`.
        pub(super) fn change_again(&self) {
            let _held = lock(&self.before);
            let is_changed =
                tcgetattr(stdin()).is_ok_and(|now| !now.local_modes.contains(LocalModes::ICANON));
            if !is_changed && in_foreground() {
                let _ = tcsetattr(stdin(), OptionalActions::Now, &self.changed); // perhaps the terminal is gone
            }
        }
    }

    /// Returns whether this program is in the foreground. If a background program changes the settings of
    /// its terminal, the system stops that program.
    fn in_foreground() -> bool {
        tcgetpgrp(stdin()) == Ok(getpgrp())
    }

    impl Drop for Changed {
        fn drop(&mut self) {
            put_back(&lock(&self.before));
        }
    }

    fn lock(before: &Mutex<Termios>) -> MutexGuard<'_, Termios> {
        before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_back(before: &Termios) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, before); // perhaps the terminal is gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_for_what_the_line_below_the_verdict_says() {
        let pressed = |text: &str| text.bytes().filter_map(Key::of).collect::<Vec<_>>();
        assert_eq!(pressed("hln\r"), [Key::Hint, Key::List, Key::Next, Key::Again]);
        assert_eq!(pressed("\nq\x04"), [Key::Again, Key::Quit, Key::Quit]);
        assert_eq!(pressed("x \x1b[A\x1b[H\x1b[1;5C\t"), [], "other keys, and those that move the cursor");
    }

    #[test]
    fn where_a_key_needs_enter_an_empty_line_is_enter() {
        let typed = ["h\r", "", "\r", " q"].map(|line| Key::of(first_of(line)));
        assert_eq!(typed, [Some(Key::Hint), Some(Key::Again), Some(Key::Again), Some(Key::Quit)]);
    }
}
