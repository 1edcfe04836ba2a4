//! Keys of models (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::token("anthropic-key", &["sk-ant-"], r"sk-ant-[\w-]{20,}").floor(3.2).leave(Leave::Opaque),
    Rule::token("openai-key", &["sk-"], r"sk-(?:(?:proj|svcacct|admin|None|or-v1)-)?[\w-]{20,}")
        .edges(Edges::Left)
        .floor(3.5)
        .leave(Leave::Opaque),
    // Its middle tells it wherever it stands.
    Rule::token("openai-key-old", &["T3BlbkFJ"], r"[\w-]{20}T3BlbkFJ[\w-]{20,}").back(20),
    Rule::token("huggingface-token", &["hf_", "api_org_"], r"(?:hf_|api_org_)[A-Za-z0-9]{30,40}")
        .edges(Edges::Right)
        .reach(64)
        .floor(3.3),
    Rule::token("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{37,40}"),
    Rule::token("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    Rule::token("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}"),
    Rule::token("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{60,}"),
    Rule::named("cohere-key", &["cohere"], named!("cohere|co_api_key", "[A-Za-z0-9]{40}")).floor(3.5),
    Rule::named("mistral-key", &["mistral"], named!("mistral", "[A-Za-z0-9]{32}")).floor(3.5),
    Rule::token("together-key", &["tgp_v1_"], r"tgp_v1_[\w-]{30,}"),
    Rule::token("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,}").edges(Edges::Closed).leave(Leave::Opaque),
    Rule::token("elevenlabs-key", &["sk_"], r"sk_[a-f0-9]{48}").edges(Edges::Closed),
    Rule::token("nvidia-key", &["nvapi-"], r"nvapi-[\w-]{60,}"),
    Rule::token("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[A-Za-z0-9]{32}_[A-Za-z0-9]{10}"),
    Rule::token("pinecone-key", &["pcsk_"], r"pcsk_[A-Za-z0-9_]{30,}"),
    Rule::named("wandb-key", &["wandb"], named!("wandb", r"[0-9a-f]{40}|wandb_v1_[\w-]{30,}")),
    Rule::token("voyage-key", &["pa-"], r"pa-[\w-]{40,46}")
        .edges(Edges::Closed)
        .floor(4.0)
        .leave(Leave::Opaque),
    Rule::token("tavily-key", &["tvly-"], r"tvly-(?:dev-|prod-)?[A-Za-z0-9_-]{28,}"),
    Rule::token("firecrawl-key", &["fc-"], r"fc-[0-9a-f]{32}").edges(Edges::Closed),
    Rule::token("cerebras-key", &["csk-"], r"csk-[a-z0-9]{40,}"),
    Rule::named(
        "deepgram-key",
        &["deepgram", "assemblyai"],
        named!("deepgram|assemblyai", "[0-9a-f]{32,40}"),
    ),
];
