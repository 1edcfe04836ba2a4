//! The one reply a hook may print: the shape that the host accepts for the event.

use super::Event;
use serde_json::{Map, Value, json};

/// Makes the reply that hands `context` to the model and `word` to the user; `None` when there is neither: then nothing is printed.
///
/// ```json
/// {"hookSpecificOutput":{"additionalContext":"…","hookEventName":"UserPromptSubmit"}}
/// {"systemMessage":"sinker: …"}
/// ```
///
/// Only this nesting, with the event's own name, reaches the model (host facts, section 2.1); anything beside it would be taken as raw text.
/// An event that may not hold a part gets none of it.
pub(super) fn reply(event: Event, context: Option<&str>, word: Option<&str>) -> Option<String> {
    let mut parts = Map::new();
    // Whatever came as reason before: no host takes a context from an event that does not recall.
    if let Some(context) = context.filter(|_| event.may_recall()) {
        let own = json!({ "hookEventName": event.host_name(), "additionalContext": context });
        parts.insert("hookSpecificOutput".to_owned(), own);
    }
    if let Some(word) = word.filter(|_| event.tells_user()) {
        parts.insert("systemMessage".to_owned(), word.into());
    }
    (!parts.is_empty()).then(|| Value::Object(parts).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F16: what the host's table allows, event by event (host facts, section 2.1).
    #[test]
    fn f16_each_event_gets_the_shape_that_is_legal_for_it_or_nothing() {
        let context = |name: &str| {
            format!(r#"{{"hookSpecificOutput":{{"additionalContext":"a\n\"b\"","hookEventName":"{name}"}}}}"#)
        };
        let both = r#"{"hookSpecificOutput":{"additionalContext":"a\n\"b\"","hookEventName":"SessionStart"},"systemMessage":"w"}"#;
        let table = [
            (Event::SessionStart, Some(both.to_owned())),
            (Event::UserPromptSubmit, Some(context("UserPromptSubmit"))),
            (Event::UserPromptExpansion, Some(context("UserPromptExpansion"))),
            (Event::PreToolUse, Some(context("PreToolUse"))),
            (Event::PostToolUse, Some(context("PostToolUse"))),
            (Event::PostToolUseFailure, Some(context("PostToolUseFailure"))),
            (Event::PostToolBatch, None),
            (Event::SubagentStart, Some(context("SubagentStart"))),
            (Event::SubagentStop, None),
            (Event::PreCompact, None),
            (Event::PostCompact, None),
            (Event::Stop, None),
            (Event::StopFailure, None),
            (Event::SessionEnd, None),
            (Event::Setup, Some(r#"{"systemMessage":"w"}"#.to_owned())),
        ];
        for (event, expected) in table {
            assert_eq!(reply(event, Some("a\n\"b\""), Some("w")), expected, "{event:?}");
            assert_eq!(reply(event, None, None), None, "{event:?}");
        }
        assert_eq!(reply(Event::SessionStart, None, Some("w")).as_deref(), Some(r#"{"systemMessage":"w"}"#));
    }
}
