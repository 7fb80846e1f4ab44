//! Source locations in their short form.

use std::borrow::Cow;

use norn_model::Location;

/// Names of functions that are longer than this lose their template arguments.
const LONG: usize = 60;

/// `function file.c:12`: as much as is known.
pub fn place(location: &Location) -> String {
    let function = location.function.as_deref().map(short_function);
    match (function, source(location)) {
        (Some(function), Some(source)) => format!("{function} {source}"),
        (Some(function), None) => function.into_owned(),
        (None, Some(source)) => source,
        (None, None) => code(location),
    }
}

/// `file.c:12`, with the name of the file alone.
pub fn source(location: &Location) -> Option<String> {
    let name = location.file_name()?;
    Some(location.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}")))
}

/// `/src/file.c:12`, with the whole path of the file.
pub fn path(location: &Location) -> Option<String> {
    let (file, line) = (location.file.as_deref()?, location.line?);
    Some(format!("{file}:{line}"))
}

/// `module+0x12`, or what is known of that.
fn code(location: &Location) -> String {
    let module = location.module.as_deref().map(|it| it.rsplit('/').next().unwrap_or(it));
    match (module, location.offset) {
        (Some(module), Some(offset)) => format!("{module}+{offset:#x}"),
        (Some(module), None) => module.to_owned(),
        (None, Some(offset)) => format!("{offset:#x}"),
        (None, None) => "an unknown place".to_owned(),
    }
}

/// The name of a function, short enough to be read.
pub fn short_function(name: &str) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_the_arguments_of_templates() {
        assert_eq!(short_function("std::vector<int>::push_back"), "std::vector<int>::push_back");
        let map = "std::map<std::string, std::vector<std::pair<int, int> > >::operator[]";
        assert_eq!(short_function(map), "std::map<…>::operator[]");
        let call = "std::__invoke_impl<void, main()::<lambda()>, std::__invoke_other>";
        assert_eq!(short_function(call), "std::__invoke_impl<…>");
        let shift = "std::operator<< <std::char_traits<char>, std::allocator<char>, more>";
        assert_eq!(short_function(shift), "std::operator<< <…>");
        let arrow = "std::unique_ptr<Something, std::default_delete<Something> >::operator->";
        assert_eq!(short_function(arrow), "std::unique_ptr<…>::operator->");
    }

    #[test]
    fn places_show_what_is_known() {
        let whole = Location {
            function: Some("add".to_owned()),
            file: Some("src/counter.c".to_owned()),
            line: Some(12),
            ..Location::default()
        };
        assert_eq!(place(&whole), "add counter.c:12");
        assert_eq!(place(&Location { function: None, ..whole.clone() }), "counter.c:12");
        assert_eq!(place(&Location { file: None, ..whole }), "add");
        let module = Some("/lib/libz.so".to_owned());
        let code = Location { module, offset: Some(0x12), ..Location::default() };
        assert_eq!(place(&code), "libz.so+0x12");
        assert_eq!(place(&Location::default()), "an unknown place");
    }
}
