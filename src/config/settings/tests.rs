use super::*;

fn with_project(text: &str) -> Settings {
    let dir = tempfile::tempdir().unwrap();
    fs::make_private_dir(&dir.path().join(".sinker")).unwrap();
    fs::replace(&dir.path().join(".sinker/settings.toml"), text.as_bytes(), fs::Sync::No).unwrap();
    Settings::read(Some(dir.path()))
}

#[test]
fn a_project_file_sets_only_what_it_may() {
    let settings = with_project("[recall]\nsessions = 5\ndeadline_ms = 1\n[transcripts]\nroots = [\"/\"]\n");
    assert_eq!(settings.recall_sessions(), 5);
    assert_eq!(settings.recall_deadline().as_millis(), 150);
    let keys: Vec<_> = settings.problems.iter().map(|p| p.key.as_str()).collect();
    assert_eq!(keys, ["recall.deadline_ms", "transcripts.roots"]);
}

#[test]
fn a_bad_value_leaves_the_lower_layer_in_force() {
    let cases = [
        ("[recall]\nsessions = 0\n", "recall.sessions"),
        ("[recall]\nsessions = \"three\"\n", "recall.sessions"),
        ("[recall]\nthreshold = 2.5\n", "recall.threshold"),
        ("[recall]\ntools = \"loud\"\n", "recall.tools"),
        ("[recall]\ntools = true\n", "recall.tools"),
        ("[recall\n", ""),
        ("colour = true\n", "colour"),
    ];
    for (text, key) in cases {
        let settings = with_project(text);
        assert_eq!(settings.problems.iter().map(|p| p.key.as_str()).collect::<Vec<_>>(), [key], "{text}");
        assert_eq!((settings.recall_sessions(), settings.tools()), (3, Tools::Quiet));
    }
    assert_eq!(with_project("[recall]\ntools = \"all\"\n").tools(), Tools::All);
    assert_eq!(with_project("[recall]\ntools = \"off\"\n").tools(), Tools::Off);
}
