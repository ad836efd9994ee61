//! The list of all measured values. A family has a name for Prometheus, a position in the JSON, and a
//! sentence that describes it; the table in the README has the same sentences.

use std::fmt;

/// A measured quantity, with its names.
#[derive(Debug)]
pub struct Family {
    /// The family's name for Prometheus.
    pub name: &'static str,
    /// True if the value only grows.
    pub kind: Kind,
    /// The group of the family in the JSON; empty if the label's value is the group's name.
    pub group: &'static str,
    /// The key of the family within its group.
    pub key: &'static str,
    /// The label that distinguishes the samples of the family; empty if there is only one sample.
    pub label: &'static str,
    /// A description of the value, with its unit.
    pub help: &'static str,
}

/// How a value may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The value is zero when the process starts, and only grows.
    Counter,
    /// The value can rise and fall.
    Gauge,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        })
    }
}

/// Declares a constant for each family, and the list of all families.
macro_rules! families {
    ($($constant:ident: $kind:ident $name:literal, $group:literal . $key:literal by $label:literal, $help:literal;)*) => {
        $(pub(crate) static $constant: Family = Family {
            name: $name, kind: Kind::$kind, group: $group, key: $key, label: $label, help: $help,
        };)*

        /// All measured quantities, in the order in which they are shown.
        pub fn families() -> impl Iterator<Item = &'static Family> {
            [$(&$constant),*].into_iter()
        }
    };
}

// The values of pools have the names that Micrometer gives them; the values of the process have the names
// of Prometheus' own libraries.
families! {
    POOL_STATE: Gauge "executor_pool_state", ""."state" by "name", "Where the pool stands: always 1, the label says it";
    POOL_SIZE: Gauge "executor_pool_size_threads", ""."threads" by "name", "Threads that the pool has";
    POOL_CORE: Gauge "executor_pool_core_threads", ""."core_threads" by "name", "Threads that the pool starts whether or not its queue has room";
    POOL_MAX: Gauge "executor_pool_max_threads", ""."maximum_threads" by "name", "Threads that the pool has at most";
    POOL_PEAK: Gauge "executor_pool_peak_threads", ""."peak_threads" by "name", "The most threads that the pool ever had";
    ACTIVE: Gauge "executor_active_threads", ""."active" by "name", "Threads of the pool that run a task";
    QUEUED: Gauge "executor_queued_tasks", ""."queued" by "name", "Tasks that wait for a thread";
    QUEUE_CAPACITY: Gauge "executor_queue_capacity_tasks", ""."queue_capacity" by "name", "Tasks that can wait at most, if there is a bound";
    COMPLETED: Counter "executor_completed_tasks_total", ""."completed" by "name", "Tasks that have ended, in whichever way";
    PANICKED: Counter "executor_panicked_tasks_total", ""."panicked" by "name", "Tasks that have ended with a panic";
    REJECTED: Counter "executor_rejected_tasks_total", ""."rejected" by "name", "Tasks for which there was no room, so that the policy was asked";
    STAGE: Gauge "http_server_info", "server"."stage" by "", "Which stage it is: always 1, the label says it";
    STATE: Gauge "http_server_state", "server"."state" by "", "Whether the server runs or is stopping: always 1, the label says it";
    CONNECTIONS: Gauge "http_server_connections", "server"."connections" by "", "Connections that are open, those that wait for a thread included";
    ACCEPTED: Counter "http_server_connections_accepted_total", "server"."accepted" by "", "Connections that were accepted";
    BODY_MEMORY: Gauge "http_server_body_memory_bytes", "server"."body_memory" by "", "Memory that is taken, or set aside, for bodies that clients send";
    REQUESTS: Counter "http_server_requests_total", "server"."requests" by "code", "Answers, by status; those to requests that were refused included";
    REFUSALS: Counter "http_server_refusals_total", "server"."refusals" by "reason", "Requests that were refused and ended their connection, by reason; and connections that were not served";
    LOOP_CONNECTIONS: Gauge "http_server_loop_connections", "loops"."connections" by "loop", "Connections that the event loop looks after";
    LOOP_ACCEPTED: Counter "http_server_loop_connections_accepted_total", "loops"."accepted" by "loop", "Connections that the event loop has accepted";
    START_TIME: Gauge "process_start_time_seconds", "process"."start_time" by "", "When the process began, in seconds since 1970";
    CPU: Counter "process_cpu_seconds_total", "process"."cpu_seconds" by "", "Processor time that the process has used, in seconds";
    RESIDENT: Gauge "process_resident_memory_bytes", "process"."resident_bytes" by "", "Memory that the process has, in bytes";
    OPEN_FDS: Gauge "process_open_fds", "process"."open_fds" by "", "Descriptors that the process has open";
    THREADS: Gauge "process_threads", "process"."threads" by "", "Threads that the process has";
}
