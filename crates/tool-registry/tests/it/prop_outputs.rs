//! Random schemas and outputs: nothing of an output is put right, so that the registry says of each
//! exactly what the plain validator says, in every dialect.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{DefectKind, Outcome};

use crate::prop_schemas::{cases, instance, schema};
use crate::tools::{run, settle};

const DIALECTS: [Option<&str>; 4] = [
    None,
    Some("https://json-schema.org/draft/2019-09/schema"),
    Some("http://json-schema.org/draft-07/schema#"),
    Some("http://json-schema.org/draft-04/schema#"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn an_output_is_a_success_exactly_where_the_plain_validator_takes_it(
        value in schema(),
        node in schema(),
        dialect in prop::sample::select(DIALECTS.to_vec()),
        output in instance(),
    ) {
        // A reference that leads to itself and nowhere else is no schema.
        let node = node.to_string().replace(r##"{"$ref":"#/$defs/node"}"##, "{}");
        let node: Value = serde_json::from_str(&node).unwrap();
        let mut schema = json!({"allOf": [value], "$defs": {"node": node}});
        if let Some(dialect) = dialect {
            schema["$schema"] = json!(dialect);
        }
        // What a dialect takes for no schema, neither takes.
        let plain = jsonschema::options().offline().build(&schema);
        let output_of = output.clone();
        let tool = run(move |_| {
            let output = output_of.clone();
            async move { Ok(output) }
        });
        let tool = tool.output_schema(schema.clone());
        let Ok(plain) = plain else {
            let refused = crate::ports::open().build().register([("tool", tool)]).is_err();
            prop_assert!(refused, "{schema}");
            return Ok(());
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let settled = runtime.block_on(settle(tool, "{}"));
        if plain.is_valid(&output) {
            prop_assert_eq!(settled.output(), Some(&output), "{}", schema);
        } else {
            let Outcome::Defect(defect) = &settled.outcome else {
                panic!("{schema} took {output}")
            };
            prop_assert_eq!(defect.kind(), DefectKind::Output);
            prop_assert_eq!(settled.output(), None);
        }
    }
}
