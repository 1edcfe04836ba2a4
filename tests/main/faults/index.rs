//! Faults of the index and of retrieval, F47 to F57.
