//! Short forms of the trade and what they stand for: who asks for the `db` means the database, and the other way round.

/// Groups of words, each in the form that the index holds (folded, stemmed). The words of a group find each other.
const GROUPS: &[&[&str]] = &[
    &["arg", "argument"],
    &["async", "asynchron"],
    &["auth", "authent"],
    &["btn", "button"],
    &["cfg", "conf", "config", "configur"],
    &["char", "charact"],
    &["cmd", "command"],
    &["ctx", "context"],
    &["db", "databas"],
    &["del", "delet"],
    &["dep", "depend"],
    &["dev", "develop"],
    &["dir", "directori", "folder"],
    &["doc", "document"],
    &["dup", "duplic"],
    &["env", "environ"],
    &["err", "error"],
    &["exec", "execut"],
    &["ext", "extens"],
    &["fn", "func", "function"],
    &["idx", "index"],
    &["impl", "implement"],
    &["img", "imag"],
    &["info", "inform"],
    &["init", "initi"],
    &["int", "integ"],
    &["js", "javascript"],
    &["k8s", "kubernet"],
    &["lib", "librari"],
    &["max", "maximum"],
    &["min", "minimum"],
    &["msg", "messag"],
    &["num", "number"],
    &["obj", "object"],
    &["op", "oper"],
    &["param", "paramet"],
    &["perf", "perform"],
    &["perm", "permiss"],
    &["pkg", "packag"],
    &["postgr", "postgresql"],
    &["prod", "product"],
    &["pw", "password"],
    &["py", "python"],
    &["rb", "rubi"],
    &["ref", "refer"],
    &["regex", "regexp"],
    &["repo", "repositori"],
    &["req", "request"],
    &["res", "resp", "respons"],
    &["ret", "return"],
    &["rm", "remov"],
    &["rs", "rust"],
    &["spec", "specif"],
    &["src", "sourc"],
    &["std", "standard"],
    &["str", "string"],
    &["sync", "synchron"],
    &["temp", "tmp", "temporari"],
    &["ts", "typescript"],
    &["util", "utiliti"],
    &["val", "valu"],
    &["var", "variabl"],
    &["ver", "version"],
];

/// The other words of the groups that hold a term.
pub(super) fn of(term: &str) -> impl Iterator<Item = &'static str> {
    let groups = GROUPS.iter().filter(move |group| group.contains(&term));
    groups.flat_map(|group| group.iter().copied()).filter(move |word| *word != term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tokens;

    #[test]
    fn the_words_of_a_group_find_each_other() {
        assert_eq!(of("db").collect::<Vec<_>>(), ["databas"]);
        assert_eq!(of("configur").collect::<Vec<_>>(), ["cfg", "conf", "config"]);
        assert_eq!(of("ship").count(), 0);
    }

    #[test]
    fn long_forms_stand_as_the_index_holds_them() {
        let long = [
            "argument",
            "asynchronous",
            "authentication",
            "button",
            "configuration",
            "character",
            "command",
            "context",
            "database",
            "delete",
            "dependency",
            "development",
            "directory",
            "folder",
            "document",
            "duplicate",
            "environment",
            "error",
            "execute",
            "extension",
            "function",
            "index",
            "implementation",
            "image",
            "information",
            "initialize",
            "integer",
            "javascript",
            "kubernetes",
            "library",
            "maximum",
            "minimum",
            "message",
            "number",
            "object",
            "operation",
            "parameter",
            "performance",
            "permission",
            "package",
            "production",
            "password",
            "python",
            "ruby",
            "reference",
            "repository",
            "request",
            "response",
            "return",
            "remove",
            "specification",
            "source",
            "standard",
            "string",
            "synchronous",
            "temporary",
            "typescript",
            "utility",
            "value",
            "variable",
            "version",
        ];
        for word in long {
            let term = tokens::terms(word).next().unwrap();
            assert!(of(&term).next().is_some(), "{word} is {term}");
        }
    }
}
