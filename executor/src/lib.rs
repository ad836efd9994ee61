//! Task execution on threads.
