//! Splits a command line into options, their values and input files.
//!
//! The parser does not need to know what an option means; it must not mistake an option's value
//! for an input file: `-o x.c` and `-include x.c` compile nothing. This file is therefore mostly
//! the list of options of both compilers that take the next argument as their value. Listing an
//! option that only one of the compilers knows does no harm with the other.

/// One argument, together with its value if the value is a separate argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// A file, or `-` for the standard input.
    Input(&'a str),
    /// An option. Its value is empty if it has none or if the value is part of the name (`-O2`).
    Option {
        /// The option without its value.
        name: &'a str,
        /// The next argument, or the rest of this one for the options in [`GLUED`].
        value: &'a str,
    },
}

/// Options whose value matters here and may follow without a space.
const GLUED: [&str; 3] = ["-x", "-l", "-z"];

/// Options that take the next argument as their value if nothing follows their own name.
const SEPARATE: &str = "
    -A -B -D -F -G -I -J -L -T -U -b -e -h -l -o -u -x -z
    -MF -MJ -MQ -MT -Tbss -Tdata -Ttext
    -Xanalyzer -Xarch_device -Xarch_host -Xassembler -Xclang -Xcuda-fatbinary -Xcuda-ptxas
    -Xlinker -Xoffload-linker -Xopenmp-target -Xpreprocessor -Xthinlto-backend -Zlinker-input
    -allowable_client -arch -aux-info -auxbase -auxbase-strip -bundle_loader -ccc-install-dir
    -client_name -compatibility_version -current_version -dependency-dot -dependency-file
    -dumpbase -dumpbase-ext -dumpdir -dylib_file -exported_symbols_list -fileset -force_load
    -framework -ftrapv-handler -gcc-toolchain -idirafter -iframework -iframeworkwithsysroot
    -imacros -imultiarch -imultilib -include -include-pch -index-store-path -init -install_name
    -iplugindir -iprefix -iquote -isysroot -isystem -isystem-after -ivfsoverlay -iwithprefix
    -iwithprefixbefore -iwithsysroot -main-file-name -meabi -mllvm -mmlir -module-dependency-dir
    -mthread-model -multiply_defined -resource-dir -rpath -seg1addr -serialize-diagnostics -specs
    -target -umbrella -undefined -unexported_symbols_list -weak_framework -weak_library
    -working-directory -wrapper
    --analyzer-output --assert --config --define-macro --dumpbase --dumpdir --dyld-prefix
    --entry --for-linker --force-link --gcc-toolchain --imacros --include --include-barrier
    --include-directory --include-directory-after --include-prefix --include-with-prefix
    --include-with-prefix-after --include-with-prefix-before --language --library-directory
    --output --param --prefix --serialize-diagnostics --specs --sysroot --target
    --undefine-macro --working-directory
";

/// The arguments of a command line whose response files are already replaced by their content.
pub(crate) fn arguments(words: &[String]) -> impl Iterator<Item = Argument<'_>> {
    let mut words = words.iter().map(String::as_str);
    std::iter::from_fn(move || {
        let word = words.next()?;
        if word == "-" || !word.starts_with('-') {
            return Some(Argument::Input(word));
        }
        if takes_next_word(word) {
            return Some(Argument::Option { name: word, value: words.next().unwrap_or_default() });
        }
        Some(unglue(word))
    })
}

fn takes_next_word(option: &str) -> bool {
    SEPARATE.split_ascii_whitespace().any(|name| name == option)
}

fn unglue(word: &str) -> Argument<'_> {
    let glued = GLUED.iter().find_map(|name| Some((*name, word.strip_prefix(name)?)));
    let (name, value) = glued.unwrap_or((word, ""));
    Argument::Option { name, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let show = |argument| match argument {
            Argument::Input(file) => format!("<{file}>"),
            Argument::Option { name, value: "" } => name.to_owned(),
            Argument::Option { name, value } => format!("{name}={value}"),
        };
        arguments(&words).map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_are_no_files() {
        insta::assert_snapshot!(
            check("-I dir -Idir -o x.c -MF f.d -Xlinker y.o -include h.h -T s.ld --param k=v"),
            @"-I=dir -Idir -o=x.c -MF=f.d -Xlinker=y.o -include=h.h -T=s.ld --param=k=v"
        );
        insta::assert_snapshot!(
            check("-x c++ -xc a.txt -lm -l z -z defs -znow -arch arm64 -O2 - -Wl,x.o -D"),
            @"-x=c++ -x=c <a.txt> -l=m -l=z -z=defs -z=now -arch=arm64 -O2 <-> -Wl,x.o -D"
        );
    }
}
