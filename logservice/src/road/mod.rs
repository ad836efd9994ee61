//! The road to the service: each module a step, with the fault that the next one mends.
