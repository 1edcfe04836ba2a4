//! The words by which claims are known. tidy: table of patterns, in the order in which they are tried.
//!
//! All are matched against a sentence in lower case. `s` is what a claim is about, `v` what it says of it.

use super::statement::Kind;
use std::sync::LazyLock;

use regex::Regex;

/// Who may state a claim in these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// User and assistant.
    Any,
    /// Only a user: what a person wants.
    User,
}

/// A sentence that only thinks aloud, asks, offers or tells what is being done states nothing.
pub(super) const UNSURE: &str = r#"\b(?:maybe|might|perhaps|probably|possibly|likely|presumably|apparently|seems?|looks? (?:like|as)|suspect|guess|theory|hypothesis|could|should (?:be|do|we|i)|would|wouldn't|wonder|thinking about|not sure|unsure|let me|let's see|i'll|i will|i want to|i'd need|i can|shall (?:i|we|be)|do you|just for|for now|for the screenshot|afterwards|if you (?:want|like)|if (?:i|we|it|that) |one option|ways to|wording is|well-known|by default|in general|typically|did not cause|didn't cause|for example|quick look|first, then|keep forgetting)\b|\?["')]*$|^(?:if|were|looking|before (?:changing|i)|with an? |do|does|did|is|are|can|how|why|which|where|when|listening|reading|running|checking|trying|searching) |reads "|this sentence"#;

/// A measured or printed result is no value that holds.
pub(super) const MEASURED: &str = r"\b(?:took|tests? (?:pass|fail)|passed|finished|warnings?|lines? \d|compil\w+|rebuilt|half done|are left|left\b.*modules|skipped|failed|measured|first run|packages?\b.*audited|as of writing|went from|fell from|dropped from|on average|bisect\w*|reproduced?)\b|^\w+ed \d";

/// What a person says of no rule.
pub(super) const NO_RULE: &str =
    r#"\b(?:always|never) (?:the|a|an|been|had|seen|mind|got|was|is|happens)\b|\blol\b|\?["')]*$"#;

/// A word that tells of something which did not work.
const TROUBLE: &str = r"slow|fail|crash|deadlock|flak|error|undefined|leak|growth|reset|reject|50[0-9]|time-?out|stopped|hang|hung|panic|broke|wrong|bug|stale|oom|killed|too well|race|stuck|lag|spike|drop|loss|lost|gateway|duplicat|twice|empty|blank|missing|never shows|refused|corrupt|problem|issue|symptom|resets?|jump|noise";

/// What a value looks like: code, address, flag, path, number with its unit, a number word with one.
pub(super) const VALUE: &str = r"(?:`[^`]+`|https?://\S+|--[a-z]\S*|/[\w.<>-]+(?:/[\w.<>-]*)*|[\w-]+/[\w./<>-]*|#[a-z][\w-]+|[\w.-]+\.(?:toml|ya?ml|json|hcl|md|rs|py|ts|go)\b|[a-z]{2}-(?:west|east|central|north|south)(?:-\d)?|(?:at most |every |gcc |node |v)?\d+(?:[.:,]\d+)*(?: ?(?:%|[a-z]+))?|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|sixty|ninety)(?:-\w+)? (?:ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?|players?|spaces|replicas|processes|retries|times|copies|workers|tries|instances|people|entries))";

/// A pattern with who may say it.
type Row = (Kind, Who, &'static str);

/// The patterns; `{T}` stands for a word of trouble and `{V}` for a value.
const ROWS: &[Row] = &[
    (
        Kind::Rename,
        Who::Any,
        r"(?P<s>.+?) (?:was|were|is|are|got|has been|have been|had been) renamed (?:to|as|into) (?P<v>\S+)",
    ),
    (Kind::Rename, Who::Any, r"\brenamed (?P<s>[^,]+?)(?: last \w+)?, it'?s (?P<v>\S+)"),
    (
        Kind::Rename,
        Who::Any,
        r"\b(?:i|we|they|i've|we've|i have|we have) renamed (?P<s>.+?) (?:to|into) (?P<v>\S+)",
    ),
    (Kind::Rename, Who::Any, r"what used to be (?P<s>.+?) (?:in the \w+ )?goes by (?:the name )?(?P<v>\S+)"),
    (Kind::Rename, Who::Any, r#"(?P<s>.+?) (?:goes by|is known as) (?:the name )?(?P<v>\S+)"#),
    (
        Kind::Rename,
        Who::Any,
        r"(?P<s>.+?) (?:is|are) (?:now called (?P<v>\S+)|called (?P<w>\S+) (?:now|these days|from))",
    ),
    (
        Kind::Rename,
        Who::Any,
        r"(?P<s>.+?) (?:lives under|has|have|got) a (?:different|new|another) name(?: now)?[,:] (?P<v>\S+)",
    ),
    (Kind::Rename, Who::Any, r#"(?P<s>.+?) had a name clash and is (?P<v>\S+)"#),
    (Kind::Rename, Who::Any, r"(?P<s>.+?) (?:have|has) moved to (?P<v>`[^`]+`|\S+[/.]\S+)"),
    (Kind::Rename, Who::Any, r"^(?P<s>\S+) moved to (?P<v>\S+[/.]\S+)"),
    (
        Kind::Rename,
        Who::Any,
        r"\b(?:i|we|i've|we've) moved (?P<s>.+?(?:folder|directory|files?|docs|helpers?|module|package|repo)) to (?P<v>`[^`]+`|\S+[/.]\S*)",
    ),
    (
        Kind::Rename,
        Who::Any,
        r"(?P<s>(?:table|column|field|flag|command|package|class|service|branch|message) `\w+`) is (?P<v>`\w+`) (?:from|now|since)",
    ),
    (Kind::RootCause, Who::Any, r"(?:root cause|culprit)(?: of (?P<s>.+?))?(?: is| was|:|=) ?(?P<v>.+)"),
    (
        Kind::RootCause,
        Who::Any,
        r"(?P<s>[^:;]*\b(?:{T})\w*[^:;]*?),? (?:(?:is|are|was|were) )?(?:caused by|due to) (?P<v>.+)",
    ),
    (
        Kind::RootCause,
        Who::Any,
        r"(?P<s>[^:;]*\b(?:{T})\w*[^:;]*?),? (?:came|come|comes|stem|stems|stemmed) from (?P<v>.+)",
    ),
    (Kind::RootCause, Who::Any, r"(?P<s>[^:;]*\b(?:{T})\w*[^:;]*?),? because(?: of)? (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"(?P<s>[^:;]*\b(?:{T})\w*.*?) (?:was|is) an? \w+ problem[,:] (?P<v>.+)"),
    (
        Kind::RootCause,
        Who::Any,
        r"\b(?:explain|answer on|answer to|reason for|explanation for|explanation of|behind) (?P<s>[^:]*(?:{T})[^:]*?)(?: with [^:]+)?: (?P<v>.+)",
    ),
    (Kind::RootCause, Who::Any, r"(?P<s>.*(?:{T})\w*.*?) = (?P<v>.+)"),
    (Kind::RootCause, Who::Any, r"\bturn(?:s|ed) out (?:that )?(?P<v>.*(?:{T}).*)"),
    (
        Kind::Removal,
        Who::Any,
        r"\b(?:i|we|i've|we've)(?: have)? (?:removed|deleted|dropped support for|dropped the) (?P<s>.+?)(?: from\b|;|,|$)",
    ),
    (
        Kind::Removal,
        Who::Any,
        r"(?P<s>.+?) (?:is|are|was|were|has been|have been) (?:now |all )?(?:removed|deleted|retired|taken out|gone|dropped|cut from|decommissioned|shut down)\b",
    ),
    (Kind::Removal, Who::Any, r"(?P<s>.+?) (?:doesn't|does not|don't|do not) exist (?:any ?more|any longer)"),
    (Kind::Removal, Who::Any, r"there(?: is|'s| are) no (?P<s>.+?) (?:any ?more|any longer)"),
    (Kind::Removal, Who::Any, r"(?P<s>.+?) (?:is|are) no longer (?:part|used|there|needed|supported|in)\b"),
    (Kind::Removal, Who::Any, r"\b(?:got|gotten) rid of (?P<s>.+?)(?: for good| last\b|,|$)"),
    (Kind::Removal, Who::User, r"^(?P<s>\S+(?: \S+)?) is (?:out|gone|dead|history)\b"),
    (
        Kind::Decision,
        Who::Any,
        r"\b(?:from (?:now|here|today)(?: on)?,? we|we (?:do|use|split|store|keep|write|run) .* instead|that's the rule|that is the rule)\b",
    ),
    (
        Kind::Preference,
        Who::User,
        r"^(?:please |and |also |again: ?|no, |but )*(?:never|always) (?P<s>\w+ .+)",
    ),
    (Kind::Preference, Who::User, r"\b(?:i'd|i would) (?:like|rather|prefer|want) you to (?P<s>.+)"),
    (
        Kind::Preference,
        Who::User,
        r"\b(?:don't|do not) (?P<s>.+\b(?:ever|any ?more|by hand|again|without)\b.*)",
    ),
    (
        Kind::Preference,
        Who::User,
        r"\b(?:please stop|stop (?:putting|adding|using|writing|asking|doing)|please (?:never|always|explain every|keep|no)) (?P<s>.+)",
    ),
    (Kind::Preference, Who::User, r"\bfrom (?:now|here) on,? (?P<s>.+)"),
    (
        Kind::Preference,
        Who::User,
        r"\bi (?:prefer|like|love|hate|can't stand|always want|want you to) (?P<s>.+)",
    ),
    (Kind::Preference, Who::User, r"\bno (?:more|new) (?P<s>.+?)(?:,| without| please|$)"),
    (
        Kind::Preference,
        Who::User,
        r"^(?:whenever|every time|before you|when you) .+, (?:show|ask|tell|run|do|use|write|keep|give|check) (?P<s>.+)",
    ),
    (
        Kind::Preference,
        Who::User,
        r"^we (?:write|keep|name|put|format|phrase) (?P<s>.*(?:commit|comment|mood|style|names|tests|messages).*)",
    ),
    (Kind::Preference, Who::User, r"^(?:please )?ask (?:me )?(?:before|first) (?P<s>.+)"),
    (Kind::Preference, Who::User, r"(?P<s>.*)\b(?:hands off|keep it that way)\b"),
    (
        Kind::Preference,
        Who::User,
        r"^(?P<v>tabs|spaces|(?:two|four|eight) spaces|single quotes|double quotes) (?P<s>(?:in|for) .+)",
    ),
    (
        Kind::Preference,
        Who::User,
        r"^(?P<s>.+) (?:files|code) (?:get|gets|have|has|use|uses) (?P<v>tabs|(?:two|four|eight) spaces)",
    ),
    (Kind::Preference, Who::User, r"^(?P<v>one (?:plain )?\w+ per \w+), (?P<s>.+)"),
    (
        Kind::Decision,
        Who::Any,
        r"\blet's (?:use|take|go with|go for|do|stick with|switch to|have|store|put|keep) (?P<v>.+?)(?: for (?P<s>.+))?$",
    ),
    (
        Kind::Decision,
        Who::Any,
        r"\bwe(?:'ve| have|'ll| will)? (?:settled on|decided on|decided to|decided for|picked|chose|went with|go with|take|use) (?P<v>.+?)(?: for (?P<s>.+))?$",
    ),
    (Kind::Decision, Who::User, r"^(?:yes|ok|okay|right|fine),? (?P<v>.+?) for (?P<s>.+)"),
    (Kind::Decision, Who::Any, r"(?P<v>.+?) it is(?: for (?P<s>.+))?$"),
    (Kind::Decision, Who::Any, r"^for (?P<s>.+?) we (?:do|use|take|go with|run|have) (?P<v>.+)"),
    (
        Kind::Decision,
        Who::Any,
        r"(?P<s>.+?) (?:is|are) to be (?:kept|stored|done|used|written|put|built) (?P<v>.+)",
    ),
    (
        Kind::Decision,
        Who::User,
        r"^(?:product|security|legal|finance|marketing|the team|management) (?:says?|said|insisted|decided|wants?)[: ](?P<s>.+)",
    ),
    (Kind::Decision, Who::Any, r"\bso that(?: is|'s) what we (?:build|do|use|go with)"),
    (
        Kind::Decision,
        Who::Any,
        r"(?P<v>.+?) (?:handles|does|takes over|serves|stores) (?P<s>.+?) from now on",
    ),
    (
        Kind::Decision,
        Who::Any,
        r"\b(?:since|as) (?:you (?:chose|decided|asked|wanted)|decided|agreed)(?P<s>.+)",
    ),
    (
        Kind::Decision,
        Who::Any,
        r"(?P<s>.+?) (?:has|have) been (?:moved|switched|ported|migrated|changed|converted) to (?P<v>.+?)(?: as you decided)?$",
    ),
    (Kind::Decision, Who::User, r"\bchanged my mind about (?P<s>.+?): (?P<v>.+)"),
    (
        Kind::Decision,
        Who::User,
        r"\bwe(?:'re| are) (?:going|switching|moving|back) (?:to|with|on|for) (?P<v>.+)",
    ),
    (
        Kind::Decision,
        Who::Any,
        r"\b(?:so )?i(?:'ve| have)? (?:went with|replaced|ported|switched|migrated|moved) (?P<s>.+?) (?:with|to|over to|from) (?P<v>.+)",
    ),
    (Kind::Decision, Who::Any, r"\bi(?:'ve| have)? went with (?P<v>.+)"),
    (
        Kind::Value,
        Who::Any,
        r"\b(?:i|we|i've|we've)(?: have)? (?:set|raised|lowered|put|changed|bumped|increased|reduced|moved) (?P<s>.+?) (?:to|from|on|at) (?P<v>{V}.*)",
    ),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]+?) (?:has|have|with) an? (?:[\w-]+ ){1,3}of (?P<v>{V}.*)"),
    (
        Kind::Value,
        Who::Any,
        r"(?P<s>[^:;]*?)\b(?:(?:it's|is|are|was|were) (?:now |also |only |all )?(?:set to|bound to|pinned (?:at|to)|limited to|capped at|kept (?:for|in|until|on)|on|at|in|scheduled (?:as|at|for)|stored (?:in|as|under)|encoded as|deployed to|reached (?:on|at)|picked up from|read from|served from|done by|resolved by|scaled down to|switched to|started with)|is what) (?P<v>.+)",
    ),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]*?)\b(?:is|are)(?: now| only| at most| exactly)? (?P<v>{V}.*)"),
    (
        Kind::Value,
        Who::Any,
        r"(?P<s>[^:;]*?)\b(?:runs?|listens?|lives?|lands?|stays?|sits?|opens?|serves?|waits?|expires?|goes|go|time out|times out|sleeps?|deploys?|dash|retries)\b(?: [a-z]+){0,4}? (?:on|at|in|to|after|for|with|until|under|every|per) (?P<v>.*{V}.*)",
    ),
    (
        Kind::Value,
        Who::Any,
        r"(?P<s>[^:;]+?)\b(?:holds?|uses?|gives?|produces?|accepts?|writes?|runs?|have the form|has the form|type|now wait|are called with) (?P<v>.*{V}.*)",
    ),
    (Kind::Value, Who::User, r"^(?:btw |fyi |note: )?we(?:'re| are) on (?P<v>.*\d.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]*?)\b(?:we(?:'re| are))(?: now)? (?:back )?(?:on|at) (?P<v>.*\d.*)"),
    (Kind::Value, Who::Any, r"(?P<s>.+?) is called (?P<v>\S+)$"),
    (Kind::Value, Who::User, r"(?P<s>.+?) (?:has|have) to be (?:on|at|in) (?P<v>.+)"),
    (Kind::Value, Who::Any, r"^it is (?P<v>.+?) that (?P<s>\w+s .+)"),
    (Kind::Value, Who::User, r"(?P<v>{V}) at most (?P<s>in .+)"),
    (Kind::Value, Who::User, r"(?P<v>{V}.*?) (?:is|are) enough\b(?P<s>.*)"),
    (Kind::Value, Who::User, r"\bwe (?:hold|keep) (?P<s>\w+) (?:for )?(?P<v>{V}.*)"),
    (Kind::Value, Who::User, r"^we (?P<s>(?:release|deploy|ship|meet|publish|freeze) .*?)(?P<v>every .+)"),
    (
        Kind::Value,
        Who::Any,
        r"(?P<v>`[^`]+`) (?:deploys?|runs?|starts?|builds?|opens?|serves?|lints?|releases?|publishes) (?P<s>.+)",
    ),
    (Kind::Decision, Who::Any, r"(?P<s>.+?) takes (?:its|their|over the) place(?:: (?P<v>.+))?"),
    (Kind::Decision, Who::Any, r"^(?P<v>\S+(?: \d\S*)?) for (?P<s>(?:all|the) \w+)[:,.]"),
    (
        Kind::Decision,
        Who::Any,
        r"(?P<s>[^:;]*?\b\w+) (?:is|are) (?:written|declared|applied|rendered|managed|published|squash-merged|rebased|merged) ?(?:in|with|as|by|from)? ?(?P<v>[^:;]*)",
    ),
    (Kind::Decision, Who::User, r"\bput (?P<s>.+?) back to (?P<v>.+)"),
    (Kind::Decision, Who::User, r"^so (?P<s>[\w -]+?) (?:is|are) (?P<v>.+)"),
    (Kind::Value, Who::Any, r"\b(?:i|we)(?: have)? set (?P<s>.+?) to \w+ (?P<v>{V}.*)"),
    (Kind::Value, Who::Any, r"(?P<s>[^:;]*?\b\w+) (?:is|are) now (?P<v>.+)"),
    (
        Kind::Value,
        Who::Any,
        r"(?P<s>[^:;]*?\b\w+) now (?:sits?|lives?|runs?|produces?|leaves?|uses?|goes|waits?|stays?|comes?|writes?|reads?|stores?|returns?) (?P<v>.+)",
    ),
    (
        Kind::Decision,
        Who::Any,
        r"(?P<s>[^:;]*?)\b(?:uses|goes through|sits in|sit in|runs on|wins?\b|lives in|live in) (?P<v>\S.*)",
    ),
    (Kind::Refuted, Who::Any, r"\b(?:it|that|this) (?:wasn't|isn't|was not|is not) (?P<s>.+?) after all"),
    (
        Kind::Refuted,
        Who::Any,
        r"\b(?P<s>.+?) (?:wasn't|isn't|was not|is not) (?:the (?:cause|culprit|reason|problem)|to blame|it) ?(?:after all|either)?$",
    ),
    (Kind::Refuted, Who::Any, r"\b(?:i was|we were) wrong about (?P<s>.+)"),
    (Kind::Refuted, Who::Any, r"\bi can rule out (?P<s>[^:;,]+)"),
];

/// The patterns, made once.
pub(super) static PATTERNS: LazyLock<Vec<(Kind, Who, Regex)>> = LazyLock::new(|| {
    let made = |(kind, who, text): &Row| {
        let text = text.replace("{T}", TROUBLE).replace("{V}", VALUE);
        Regex::new(&text).ok().map(|regex| (*kind, *who, regex))
    };
    ROWS.iter().filter_map(made).collect()
});

/// A sentence that says of itself that something has changed.
pub(super) static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:instead|no longer|any ?more|any longer|now|these days|switched|moved|replaced|replaces|ported|migrated|converted|back (?:on|to|at)|as of|from (?:today|now|here)|goes to|going to|raised|lowered|bumped|raised|reverted|renamed|removed|deleted|changed|takes its place|forget|used to|put .{2,20} back|each .{2,20} now|not those|wins|let's do|so ids|since (?:this|last)|no, |that is wrong|that's wrong|wrong)\b|^so\b",
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
    accord constant say see cod lin fil tim describ defin configur own says accord today yesterday monday tuesday wednesday thursday friday saturday sunday morning version";
