//! Names in events: of functions, and of the user's marks.

use std::collections::BTreeMap;

use crate::NameId;

/// The names of a trace, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<String>,
    ids: BTreeMap<String, NameId>,
}

impl Names {
    /// The id of a name, which is added if it is new.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = NameId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// The id of a name, if it has one.
    pub fn find(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// The name with this id; empty if there is none.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// All names, by their ids.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..).map(NameId).zip(self.names.iter().map(String::as_str))
    }
}
