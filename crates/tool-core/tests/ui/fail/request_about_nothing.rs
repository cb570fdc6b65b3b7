use tool_core::{Context, Permission, Resource};

fn main() {
    let (permission, cx) = (Permission::closed(), Context::detached());
    let nothing: [&str; 0] = [];
    let _ = permission.assert(&cx, "write", nothing);
    let perhaps_nothing: Vec<Resource> = Vec::new();
    let _ = permission.assert(&cx, "write", perhaps_nothing);
}
