//! What a request body looks like, as data: just enough to find each length in it.

/// A request body.
pub(super) struct Message {
    /// From this version on, lengths are compact and every struct ends in tagged fields (KIP-482).
    pub(super) flexible_since: i16,
    pub(super) body: Struct,
}

pub(super) struct Struct {
    pub(super) fields: &'static [Field],
    /// Tagged fields that the decoder knows; it skips the others by their size.
    pub(super) tags: &'static [(u32, Field)],
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    since: i16,
    until: i16,
}

pub(super) enum Kind {
    /// A number, a flag or a UUID of so many bytes.
    Fixed(usize),
    String,
    /// Bytes, or the records of a `Produce` request.
    Bytes,
    Array(&'static Kind),
    Struct(&'static Struct),
    /// A struct behind a byte that is 1 where it is there.
    Nullable(&'static Struct),
}

impl Field {
    pub(super) fn is_in(&self, version: i16) -> bool {
        self.since <= version && version <= self.until
    }

    /// The first version that has the field.
    pub(super) const fn since(self, since: i16) -> Self {
        Self { since, ..self }
    }

    /// The last version that has the field.
    pub(super) const fn until(self, until: i16) -> Self {
        Self { until, ..self }
    }
}

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, since: 0, until: i16::MAX }
}

pub(super) const fn boolean(name: &'static str) -> Field {
    field(name, Kind::Fixed(1))
}

pub(super) const fn int8(name: &'static str) -> Field {
    field(name, Kind::Fixed(1))
}

pub(super) const fn int16(name: &'static str) -> Field {
    field(name, Kind::Fixed(2))
}

pub(super) const fn int32(name: &'static str) -> Field {
    field(name, Kind::Fixed(4))
}

pub(super) const fn int64(name: &'static str) -> Field {
    field(name, Kind::Fixed(8))
}

pub(super) const fn uuid(name: &'static str) -> Field {
    field(name, Kind::Fixed(16))
}

pub(super) const fn string(name: &'static str) -> Field {
    field(name, Kind::String)
}

pub(super) const fn bytes(name: &'static str) -> Field {
    field(name, Kind::Bytes)
}

pub(super) const fn int32s(name: &'static str) -> Field {
    field(name, Kind::Array(&Kind::Fixed(4)))
}

pub(super) const fn strings(name: &'static str) -> Field {
    field(name, Kind::Array(&Kind::String))
}

pub(super) const fn nested(name: &'static str, of: &'static Struct) -> Field {
    field(name, Kind::Struct(of))
}

pub(super) const fn nullable(name: &'static str, of: &'static Struct) -> Field {
    field(name, Kind::Nullable(of))
}

/// An array of structs; the kind is named, for a reference to it must outlive the call.
pub(super) const fn array(name: &'static str, of: &'static Kind) -> Field {
    field(name, Kind::Array(of))
}
