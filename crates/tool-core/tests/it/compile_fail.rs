//! What does not compile, with what the compiler says.

#[test]
fn promises_that_the_compiler_keeps() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
