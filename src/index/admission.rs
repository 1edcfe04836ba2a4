//! Bounds what waits for the indexing thread. Tantivy's queue counts documents (ten thousand of them), and a document may be a megabyte;
//! here bytes are counted: who adds a document waits until there is room (D13).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tantivy::TantivyDocument;
use tantivy::schema::Document;

/// Documents of together this size may wait. Units: bytes of text.
const WAITING_BYTES: usize = 8 * 1024 * 1024;
/// An indexing thread that died takes nothing any more; the next call to Tantivy then tells the fault.
const PATIENCE: Duration = Duration::from_secs(30);

/// The gate: how many bytes are on their way.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    /// Waits for room, and takes it. A document larger than all of it goes alone.
    pub(super) fn admit(&self, document: TantivyDocument, bytes: usize) -> Admitted {
        let (waiting, left) = &*self.0;
        let guard = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |waiting: &mut usize| *waiting > 0 && *waiting + bytes > WAITING_BYTES;
        let (mut guard, _) =
            left.wait_timeout_while(guard, PATIENCE, full).unwrap_or_else(PoisonError::into_inner);
        *guard += bytes;
        drop(guard);
        Admitted { document, _room: Room { gate: self.clone(), bytes } }
    }

    #[cfg(test)]
    fn waiting(&self) -> usize {
        *self.0.0.lock().unwrap()
    }
}

/// A document on its way; gives its room back when the indexing thread takes it, or when it is dropped.
pub(super) struct Admitted {
    document: TantivyDocument,
    _room: Room,
}

struct Room {
    gate: Gate,
    bytes: usize,
}

impl Drop for Room {
    fn drop(&mut self) {
        let (waiting, left) = &*self.gate.0;
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(self.bytes);
        left.notify_one();
    }
}

impl Document for Admitted {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_adds_too_much_waits_until_something_is_taken() {
        let gate = Gate::default();
        let big = gate.admit(TantivyDocument::new(), WAITING_BYTES + 1);
        let (started, other) = (Arc::new(Mutex::new(false)), gate.clone());
        let has_room = Arc::clone(&started);
        let adds = std::thread::spawn(move || {
            let small = other.admit(TantivyDocument::new(), 1);
            *has_room.lock().unwrap() = true;
            drop(small.into_tantivy_document());
        });
        assert!(!*started.lock().unwrap());
        drop(big);
        adds.join().unwrap();
        assert!(*started.lock().unwrap());
        assert_eq!(gate.waiting(), 0);
    }
}
