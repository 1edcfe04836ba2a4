//! The words by which claims are known. tidy: table of patterns, in the order in which they are tried.
//!
//! All are matched against a sentence in lower case. `s` is what a claim is about, `v` what it says of it. They say little on purpose: a
//! true claim that is missed costs nothing, since its record is still found; a false one stands in the way of others.

use super::statement::Kind;
use regex::Regex;
use regex::bytes::{RegexSet, RegexSetBuilder};
use std::sync::LazyLock;

/// Who may state a claim in these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// User and assistant.
    Any,
    /// Only a user: what a person wants.
    User,
}

/// A sentence that only thinks aloud, asks, offers, or tells what is being done.
pub(super) const UNSURE: &str = r#"\b(?:maybe|might|perhaps|probably|possibly|likely|presumably|apparently|seems?|looks? (?:like|as)|suspect|guess|theory|hypothesis|could|should|would|wouldn't|wonder|thinking (?:about|of)|not sure|unsure|let me|let's see|i'll|i will|i want(?:ed)? to|i'd|i need|i can|can i|you can|you need|you are|you're|needs? to|shall|do you|just for|for now|if (?:i|we|you|it|that|they|so)|one option|by default|typically|usually|in general|for example|so far|once (?:the|a|an|it|we|they|you|\S+ (?:is|are|has|have))|unless|as soon as|will be|check (?:if|whether)|actual\w*|usage|did not cause|didn't cause|keep forgetting)\b|\?["')]*$|^(?:if|were|had|before|after|when|while|do|does|did|is|are|was|can|how|why|which|where|who|next|then|first|now|also|to|in case|assuming|suppose|once|until)\b|^with\b|\breads "|^\w+ing (?:the|an?|for|at|to|into|through|now|in|on|over|with|all|each|your|our|my|it|this|that|only)\b"#;

/// What only says how far something has got holds for a moment.
pub(super) const PASSING: &str = r"\b(?:took|pass(?:es|ed|ing)?|finished|compil\w+|rebuilt|half done|are left|skipped|measured|first run|as of writing|went from|fell from|dropped from|on average|bisect\w*|reproduced?|audited|ready|complete[d]?|up to date|in place|clean|commit|unrelated|pre-existing)\b|\b\d+ (?:\w+ )?(?:tests?|files?|errors?|warnings?|lines?|packages?|match(?:es)?|results?|issues?|failures?|changes|call sites|modules?|points|tabs|sites|places|usages|comments|checks)\b|^\w+ed \d|\blines? \d|\b[0-9a-f]*(?:\d[a-f]|[a-f]\d)[0-9a-f]{5,}\b";

/// Not a sentence of prose: code, a table, a check list, a step, a fragment without a subject.
pub(super) const NO_PROSE: &str = r#"[│┃┆→⇒✅✓✔☑❌⚠●❯⏺⎿»]|\[[ x]\]|\*\*|  |\t|[;{:]$|=>|\);| = |^(?:import|const|var|return|export|def|fn|func|class|await|only|just|step \d)\b|^(?:please |ok,? )?(?:deletes?|deleted|drops?|restarts?|renames?|rebuilds?|reverts?|merges?|bumps?|tells?|finds?|migrates?|switch(?:es)?|added|fix(?:es|ed)?|updates?|updated|used|creates?|created|waits?|moves?|implements?|removes?|replaces?|tries|try|launch(?:es)?|looks?|sees?|see|verify|verifies|ensures?|handles?|returns?|renders?|accepts?|appends?|extracts?|installs?|goes|go|opens?|sends?|includes?|contains?|provides?|displays?|saves?|allows?|prevents?|prints?|generates?|parses?|validates?|converts?|extends?|configures?|enables?|disables?|both|no|same|none)\b|^(?:please |ok,? )?(?:adds?|uses?|runs?|writes?|checks?|asks?|makes?|reads?|sets?|calls?|changes?|puts?|shows?|starts?|stops?|notes?|builds?|tests?|deploys?|clicks?|selects?|supports?|keeps?|stores?|loads?|uploads?|downloads?|reduces?|increases?) (?:the|an?|it|its|all|any|each|every|new|both|only|from|if|when|that|whether|`|\d)"#;

/// What a person says of no rule.
pub(super) const NO_RULE: &str = r#"\b(?:always|never) (?:the|a|an|been|had|seen|mind|got|was|is|happens|works?|fails?|mentioned|said)\b|\blol\b|\?["')]*$|\bi hate (?:it|this|that|how|when)\b"#;

/// What a subject may not be: it means nothing in another session.
pub(super) const NO_SUBJECT: &str = r"^(?:(?:and|so|but|that|which|because|or|the|an?|my|your|this|these|those|only|main|new|old|current|existing|first|second|third|last|other|next|whole|rest|of|it|its|it's|they|he|she|i|you|we|there|here|what|everything|nothing|something|all|some|any|both|each|one|ones|two|three|file|files|code|output|change|changes|tests?|errors?|issue|problem|bug|branch|function|method|line|lines|result|results|value|class|page|script|command|build|fix|type|string|list|version|thing|things|way|reason|difference|question|answer|key|point|idea|field|variable|option|part|step|call|check|data|indentation|entry|item|row|message|text|test|failure|user|users|server)\W*)*$|\b(?:that|which|who|when|if)$|^.{80}";

/// A word that tells of something which did not work.
const TROUBLE: &str = r"slow|fail|crash|deadlock|flak|error|undefined|leak|growth|reset|reject|50[0-9]|time-?out|stopped|hang|hung|panic|broke|wrong|bug|stale|oom|killed|race|stuck|lag|spike|drop|loss|lost|duplicat|twice|empty|blank|missing|refused|corrupt|problem|issue|symptom|freez|froze|delay";

/// A subject that tells of what does not work has no value that holds.
pub(super) const TROUBLED: &str = r"\b(?:fail|crash|error|broke|bug|stuck|wrong|issue|problem)";

/// What a value looks like: code, address, flag, path, number with its unit, a number word with one.
pub(super) const VALUE: &str = r"(?:`[^`]+`|https?://\S+|--[a-z]\S*|/[\w.<>-]+(?:/[\w.<>-]*)*|[\w-]+/[\w./<>-]*|#[a-z][\w-]+|[\w.-]+\.(?:toml|ya?ml|json|hcl|md|rs|py|ts|go)\b|[a-z]{2}-(?:west|east|central|north|south)(?:-\d)?|(?:at most |up to |every |version |port |v)?\d+(?:[.:,]\d+)*(?: ?(?:%|[a-z]+))?|[a-z]+ \d+(?:\.\d+)*\b|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|sixty|ninety)(?:-\w+)? (?:ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?|players?|spaces|replicas|processes|retries|times|copies|workers|tries|instances|people|entries))";

/// What one types into a shell.
const COMMAND: &str = r"`(?:make|just|npm|npx|pnpm|yarn|bun|deno|cargo|go|docker|kubectl|helm|terraform|mise|uv|poetry|pytest|python3?|node|rake|bundle|gradle|\./gradlew|mvn|bin/\S+|\./\S+|scripts?/\S+|git|gh|tox|nox|invoke|task|ansible-\w+|systemctl)(?: [^`]*)?`";

/// A pattern with who may say it.
type Row = (Kind, Who, &'static str);

/// The patterns; `{T}` stands for a word of trouble, `{V}` for a value and `{C}` for a command.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    (Kind::Rename, Who::Any, r"(?P<s>.+?) (?:was|were|is|are|got|has been|have been|had been) (?:now )?renamed (?:to|as|into) (?P<v>\S+)"),
    (Kind::Rename, Who::Any, r"\b(?:i|we|they|someone|i've|we've|i have|we have) renamed (?P<s>[^,]+?) (?:to|into) (?P<v>\S+)"),
    (Kind::Rename, Who::Any, r"(?:what used to be |the former )(?P<s>.+?) (?:in the \w+ )?(?:goes by|is called|is known as|is now) (?:the name )?(?P<v>\S+)"),
    (Kind::Rename, Who::Any, r"(?P<s>.+?) (?:goes by|is known as) (?:the name )?(?P<v>\S+)"),
    (Kind::Rename, Who::Any, r"(?P<s>.+?) (?:is|are) (?:now called (?P<v>\S+)|called (?P<w>\S+) (?:now|these days|from))"),
    (Kind::Rename, Who::Any, r"(?P<s>.+?) (?:have|has) moved to (?P<v>`[^`]+`|\S+[/.]\S+)"),
    (Kind::Rename, Who::Any, r"^(?P<s>\S+) moved to (?P<v>\S+[/.]\S+)"),
    (Kind::Rename, Who::Any, r"\b(?:i|we|i've|we've)(?: have)? moved (?P<s>.+?(?:folder|directory|files?|docs|helpers?|module|package|repo)) to (?P<v>`[^`]+`|\S+[/.]\S*)"),
    (Kind::Rename, Who::Any, r"(?P<s>.*`[^`]+`) is (?:now )?(?P<v>`[^`]+`),? (?:from|now|since)\b"),
    (Kind::RootCause, Who::Any, r"(?:root cause|culprit)(?: (?:of|for|behind) (?P<s>.+?))?(?:\*\*)?(?: is| was|:)(?: that)? (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"(?P<s>[^:;]*\b(?:{T})\w*[^:;]*?),? (?:(?:is|are|was|were) )?(?:caused by|due to) (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"(?P<s>[^:;]*\b(?:{T})\w*[^:;]*?),? (?:came|come|comes|stem|stems|stemmed) from (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"(?P<s>[^:;]*\b(?:{T})\w*[^:;]*?),? because(?: of)? (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"\b(?:explain|answer on|answer to|reason for|explanation for|explanation of|behind) (?P<s>[^:]*(?:{T})[^:]*?): (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"\bturn(?:s|ed) out that (?P<v>.*(?:{T}).*)"),
    (Kind::Removal, Who::Any, r"\b(?:i|we|i've|we've)(?: have)? (?:removed|deleted|dropped support for|dropped the) (?P<s>.+?)(?: from\b|;|,|$)"),
    (Kind::Removal, Who::Any, r"(?P<s>.+?) (?:is|are|was|were|has been|have been) (?:now |all )?(?:removed|deleted|retired|taken out|gone|cut from|decommissioned|shut down)\b"),
    (Kind::Removal, Who::Any, r"(?P<s>.+?) (?:doesn't|does not|don't|do not) exist (?:any ?more|any longer)"),
    (Kind::Removal, Who::Any, r"there(?: is|'s| are) no (?P<s>.+?) (?:any ?more|any longer)"),
    (Kind::Removal, Who::Any, r"(?P<s>.+?) (?:is|are) no longer (?:part|supported|in use)\b"),
    (Kind::Removal, Who::Any, r"\b(?:we|i)(?:'ve| have)? (?:got|gotten) rid of (?P<s>.+?)(?: for good| last\b|,|$)"),
    (Kind::Preference, Who::User, r"^(?:please |and |also |again: ?|no, |but )*(?:never|always) (?P<s>\w+ .+)"),
    (Kind::Preference, Who::User, r"\b(?:i'd|i would) (?:like|rather|prefer|want) you (?:to|not to|never to) (?P<s>.+)"),
    (Kind::Preference, Who::User, r"\b(?:don't|do not) (?P<s>\w+ .*\b(?:ever|any ?more|by hand|without (?:asking|my))\b.*)"),
    (Kind::Preference, Who::User, r"\b(?:please )?stop (?P<s>(?:putting|adding|using|writing|asking|doing|making|creating|committing|pushing) .+)"),
    (Kind::Preference, Who::User, r"^(?:please )?from (?:now|here) on,? (?P<s>(?:ask|use|write|run|keep|put|do|don't|never|always|tell|show|make|only|please)\b.+)"),
    (Kind::Preference, Who::User, r"\bi (?:prefer|hate|can't stand|always want|want you to always) (?P<s>.+)"),
    (Kind::Preference, Who::User, r"(?:^|, (?:so|and) )(?:please,? |and |so )*no more (?P<s>.+?)(?:,| without| please|$)"),
    (Kind::Preference, Who::User, r"^no new (?P<s>.+?) without\b"),
    (Kind::Preference, Who::User, r"^(?:whenever|every time|before you|each time) .+, (?:please )?(?:show|ask|tell|run|do|use|write|keep|give|check) (?P<s>.+)"),
    (Kind::Preference, Who::User, r"^(?:please )?ask (?:me )?before you (?P<s>.+)"),
    (Kind::Decision, Who::Any, r"\bwe(?:'ve| have|'ll| will)? (?:all |finally |both )?(?:settled on|decided on|decided to|decided for|decided against|picked|chose|went with|go with|agreed on|agreed to|standardi[sz]ed on|opted for|switched to|moved to|migrated to) (?P<v>.+?)(?: for (?P<s>.+))?$"),
    (Kind::Decision, Who::User, r"\blet's (?:use|take|go with|stick with|switch to|stay with|standardi[sz]e on) (?P<v>.+?)(?: for (?P<s>.+))?$"),
    (Kind::Decision, Who::Any, r"^for (?P<s>.+?),? we (?:do|use|take|go with|run|have) (?P<v>.+)"),
    (Kind::Decision, Who::User, r"^(?:yes|ok|okay|right|fine|no)?,? ?(?:here )?we (?:use|store|keep|deploy|split|host|ship|publish|build) (?P<v>.+)"),
    (Kind::Decision, Who::User, r"^(?:so |no,? |and )?we (?P<s>(?:release|deploy|ship|publish|freeze|hold|keep|retain|rotate|merge|tag|rebase|squash|back up)\b.*)"),
    (Kind::Decision, Who::Any, r"\bwe(?:'re| are) (?:going with|switching to|moving to|migrating to|back to|back on|back at|sticking with|staying with|staying on) (?P<v>.+)"),
    (Kind::Decision, Who::User, r"(?P<v>.+?) it is(?: for (?P<s>.+))?$"),
    (Kind::Decision, Who::User, r"^(?:yes|ok|okay|right|fine), (?P<v>.+?) for (?P<s>.+)"),
    (Kind::Decision, Who::User, r"\bchanged my mind about (?P<s>.+?): (?P<v>.+)"),
    (Kind::Decision, Who::Any, r"(?P<s>.+?) (?:is|are) to be (?:kept|stored|done|used|written|put|built) (?P<v>.+)"),
    (Kind::Decision, Who::Any, r"(?P<s>.+?) from (?:now|here|today) on(?:[;,]|$)"),
    (Kind::Decision, Who::Any, r"(?:^|[,;:] )(?:from (?:now|today|here) on|as of (?:today|now)|from today),? (?P<s>.+)"),
    (Kind::Decision, Who::Any, r"(?P<s>.+?) (?:has|have) been (?:moved|switched|ported|migrated|converted|upgraded|downgraded) to (?P<v>.+?)(?: as you decided)?$"),
    (Kind::Decision, Who::Any, r"\bi(?:'ve| have)? (?:went with|settled on|decided on) (?P<v>.+)"),
    (Kind::Decision, Who::Any, r"\bi(?:'ve| have)? (?:replaced|ported|switched|migrated) (?P<s>.+?) (?:with|to|over to|by) (?P<v>.+)"),
    (Kind::Decision, Who::Any, r"^(?:since|as) (?:you|we) (?:chose|decided on|agreed on|picked) (?P<s>.+)"),
    (Kind::Decision, Who::Any, r"(?P<s>.+?) (?:now (?:goes|go) through|(?:goes|go) through|(?:is|are) (?:now )?(?:handled by|managed by|managed with|deployed (?:to|with|by)|written in|built with|hosted (?:on|at)|published (?:to|from)|declared in|encoded (?:as|in|with)|merged by|squash-merged|rebased)) ?(?P<v>.*)"),
    (Kind::Value, Who::Any, r"\b(?:i|we|i've|we've)(?: have)? (?:set|raised|lowered|put|changed|bumped|increased|reduced|cut|moved|pinned) (?P<s>.+?) (?:from .+? )?(?:to|on|at) (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) (?:has|have) (?:an? )?(?:[\w-]+ ){0,3}(?:of|at) (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?),? (?:it's|is|are|stays?|(?:is|are)? ?now)(?: now| still| only| always| reached| available)?(?: set| limited| capped| pinned| bound| kept| fixed| locked| restricted| stored| deployed| hosted| scheduled| served| mounted| picked up| read| scaled down)?(?: to| at| for| on| in| as| under| from| until| every| with)? (?:at most |at least |up to |exactly )?(?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) (?:now )?(?:runs?|listens?|lives?|lands?|sits?|waits?|expires?|times? out|sleeps?|retries|fires?|samples?|polls?|starts?|sit|live)(?: now| again| only| automatically| nightly| itself)? (?:on|at|after|for|until|under|every|per|in|up to) (?:port )?(?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) (?:accepts?|allows?|holds?|takes?|keeps?|survives?) (?:only )?(?P<v>(?:at most |up to )?\d.*)"),
    (Kind::Value, Who::Any, r"(?P<v>{C}),? (?:is what )?(?:deploys?|runs?|starts?|builds?|opens?|serves?|lints?|releases?|publishes|formats?|migrates?) (?P<s>.+)"),
    (Kind::Value, Who::Any, r"(?P<s>.+?) (?:is|are|run|runs|started|start|deployed|built) (?:with|by|via|using|through) (?P<v>{C}.*)"),
    (Kind::Value, Who::User, r"(?P<s>.+?) (?:has|have) to be (?:on|at|in) (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) (?:stays?|remains?|lasts?)(?: \w+){0,2} (?:for|until) (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) no longer \w+ .+? but (?P<v>.+)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) is called (?P<v>\S+)$"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) times? out \w+ \w+ after (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"^(?P<v>at most {V}) (?:can|may) (?P<s>.+)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) at most (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) (?:is|are) now (?P<v>(?:an?|in|on|at|as|one|part of) .+)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) now (?:runs?|sits?|lives?|uses?|goes|stores?|writes?|waits?|stays?|produces?|reads?|has|have|works?) (?P<v>.+)"),
    (Kind::Value, Who::Any, r"^(?:so )?(?P<s>(?:[^\s:;,]+ ){1,4}?)(?:runs? on|goes? through|lives? in|sits? (?:on|in)|has the form|have the form) (?P<v>.+)"),
    (Kind::Value, Who::User, r"^(?:btw |fyi |note: )?we(?:'re| are) on (?P<v>.*\d.*)"),
    (Kind::Refuted, Who::Any, r"\b(?:it|that|this) (?:wasn't|isn't|was not|is not) (?P<s>.+?) after all"),
    (Kind::Refuted, Who::Any, r"\b(?P<s>.+?) (?:wasn't|isn't|was not|is not) (?:the (?:cause|culprit|reason|problem)|to blame|it) ?(?:after all|either)?$"),
    (Kind::Refuted, Who::Any, r"\b(?:i was|we were) wrong about (?P<s>.+)"),
    (Kind::Refuted, Who::Any, r"\bi can rule out (?P<s>[^:;,]+)"),
];

fn whole(text: &str) -> String {
    text.replace("{T}", TROUBLE).replace("{V}", VALUE).replace("{C}", COMMAND)
}

/// The patterns, made once.
pub(super) static PATTERNS: LazyLock<Vec<(Kind, Who, Regex)>> = LazyLock::new(|| {
    let made = |(kind, who, text): &Row| Regex::new(&whole(text)).ok().map(|regex| (*kind, *who, regex));
    ROWS.iter().filter_map(made).collect()
});

/// Which of [`PATTERNS`] a sentence may fit, by their places: one look instead of one for each. Bytes beyond ASCII are no letters here, or an
/// automaton without states of its own would have to look at them; so it may find one more.
pub(super) static FITTING: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let texts = ROWS.iter().map(|(.., text)| whole(text));
    RegexSetBuilder::new(texts).unicode(false).dfa_size_limit(FITTING_BYTES).build().ok()
});

/// The states of all patterns together; with less room they are made again and again.
const FITTING_BYTES: usize = 8 * 1024 * 1024;

/// A sentence that says of itself that something has changed.
pub(super) static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:instead|no longer|any ?more|any longer|now|these days|switched|moved|replaced|replaces|ported|migrated|converted|back (?:on|to|at)|as of|from (?:today|now|here)|raised|lowered|bumped|reduced|increased|reverted|renamed|removed|deleted|changed|takes? (?:its|their|over)|forget|used to|since (?:this|last)|not .{1,30} but|that is wrong|that's wrong)\b|^no, ",
    )
    .ok()
});

/// Pairs of words of which a text names one or the other: what is true of one is not said of the other.
pub(super) const APART: &[&[&str]] = &[
    &["staging", "production", "prod", "preview", "local", "dev"],
    &["unit", "integration", "e2e", "end-to-end", "smoke", "load"],
    &["android", "ios", "web", "desktop"],
    &["read", "write", "connect"],
    &["client", "server"],
    &["frontend", "backend"],
    &["go", "python", "rust", "java", "typescript", "javascript", "ruby", "shell", "c++", "kotlin", "swift"],
    &["train", "test"],
    &["upload", "download", "uploads", "downloads", "exports", "imports"],
];

/// Words that many texts of this trade hold: they say little of what a claim is about.
pub(super) const PLAIN: &str = "one two three four five six seven eight nine ten use used uses using user new old now run runs running set \
    get gets got make makes made need needs file files line lines code test tests time times add added change changed changes fix fixed \
    work works want like also still first last next back way thing things see look looks check checks done keep kept take takes taken \
    put give gives go goes going come comes say says said tell show shows call called calls name named value values data number day days \
    hour hours minute minutes second seconds week weeks month year long short big small every always never good right wrong well much many \
    let please start started stop end read write find found try sure yes without instead around down up over under between since until \
    rather another different whole part half enough most least per each anyth someth noth everyth again pleas listen listens port expir live serv held limit cap bound anything something nothing everything already even only longer \
    accord constant say see cod lin fil tim describ defin configur own says accord today yesterday monday tuesday wednesday thursday friday saturday sunday morning version byte bytes kb mb gb tb ms sec min percent px charact character row rows entri entry entries request requests item items time person peopl people copi copies redact redacted";
