//! What a run left, with the files of its modules: names for its numbers.

use std::{borrow::Cow, path::Path};

use norn_model::{ThreadId, ThreadName};
use norn_resolve::{Frame, Local, Locals, Mapped, Modules, OnStack};
use norn_trace::{Inputs, Trace};

use crate::ReplayError;

/// A trace, and who can name what is in it.
#[derive(Debug)]
pub struct Scene {
    /// The trace.
    pub trace: Trace,
    /// The files that were mapped.
    pub modules: Modules,
    locals: Locals,
    /// What came from outside, if that was kept.
    pub(crate) inputs: Option<Inputs>,
}

impl Scene {
    /// Opens a process of a run.
    pub fn open(folder: &Path, process: u32) -> Result<Scene, ReplayError> {
        let mut trace = Trace::open(folder, process)?;
        let mapped = trace.modules().iter().map(|it| Mapped {
            start: it.start,
            end: it.end,
            path: it.path.clone(),
        });
        let modules = Modules::open(mapped);
        trace.learn_copies(|write, read| modules.is_copy(write, read));
        let failed = |source| ReplayError::Inputs { path: folder.to_owned(), source };
        let inputs = Inputs::open(folder).map_err(failed)?;
        Ok(Scene { trace, modules, locals: Locals::default(), inputs })
    }

    /// A thread's name.
    pub fn thread(&self, id: ThreadId) -> ThreadName {
        self.trace.thread(id).map_or_else(|| ThreadName(id.to_string()), |it| it.name.clone())
    }

    /// What lies on a stack, as an access of `size` bytes sees it.
    pub fn local(&self, on: OnStack, addr: u64, size: u64) -> Local {
        self.locals.at((&self.trace, &self.modules), on, addr, size)
    }

    /// `function file.c:12`, as much of it as is known of a place in the code.
    pub fn site(&self, pc: u64) -> Option<String> {
        self.modules.frames(pc).first().and_then(words)
    }

    /// The same with the functions into which it was inlined, innermost first.
    pub fn sites(&self, pc: u64) -> Vec<String> {
        self.modules.frames(pc).iter().filter_map(words).collect()
    }
}

fn words(frame: &Frame) -> Option<String> {
    match (frame.function.as_deref().map(brief), source(frame)) {
        (Some(function), Some(source)) => Some(format!("{function} {source}")),
        (function, source) => source.or_else(|| function.map(Cow::into_owned)),
    }
}

/// Names of functions that are longer than this are told without the arguments of templates.
const LONG: usize = 60;

/// The name of a function, short enough to be read.
fn brief(name: &str) -> Cow<'_, str> {
    if name.len() <= LONG {
        return Cow::Borrowed(name);
    }
    let mut short = String::new();
    let mut depth = 0;
    for (at, it) in name.char_indices() {
        // `operator<`, `operator<<`, `operator->` and their like open and close nothing.
        let symbol = name[..at].trim_end_matches(['<', '>', '-', '=']).ends_with("operator");
        match it {
            '<' if !symbol => {
                depth += 1;
                if depth == 1 {
                    short.push_str("<…>");
                }
            }
            '>' if !symbol && depth > 0 => depth -= 1,
            _ if depth == 0 => short.push(it),
            _ => {}
        }
    }
    Cow::Owned(short)
}

/// `file.c:12`, with the file's name alone.
fn source(frame: &Frame) -> Option<String> {
    let file = frame.file.as_deref()?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(frame.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}")))
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn long_names_lose_the_arguments_of_templates() {
        assert_eq!(brief("std::vector<int>::push_back"), "std::vector<int>::push_back");
        let map = "std::map<std::string, std::vector<std::pair<int, int> > >::operator[]";
        assert_eq!(brief(map), "std::map<…>::operator[]");
        let call = "std::__invoke_impl<void, main()::<lambda()>, std::__invoke_other>";
        assert_eq!(brief(call), "std::__invoke_impl<…>");
        let shift = "std::operator<< <std::char_traits<char>, std::allocator<char>, more>";
        assert_eq!(brief(shift), "std::operator<< <…>");
        let arrow = "std::unique_ptr<Something, std::default_delete<Something> >::operator->";
        assert_eq!(brief(arrow), "std::unique_ptr<…>::operator->");
    }
}
