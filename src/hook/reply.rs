//! The one reply a hook may print: the shape that the host accepts for the event.

use super::Event;
use serde_json::{Map, Value, json};

/// What a handler wants of the host: nothing, a context for the model, a call denied, a word to the user. It says so here and nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Intents {
    /// For the model.
    pub context: Option<String>,
    /// Why a call is denied.
    pub deny: Option<String>,
    /// For the user.
    pub word: Option<String>,
}

/// Makes the one reply; `None` when nothing is intended: then nothing is printed.
///
/// ```json
/// {"hookSpecificOutput":{"additionalContext":"…","hookEventName":"UserPromptSubmit"}}
/// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"…"}}
/// {"systemMessage":"sinker: …"}
/// ```
///
/// Only this nesting, with the event's own name, reaches the model (host facts, section 2.1); anything beside it would be taken as raw text.
/// An event that may not hold a part gets none of it. Nothing here allows a call: attaching a context must not skip a question to the user.
pub(super) fn reply(event: Event, intents: &Intents) -> Option<String> {
    let mut parts = Map::new();
    let own = match (&intents.deny, &intents.context) {
        (Some(reason), _) if event.may_deny() => Some(json!({
            "hookEventName": event.host_name(), "permissionDecision": "deny", "permissionDecisionReason": reason,
        })),
        // Whatever came as reason before: no host takes a context from an event that does not recall.
        (_, Some(context)) if event.may_recall() => {
            Some(json!({ "hookEventName": event.host_name(), "additionalContext": context }))
        }
        _ => None,
    };
    parts.extend(own.map(|own| ("hookSpecificOutput".to_owned(), own)));
    if let Some(word) = intents.word.as_ref().filter(|_| event.tells_user()) {
        parts.insert("systemMessage".to_owned(), word.as_str().into());
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
            let intents = Intents { context: Some("a\n\"b\"".into()), deny: None, word: Some("w".into()) };
            assert_eq!(reply(event, &intents), expected, "{event:?}");
            assert_eq!(reply(event, &Intents::default()), None, "{event:?}");
            let deny = Intents { deny: Some("no".into()), ..Intents::default() };
            let denied = (event == Event::PreToolUse).then(|| {
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#.to_owned()
            });
            assert_eq!(reply(event, &deny), denied, "{event:?}");
        }
        let word = Intents { word: Some("w".into()), ..Intents::default() };
        assert_eq!(reply(Event::SessionStart, &word).as_deref(), Some(r#"{"systemMessage":"w"}"#));
    }
}
