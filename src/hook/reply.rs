//! The one reply a hook may print: the shape that the host accepts for the event.

use super::Event;
use serde_json::json;

/// Makes the reply that hands `context` to the model.
///
/// ```json
/// {"hookSpecificOutput":{"additionalContext":"…","hookEventName":"UserPromptSubmit"}}
/// ```
///
/// Only this nesting, with the event's own name, reaches the model (host facts, section 2.1); anything beside it would be taken as raw text.
pub(super) fn context(event: Event, context: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": event.host_name(), "additionalContext": context } })
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_is_one_line_of_the_hosts_shape() {
        assert_eq!(
            context(Event::UserPromptSubmit, "a\n\"b\""),
            r#"{"hookSpecificOutput":{"additionalContext":"a\n\"b\"","hookEventName":"UserPromptSubmit"}}"#
        );
    }
}
