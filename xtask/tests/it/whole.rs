//! The tests that are run at their whole size.

use std::fs;
use std::path::Path;

use xtask::whole::SIZED;

#[test]
fn each_is_a_test_that_reads_its_variable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for sized in SIZED {
        let (module, test) = sized.test.split_once("::").unwrap();
        let file = format!("crates/{}/tests/it/{module}.rs", sized.package);
        let text = fs::read_to_string(root.join(&file)).unwrap();
        assert!(
            text.contains(&format!("fn {test}(")),
            "{file} has no test {test}"
        );
        let variable = format!("\"{}\"", sized.variable);
        assert!(text.contains(&variable), "{file} does not read {variable}");
    }
}
