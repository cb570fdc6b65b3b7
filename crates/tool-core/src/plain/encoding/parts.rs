//! Arrays and objects on their way into plain JSON.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct,
};
use serde_json::{Map, Value};

use super::{Encoding, Unsure};
use crate::plain::{Member, Plain};

pub(super) struct Items<'r> {
    pub(super) items: Vec<Plain<'static>>,
    pub(super) room: &'r mut usize,
    pub(super) levels: u8,
}

/// The ways to take the next item.
macro_rules! takes_items {
    ($($sort:ident $method:ident)*) => {
        $(impl $sort for Items<'_> {
            type Ok = Plain<'static>;
            type Error = Unsure;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsure> {
                let Self { room, levels, .. } = self;
                let item = value.serialize(Encoding {
                    room: &mut **room,
                    levels: Some(*levels),
                })?;
                self.items.push(item);
                Ok(())
            }

            fn end(self) -> Result<Plain<'static>, Unsure> {
                Ok(Plain::Array(self.items))
            }
        })*
    };
}

takes_items!(
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
);

pub(super) struct Members<'r> {
    pub(super) members: Vec<Member<'static>>,
    pub(super) key: Option<Cow<'static, str>>,
    pub(super) room: &'r mut usize,
    pub(super) levels: u8,
}

impl Members<'_> {
    pub(super) fn member<T: Serialize + ?Sized>(
        &mut self,
        key: Cow<'static, str>,
        value: &T,
    ) -> Result<(), Unsure> {
        let value = value.serialize(Encoding {
            room: &mut *self.room,
            levels: Some(self.levels),
        })?;
        self.members.push((key, value));
        Ok(())
    }

    #[inline]
    pub(super) fn settled(self) -> Result<Plain<'static>, Unsure> {
        settled(self.members)
    }
}

impl SerializeStruct for Members<'_> {
    type Ok = Plain<'static>;
    type Error = Unsure;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unsure> {
        self.member(Cow::Borrowed(key), value)
    }

    #[inline]
    fn end(self) -> Result<Plain<'static>, Unsure> {
        self.settled()
    }
}

impl SerializeMap for Members<'_> {
    type Ok = Plain<'static>;
    type Error = Unsure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unsure> {
        // Of the sorts of keys only texts are sure, and those that are written like them.
        let Self { room, .. } = self;
        let key = key.serialize(Encoding { room, levels: None })?;
        match key {
            Plain::Text(text) => {
                self.key = Some(text);
                Ok(())
            }
            _ => Err(Unsure),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsure> {
        let key = self.key.take().ok_or(Unsure)?;
        self.member(key, value)
    }

    fn end(self) -> Result<Plain<'static>, Unsure> {
        self.settled()
    }
}

/// The members of a variant, which stand below its name.
pub(super) struct Variant<'r> {
    pub(super) variant: &'static str,
    pub(super) members: Members<'r>,
}

impl SerializeStructVariant for Variant<'_> {
    type Ok = Plain<'static>;
    type Error = Unsure;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unsure> {
        self.members.member(Cow::Borrowed(key), value)
    }

    fn end(self) -> Result<Plain<'static>, Unsure> {
        let members = self.members.settled()?;
        Ok(Plain::Object(vec![(Cow::Borrowed(self.variant), members)]))
    }
}

/// Whether values of this build keep their members in the order in which they came; a crate
/// elsewhere in the program can ask for that. They are sorted by their keys otherwise.
static KEEPS_ORDER: LazyLock<bool> = LazyLock::new(|| {
    let members = ["b", "a"].map(|key| (key.to_owned(), Value::Null));
    let map: Map<String, Value> = members.into_iter().collect();
    map.keys().next().is_some_and(|key| key == "b")
});

/// Members as a value would hold them.
#[inline]
fn settled(members: Vec<Member<'static>>) -> Result<Plain<'static>, Unsure> {
    if members.is_sorted_by(|(one, _), (next, _)| one < next) {
        return Ok(Plain::Object(members));
    }
    sorted(members)
}

fn sorted(mut members: Vec<Member<'static>>) -> Result<Plain<'static>, Unsure> {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| &**key).collect();
    keys.sort_unstable();
    // Of a key that stands twice a value keeps one.
    if !keys.is_sorted_by(|one, next| one < next) {
        return Err(Unsure);
    }
    if !*KEEPS_ORDER {
        members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    }
    Ok(Plain::Object(members))
}
