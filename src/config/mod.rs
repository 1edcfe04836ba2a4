//! Where things are and how they are set: the data directory, the layers of settings, the local secret, the identity of projects.

mod home;
mod project;
mod retain;
mod secret;
mod settings;
pub mod version;

pub use home::{Home, host_folder, host_root, host_state, user_config};
pub use project::{Project, ProjectMap, identify};
pub use retain::RetainRule;
pub use secret::{Secret, SecretError};
pub use settings::{Origin, Problem, Settings, Tools, Value};
