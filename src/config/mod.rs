//! Where things are and how they are set: the data directory, the layers of settings, the local secret, the identity of projects.

mod capture;
mod glob;
mod home;
mod project;
mod retain;
mod safe;
mod secret;
mod settings;
pub mod version;

pub use capture::{Capture, Passed, Withheld};
pub use home::{Home, host_folder, host_root, host_state, user_config};
pub use project::{Project, ProjectMap, identify};
pub use retain::RetainRule;
pub use safe::{Look, Unsafe};
pub use secret::{Secret, SecretError};
pub use settings::{Origin, Problem, RANKING_PARTS, Settings, Tools, Value};
