//! The code of a module for analyses that decode it themselves: its functions, its bytes, and the names
//! behind addresses.

use std::{fmt, ops::Range};

use iced_x86::Instruction;
use object::read::elf::ProgramHeader as _;
use object::{LittleEndian, elf};

use crate::{call::Targets, elf::Image, symbol::Symbols};

/// A function of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeFunction<'a> {
    /// Its module-relative address.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its linkage name.
    pub name: &'a str,
}

/// The code of a module. It can be used by several threads at once.
pub struct CodeView<'a> {
    targets: Targets<'a, 'a>,
    loaded: Vec<(u64, &'a [u8])>,
    runtime: Range<u64>,
}

impl<'a> CodeView<'a> {
    pub(crate) fn new(
        image: &Image<'a>,
        symbols: &'a Symbols<'a>,
        runtime: Range<u64>,
    ) -> CodeView<'a> {
        let headers = image.file.elf_program_headers().iter();
        let loaded = headers.filter(|it| it.p_type(LittleEndian) == elf::PT_LOAD);
        let data = image.file.data();
        let bytes = loaded
            .filter_map(|it| Some((it.p_vaddr(LittleEndian), it.data(LittleEndian, data).ok()?)));
        CodeView { targets: Targets::new(image, symbols), loaded: bytes.collect(), runtime }
    }

    /// All functions, by ascending address. Compilers split functions: the part `f.cold` is listed as
    /// well.
    pub fn functions(&self) -> impl Iterator<Item = CodeFunction<'a>> {
        self.targets.symbols.code.sized().iter().map(|it| CodeFunction {
            address: it.address,
            size: it.size,
            name: it.name,
        })
    }

    /// Whether code lies among that of Norn's runtime. Linkers move the rarely executed parts of the
    /// program there as well, and its start-up code.
    pub fn is_runtime(&self, address: u64) -> bool {
        self.runtime.contains(&address)
    }

    /// The name of the function that an instruction calls or jumps to.
    pub fn callee(&self, instruction: &Instruction) -> Option<&'a str> {
        self.targets.of(instruction)
    }

    /// The function or variable of another module whose address a slot holds at run time.
    pub fn import(&self, slot: u64) -> Option<&'a str> {
        self.targets.slot(slot)
    }

    /// The variable that starts at an address.
    pub fn variable(&self, address: u64) -> Option<&'a str> {
        self.targets.symbols.data.at(address).map(|it| it.name)
    }

    /// The bytes of a loaded segment from an address on.
    pub fn bytes(&self, address: u64) -> Option<&'a [u8]> {
        self.loaded.iter().find_map(|(start, bytes)| {
            let bytes = bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?..)?;
            (!bytes.is_empty()).then_some(bytes)
        })
    }
}

impl fmt::Debug for CodeView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeView").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}
