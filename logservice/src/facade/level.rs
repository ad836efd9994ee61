//! The levels of the facades are ours, by other names.

use crate::Level;

impl From<::tracing::Level> for Level {
    fn from(level: ::tracing::Level) -> Self {
        match level {
            ::tracing::Level::ERROR => Self::Error,
            ::tracing::Level::WARN => Self::Warn,
            ::tracing::Level::INFO => Self::Info,
            ::tracing::Level::DEBUG => Self::Debug,
            ::tracing::Level::TRACE => Self::Trace,
        }
    }
}

impl From<Level> for ::tracing::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::ERROR,
            Level::Warn => Self::WARN,
            Level::Info => Self::INFO,
            Level::Debug => Self::DEBUG,
            Level::Trace => Self::TRACE,
        }
    }
}

impl From<::log::Level> for Level {
    fn from(level: ::log::Level) -> Self {
        match level {
            ::log::Level::Error => Self::Error,
            ::log::Level::Warn => Self::Warn,
            ::log::Level::Info => Self::Info,
            ::log::Level::Debug => Self::Debug,
            ::log::Level::Trace => Self::Trace,
        }
    }
}

impl From<Level> for ::log::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warn => Self::Warn,
            Level::Info => Self::Info,
            Level::Debug => Self::Debug,
            Level::Trace => Self::Trace,
        }
    }
}
