#![deny(unused_must_use)]

use tool_core::{Context, Permission};

fn main() {
    let (permission, cx) = (Permission::closed(), Context::detached());
    permission.assert(&cx, "write", ["victim.txt"]);
}
