//! Faults of the store, F39 to F46.
