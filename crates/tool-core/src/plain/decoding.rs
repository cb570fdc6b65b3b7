//! Decoding plain JSON without making a value of it.
//!
//! Only what is asked for in the ordinary way is answered, in the words of a value. Everything
//! else counts as unsure, whatever the type makes of the error, and the value is asked instead.

use std::cell::Cell;
use std::{slice, vec};

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess,
    SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Error;

use super::{Member, Plain};

pub(super) fn decode<T: DeserializeOwned>(plain: &Plain<'_>) -> Option<T> {
    let unsure = Cell::new(false);
    let decoded = T::deserialize(Decoding {
        plain,
        unsure: &unsure,
    });
    decoded.ok().filter(|_| !unsure.get())
}

#[derive(Clone, Copy)]
struct Decoding<'de, 't> {
    plain: &'de Plain<'t>,
    unsure: &'de Cell<bool>,
}

fn unsure<T>(flag: &Cell<bool>) -> Result<T, Error> {
    flag.set(true);
    Err(Error::custom("the value has to be asked"))
}

/// What was visited, if all of it was.
fn whole<T>(visited: T, left: usize, flag: &Cell<bool>) -> Result<T, Error> {
    if left == 0 { Ok(visited) } else { unsure(flag) }
}

impl<'de, 't> Decoding<'de, 't> {
    fn items<V: Visitor<'de>>(
        self,
        items: &'de [Plain<'t>],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut access = Items {
            items: items.iter(),
            unsure: self.unsure,
        };
        let visited = visitor.visit_seq(&mut access)?;
        whole(visited, access.items.len(), self.unsure)
    }

    fn members<V: Visitor<'de>>(
        self,
        members: &'de [Member<'t>],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // A value has its members in the order of their keys, and there are types that tell.
        let (mut members, mut sorted) = (members, Vec::new());
        if !members.is_sorted_by_key(|(key, _)| key) {
            sorted.extend(members);
            sorted.sort_by_key(|(key, _)| key);
            members = &[];
        }
        let mut access = Members {
            members: members.iter(),
            sorted: sorted.into_iter(),
            value: None,
            unsure: self.unsure,
        };
        let visited = visitor.visit_map(&mut access)?;
        whole(visited, access.left(), self.unsure)
    }
}

/// Methods that take values of one sort.
macro_rules! of_sort {
    ($($method:ident)* => $pattern:pat) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.plain {
                $pattern => self.deserialize_any(visitor),
                _ => unsure(self.unsure),
            }
        })*
    };
}

/// Methods whose answer is not known here.
macro_rules! not_here {
    ($($method:ident ($($argument:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self $(, _: $argument)*, _: V) -> Result<V::Value, Error> {
            unsure(self.unsure)
        })*
    };
}

impl<'de> Deserializer<'de> for Decoding<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.plain {
            Plain::Null => visitor.visit_unit(),
            Plain::Bool(value) => visitor.visit_bool(*value),
            Plain::Number(number) => number.deserialize_any(visitor),
            Plain::Text(text) => visitor.visit_borrowed_str(text),
            Plain::Array(items) => self.items(items, visitor),
            Plain::Object(members) => self.members(members, visitor),
        }
    }

    of_sort!(
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 => Plain::Number(_)
    );
    of_sort!(deserialize_bool => Plain::Bool(_));
    of_sort!(
        deserialize_char deserialize_str deserialize_string deserialize_identifier
        => Plain::Text(_)
    );
    of_sort!(deserialize_unit => Plain::Null);
    of_sort!(deserialize_seq => Plain::Array(_));
    of_sort!(deserialize_map => Plain::Object(_));
    not_here!(deserialize_bytes() deserialize_byte_buf());

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.plain {
            Plain::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // Names by which JSON libraries speak with types of their own begin so.
        if name.starts_with('$') {
            return unsure(self.unsure);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name.starts_with('$') {
            return unsure(self.unsure);
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.plain {
            Plain::Text(text) => visitor.visit_enum(text.as_ref().into_deserializer()),
            _ => unsure(self.unsure),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

struct Items<'de, 't> {
    items: slice::Iter<'de, Plain<'t>>,
    unsure: &'de Cell<bool>,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let unsure = self.unsure;
        let item = self.items.next();
        item.map(|plain| seed.deserialize(Decoding { plain, unsure }))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Members<'de, 't> {
    /// Those that stand in order; else there are none here.
    members: slice::Iter<'de, Member<'t>>,
    /// Those that had to be put in order.
    sorted: vec::IntoIter<&'de Member<'t>>,
    value: Option<&'de Plain<'t>>,
    unsure: &'de Cell<bool>,
}

impl Members<'_, '_> {
    fn left(&self) -> usize {
        self.members.len() + self.sorted.len()
    }
}

impl<'de> MapAccess<'de> for Members<'de, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((text, value)) = self.members.next().or_else(|| self.sorted.next()) else {
            return Ok(None);
        };
        self.value = Some(value);
        let unsure = self.unsure;
        seed.deserialize(Key { text, unsure }).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let unsure = self.unsure;
        match self.value.take() {
            Some(plain) => seed.deserialize(Decoding { plain, unsure }),
            None => self::unsure(unsure),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left())
    }
}

/// A key, which is text to whoever asks for text.
struct Key<'de> {
    text: &'de str,
    unsure: &'de Cell<bool>,
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.text)
    }

    forward_to_deserialize_any! { str string identifier ignored_any char }
    not_here!(
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()
        deserialize_i128() deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64()
        deserialize_u128() deserialize_f32() deserialize_f64() deserialize_bytes()
        deserialize_byte_buf() deserialize_option() deserialize_unit() deserialize_seq()
        deserialize_map() deserialize_unit_struct(&'static str) deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize)
        deserialize_struct(&'static str, &'static [&'static str])
    );

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name.starts_with('$') {
            return unsure(self.unsure);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        BorrowedStrDeserializer::new(self.text).deserialize_enum(name, variants, visitor)
    }
}
