//! How the pool starts workers, and what the pool tells the deadlock detector (`wait_graph`).

use std::io;

use super::registry::Registry;
use super::worker;
use crate::panics::PanicHandler;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, system_name, thread};
use crate::task::Task;
use crate::waiting::queue_owner::PoolOwner;
use crate::waiting::starvation::OnStarvation;

impl Registry {
    /// Starts the thread that will own this worker queue.
    pub(super) fn start(&self, number: usize) -> io::Result<()> {
        let registry = self.me.upgrade().expect("it is borrowed here");
        let pool = self.settings.name.replace('\0', ""); // std panics if a name contains a NUL
        let name = format!("{pool}-worker-{number}");
        let for_system = system_name::short(&name, &pool, number);
        let mut builder = thread::Builder::new().name(name);
        if let Some(bytes) = self.settings.stack_size {
            builder = builder.stack_size(bytes);
        }
        let run = move || {
            if let Some(name) = for_system {
                system_name::set(&name);
            }
            worker::run(&registry, number);
        };
        builder.spawn(run).map(drop)
    }
}

impl PoolOwner for Registry {
    fn waits_for_threads(&self, waiting: usize) -> bool {
        self.relied_on.store(true, Ordering::SeqCst);
        // Takes the lock of each queue, so that the publisher of a later job sees that the flag is set.
        let _ = self.is_anything_queued();
        self.has_only(waiting)
    }

    fn on_starvation(&self) -> OnStarvation {
        OnStarvation::Help { depth: worker::DEPTH }
    }

    fn may_grow(&self) -> bool {
        self.can_start()
    }

    fn start_another(&self) -> bool {
        self.can_start() && self.send_one()
    }

    fn start_spare(&self) -> bool {
        false
    }

    fn dismiss_spare(&self) {}

    fn take_next(&self) -> Option<Task> {
        None
    }

    fn help(&self, task: Task) {
        worker::run_for(self, task);
    }

    fn has_starved(&self) {}

    fn panic_handler(&self) -> Option<Arc<dyn PanicHandler>> {
        self.settings.panic_handler.clone()
    }
}
