//! Faults of a process's life, F58 to F64.
