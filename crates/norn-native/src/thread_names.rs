//! The names of threads in the form of the runtime: each entry refers to the entry of its parent.

use norn_abi::control::Name;

/// The names that a schedule needs; the first entry is the main thread.
#[derive(Debug)]
pub(crate) struct ThreadNames(pub(crate) Vec<Name>);

impl ThreadNames {
    pub(crate) fn new() -> ThreadNames {
        ThreadNames(vec![Name::default()])
    }

    /// The entry of a name. Adds one if there is none, after those of its parents. None if no thread
    /// that can be scheduled has such a name. The signal handlers that interrupt a thread are its
    /// child with the number 0.
    pub(crate) fn entry(&mut self, name: &str) -> Option<u32> {
        let thread = name.trim_end_matches('!');
        let handlers = name.len() - thread.len();
        let mut children = thread.split('.');
        if children.next() != Some("T0") {
            return None;
        }
        let children: Option<Vec<u32>> = children.map(child).collect();
        let children = children?.into_iter().chain(std::iter::repeat_n(0, handlers));
        Some(children.fold(0, |parent, child| self.child(Name { parent, child })))
    }

    fn child(&mut self, name: Name) -> u32 {
        // The main thread is not a child.
        let known = self.0.iter().skip(1).position(|it| *it == name);
        let at = known.map_or(self.0.len(), |it| it + 1);
        if known.is_none() {
            self.0.push(name);
        }
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

fn child(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&it| it > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_parents_precede_their_children() {
        let mut names = ThreadNames::new();
        assert_eq!(names.entry("T0"), Some(0));
        assert_eq!(names.entry("T0.2.1"), Some(2));
        assert_eq!(names.entry("T0.2"), Some(1));
        assert_eq!(names.entry("T0.1"), Some(3));
        let expected =
            [(0, 0), (0, 2), (1, 1), (0, 1)].map(|(parent, child)| Name { parent, child });
        assert_eq!(names.0, expected);
    }

    #[test]
    fn handlers_are_children_of_what_they_interrupt() {
        let mut names = ThreadNames::new();
        assert_eq!(names.entry("T0.3!!"), Some(3));
        assert_eq!(names.entry("T0!"), Some(4));
        assert_eq!(names.entry("T0.3!"), Some(2));
        let expected = [(0, 0), (0, 3), (1, 0), (2, 0), (0, 0)];
        assert_eq!(names.0, expected.map(|(parent, child)| Name { parent, child }));
    }

    #[test]
    fn threads_that_cannot_be_scheduled_have_no_entry() {
        for name in ["", "T1", "F1", "!", "T0!.1", "T0.0", "T0.x", "T0."] {
            assert_eq!(ThreadNames::new().entry(name), None, "{name}");
        }
    }
}
