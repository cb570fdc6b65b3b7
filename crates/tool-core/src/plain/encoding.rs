//! Encoding a type into plain JSON: what `serde_json::to_value` gives, without a table for each
//! object.
//!
//! Only what is written in the ordinary way is taken. Everything else counts as unsure, wrong or
//! not, and is for `to_value` to encode or to refuse.

mod parts;

use std::borrow::Cow;
use std::fmt;

use serde::ser::{self, Impossible, Serialize, Serializer};
use serde_json::{Number, Value};

use self::parts::{Items, Members, Variant};
use super::Plain;

/// The most levels of nesting.
const MOST_LEVELS: u8 = 64;
/// The most room that is set aside for what a type says to come.
const MOST_ROOM: usize = 64;
/// The most that is taken, in bytes of text and one for each part. Of what is larger a value is
/// made at once, so that nobody holds it twice.
const MOST: usize = 64 * 1024;

pub(super) fn encode(output: &(impl Serialize + ?Sized)) -> Option<Plain<'static>> {
    let mut room = MOST;
    output
        .serialize(Encoding {
            room: &mut room,
            levels: Some(MOST_LEVELS),
        })
        .ok()
}

/// Nothing is known of the output.
#[derive(Debug)]
struct Unsure;

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value has to be asked")
    }
}

impl std::error::Error for Unsure {}

impl ser::Error for Unsure {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

struct Encoding<'r> {
    room: &'r mut usize,
    /// How many levels there may be. None for a key, which is no value.
    levels: Option<u8>,
}

impl<'r> Encoding<'r> {
    /// Takes so much of the room.
    #[inline]
    fn take(&mut self, size: usize) -> Result<(), Unsure> {
        *self.room = self.room.checked_sub(size).ok_or(Unsure)?;
        Ok(())
    }

    #[inline]
    fn text(mut self, text: &str) -> Result<Plain<'static>, Unsure> {
        self.take(text.len() + 1)?;
        Ok(Plain::Text(Cow::Owned(text.to_owned())))
    }

    #[inline]
    fn number(mut self, number: Number) -> Result<Plain<'static>, Unsure> {
        self.take(1)?;
        Ok(Plain::Number(number))
    }

    /// A number that a value may hold as something else.
    fn fraction(self, value: Value) -> Result<Plain<'static>, Unsure> {
        match value {
            Value::Number(number) => self.number(number),
            Value::Null => Ok(Plain::Null),
            _ => Err(Unsure),
        }
    }

    #[inline]
    fn inner(mut self) -> Result<(&'r mut usize, u8), Unsure> {
        self.take(1)?;
        let levels = self.levels.and_then(|levels| levels.checked_sub(1));
        Ok((self.room, levels.ok_or(Unsure)?))
    }

    #[inline]
    fn items(self, len: Option<usize>) -> Result<Items<'r>, Unsure> {
        let (room, levels) = self.inner()?;
        Ok(Items {
            items: Vec::with_capacity(len.unwrap_or_default().min(MOST_ROOM)),
            room,
            levels,
        })
    }

    #[inline]
    fn members(self, len: Option<usize>) -> Result<Members<'r>, Unsure> {
        let (room, levels) = self.inner()?;
        Ok(Members {
            members: Vec::with_capacity(len.unwrap_or_default().min(MOST_ROOM)),
            key: None,
            room,
            levels,
        })
    }
}

/// Methods for integers of up to 64 bits.
macro_rules! integers {
    ($($method:ident $sort:ty)*) => {
        $(#[inline]
        fn $method(self, value: $sort) -> Result<Plain<'static>, Unsure> {
            self.number(Number::from(value))
        })*
    };
}

impl<'r> Serializer for Encoding<'r> {
    type Ok = Plain<'static>;
    type Error = Unsure;
    type SerializeSeq = Items<'r>;
    type SerializeTuple = Items<'r>;
    type SerializeTupleStruct = Items<'r>;
    type SerializeTupleVariant = Impossible<Plain<'static>, Unsure>;
    type SerializeMap = Members<'r>;
    type SerializeStruct = Members<'r>;
    type SerializeStructVariant = Variant<'r>;

    integers!(
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64
    );

    fn serialize_bool(mut self, value: bool) -> Result<Plain<'static>, Unsure> {
        self.take(1)?;
        Ok(Plain::Bool(value))
    }

    fn serialize_i128(self, _: i128) -> Result<Plain<'static>, Unsure> {
        Err(Unsure)
    }

    fn serialize_u128(self, _: u128) -> Result<Plain<'static>, Unsure> {
        Err(Unsure)
    }

    fn serialize_f32(self, value: f32) -> Result<Plain<'static>, Unsure> {
        self.fraction(Value::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<Plain<'static>, Unsure> {
        self.fraction(Value::from(value))
    }

    fn serialize_char(self, value: char) -> Result<Plain<'static>, Unsure> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<Plain<'static>, Unsure> {
        self.text(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Plain<'static>, Unsure> {
        Err(Unsure)
    }

    fn serialize_unit(mut self) -> Result<Plain<'static>, Unsure> {
        self.take(1)?;
        Ok(Plain::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Plain<'static>, Unsure> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Plain<'static>, Unsure> {
        self.take(1)?;
        Ok(Plain::Text(Cow::Borrowed(variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Plain<'static>, Unsure> {
        // Names by which JSON libraries speak with types of their own begin so.
        if name.starts_with('$') {
            return Err(Unsure);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Plain<'static>, Unsure> {
        let mut members = self.members(Some(1))?;
        members.member(Cow::Borrowed(variant), value)?;
        members.settled()
    }

    fn serialize_none(self) -> Result<Plain<'static>, Unsure> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Plain<'static>, Unsure> {
        match self.levels {
            Some(_) => value.serialize(self),
            None => Err(Unsure),
        }
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items<'r>, Unsure> {
        self.items(len)
    }

    fn serialize_tuple(self, len: usize) -> Result<Items<'r>, Unsure> {
        self.items(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Items<'r>, Unsure> {
        self.items(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unsure> {
        Err(Unsure)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Members<'r>, Unsure> {
        self.members(len)
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Members<'r>, Unsure> {
        if name.starts_with('$') {
            return Err(Unsure);
        }
        self.members(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Variant<'r>, Unsure> {
        let (room, levels) = self.inner()?;
        let levels = Some(levels);
        let members = Encoding { room, levels }.members(Some(len))?;
        Ok(Variant { variant, members })
    }
}
