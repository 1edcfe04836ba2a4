//! Faults of the spool and its watcher, F17 to F26.
