//! Promises that the compiler keeps, each with the message that a user sees.

#[test]
fn promises_that_the_compiler_keeps() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
}
