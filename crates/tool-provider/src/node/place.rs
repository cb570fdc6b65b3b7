//! Where a subschema stands.

use std::hash::{Hash, Hasher};
use std::ptr;

use serde_json::Value;

/// A place in the schema that was given: a value of it, known by its address. What its pointer is
/// is looked up once somebody has to be told, which most never are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place<'a> {
    value: Option<&'a Value>,
    /// It is the names that the value requires; it need not list them itself.
    of_names: bool,
}

impl<'a> Place<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self {
            value: Some(value),
            of_names: false,
        }
    }

    /// Where the names stand that are required there.
    pub(crate) fn required(self) -> Self {
        Self {
            of_names: true,
            ..self
        }
    }

    /// Whether a keyword lists, as it was given, what stands at the other place.
    pub(crate) fn lists(self, keyword: &str, entry: Self) -> bool {
        let list = self.value.and_then(|value| value.get(keyword)?.as_array());
        list.into_iter()
            .flatten()
            .any(|listed| Place::of(listed) == entry)
    }

    /// The JSON pointer of it in the schema that was given.
    pub(crate) fn pointer(self, root: &Value) -> String {
        match self.value {
            Some(value) if !ptr::eq(value, root) => {
                pointers(root, &[self]).pop().unwrap_or_default()
            }
            _ if self.of_names => "/required".to_owned(),
            _ => String::new(),
        }
    }

    /// What stands there; nothing at a place of no schema.
    pub(super) fn value(self) -> Option<&'a Value> {
        self.value
    }

    /// What it is known by; nothing of another schema is compared with it.
    pub(super) fn address(self) -> usize {
        self.value.map_or(0, |value| ptr::from_ref(value).addr())
    }
}

impl Eq for Place<'_> {}

impl Hash for Place<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.address(), self.of_names).hash(state);
    }
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address() && self.of_names == other.of_names
    }
}

/// The JSON pointers of places, which are all found in one walk.
pub(crate) fn pointers(root: &Value, places: &[Place<'_>]) -> Vec<String> {
    let addresses = places.iter().map(|place| place.address());
    let mut wanted: Vec<(usize, usize)> = addresses.zip(0..).collect();
    wanted.sort_unstable();
    let mut search = Search {
        wanted,
        left: places.len(),
        found: vec![String::new(); places.len()],
        above: Vec::new(),
    };
    search.look(root);
    for (pointer, place) in search.found.iter_mut().zip(places) {
        if place.of_names {
            pointer.push_str("/required");
        }
    }
    search.found
}

struct Search<'a> {
    /// Addresses with the number of the place, sorted.
    wanted: Vec<(usize, usize)>,
    /// How many are not found yet.
    left: usize,
    found: Vec<String>,
    above: Vec<Token<'a>>,
}

enum Token<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Search<'a> {
    /// Looks at a value and below it, as deep as a schema may be.
    fn look(&mut self, value: &'a Value) {
        if self.left == 0 {
            return;
        }
        let address = ptr::from_ref(value).addr();
        let first = self.wanted.partition_point(|(it, _)| *it < address);
        let from = self.wanted.iter().skip(first);
        for (_, number) in from.take_while(|(it, _)| *it == address) {
            if let Some(pointer) = self.found.get_mut(*number) {
                *pointer = written(&self.above);
                self.left -= 1;
            }
        }
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    self.below(Token::Name(name), value);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.below(Token::Index(index), value);
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, token: Token<'a>, value: &'a Value) {
        self.above.push(token);
        self.look(value);
        self.above.pop();
    }
}

/// A pointer, as RFC 6901 has it.
fn written(tokens: &[Token<'_>]) -> String {
    let mut pointer = String::new();
    for token in tokens {
        pointer.push('/');
        match token {
            Token::Name(name) if name.contains(['~', '/']) => {
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            }
            Token::Name(name) => pointer.push_str(name),
            Token::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer
}
