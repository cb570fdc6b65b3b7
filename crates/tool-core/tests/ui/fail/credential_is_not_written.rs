use tool_core::Credential;

fn written(_: &impl serde::Serialize) {}

fn main() {
    written(&Credential::new("secret"));
}
