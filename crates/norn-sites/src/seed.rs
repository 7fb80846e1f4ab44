//! The failure sites of one function: where slices begin.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind};
use norn_model::PotentialFailureKind as Kind;

use crate::{
    callee::Role,
    cfg::Blocks,
    dependence::{Analysed, Context, leaves},
    effect::{Form, is_immediate},
    hook::{Hook, is_call},
    linear::{Root, Values},
    location::{ARGUMENTS, Location, RESULT},
    loops::{Loop, loops},
    reaching::{Definition, Definitions},
};

/// A failure site.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    pub(crate) kind: Kind,
    pub(crate) instruction: u32,
    /// The values that matter there.
    pub(crate) data: Definitions,
    /// Whether it matters if the instruction is executed.
    pub(crate) control: bool,
    /// The blocks of the loop in which the reads must be.
    pub(crate) within: Option<Blocks>,
}

/// The names of the streams on which errors are reported.
const ERROR_STREAMS: [&str; 3] = ["stderr", "_ZSt4cerr", "_ZSt4clog"];
/// The descriptor on which errors are reported.
const ERROR_DESCRIPTOR: i64 = 2;
/// How many loads and calls a stream is followed through.
const MAX_DEPTH: u32 = 16;

/// All failure sites of a function.
pub(crate) fn seeds(
    context: &Context<'_>,
    analysed: &Analysed<'_>,
    values: &mut Values<'_, '_>,
) -> Vec<Seed> {
    let mut found = Vec::new();
    for at in 0..analysed.function.len() {
        let code = *analysed.function.instruction(at);
        if is_call(&code) || leaves(analysed.function, &code) {
            found.extend(call_seed(context, analysed, at, &code, values));
            let role = context.callees.get(context.view.callee(&code)).role;
            if role == Role::Free {
                found.push(place(Kind::Free, at));
            }
        } else {
            found.extend(access_seed(analysed, at, &code, values));
        }
        if is_trap(analysed, at, &code) {
            found.push(place(Kind::Assertion, at));
        }
    }
    if context.main == Some(analysed.function.address) {
        found.extend(error_statuses(analysed, values));
    }
    for blocks in loops(analysed.cfg) {
        found.extend(exits(analysed, &blocks));
    }
    found
}

fn place(kind: Kind, instruction: u32) -> Seed {
    Seed { kind, instruction, data: Definitions::new(), control: true, within: None }
}

fn call_seed(
    context: &Context<'_>,
    analysed: &Analysed<'_>,
    at: u32,
    code: &Instruction,
    values: &mut Values<'_, '_>,
) -> Option<Seed> {
    let callee = context.callees.get(context.view.callee(code));
    let pointers = |count: usize, values: &mut Values<'_, '_>| {
        let data = arguments(at, &ARGUMENTS[..count], values);
        Some(Seed { data, control: false, ..place(Kind::Access, at) })
    };
    let output = |values: &mut Values<'_, '_>| {
        Some(Seed { data: arguments(at, &ARGUMENTS, values), ..place(Kind::Output, at) })
    };
    match callee.role {
        // A function pointer is a pointer, too. Rust calls functions that it knows through a table.
        _ if code.flow_control() == FlowControl::IndirectCall
            && context.view.callee(code).is_none() =>
        {
            let data = arguments(at, &analysed.effects[at as usize].addresses, values);
            (!data.is_empty()).then(|| Seed { data, control: false, ..place(Kind::Access, at) })
        }
        _ if matches!(
            callee.hook,
            Some(Hook::AtomicRead | Hook::AtomicTest | Hook::AtomicWrite)
        ) =>
        {
            pointers(1, values)
        }
        Role::None => None,
        Role::Assertion => Some(place(Kind::Assertion, at)),
        Role::Error => Some(place(Kind::ErrorMessage, at)),
        Role::Output => output(values),
        Role::Stream(argument) => {
            let stream = ARGUMENTS.get(usize::from(argument)).copied()?;
            if is_error_stream(context, at, stream, values, 0) {
                return Some(place(Kind::ErrorMessage, at));
            }
            output(values)
        }
        Role::Descriptor => match values.before(at, ARGUMENTS[0]).as_constant() {
            Some(ERROR_DESCRIPTOR) => Some(place(Kind::ErrorMessage, at)),
            _ => output(values),
        },
        Role::Exit => {
            let status = values.before(at, ARGUMENTS[0]).as_constant()?;
            (status != 0).then(|| place(Kind::ErrorMessage, at))
        }
        Role::Free => pointers(1, values),
        Role::Memory(count) => pointers(usize::from(count), values),
    }
}

fn arguments(at: u32, registers: &[Location], values: &mut Values<'_, '_>) -> Definitions {
    let mut all: Definitions =
        registers.iter().flat_map(|it| values.reaching.before(at, *it)).collect();
    // What the caller left in a register is an argument of this function, not of the call.
    all.retain(|it| !matches!(it, Definition::Entry(_)));
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether a location holds a stream on which errors are reported: its address, a pointer to it, or the
/// result of printing to it.
fn is_error_stream(
    context: &Context<'_>,
    at: u32,
    location: Location,
    values: &mut Values<'_, '_>,
    depth: u32,
) -> bool {
    let value = values.before(at, location);
    let named = |address: i64| {
        let address = address.cast_unsigned();
        let name = context.view.variable(address).or_else(|| context.view.import(address));
        name.is_some_and(|it| ERROR_STREAMS.contains(&it))
    };
    if let Some(address) = value.as_constant() {
        return named(address);
    }
    let definitions = match &value.terms[..] {
        [(Root::Import(slot), 1)] if value.constant == 0 => return named(slot.cast_signed()),
        [(Root::Defined(definitions), 1)] => definitions,
        _ => return false,
    };
    let [Definition::Instruction(from)] = definitions[..] else { return false };
    let code = *values.function.instruction(from);
    if depth >= MAX_DEPTH {
        return false;
    }
    if is_call(&code) {
        let role = context.callees.get(context.view.callee(&code)).role;
        return role == Role::Stream(0)
            && is_error_stream(context, from, ARGUMENTS[0], values, depth + 1);
    }
    if code.op1_kind() != OpKind::Memory || code.mnemonic() != Mnemonic::Mov {
        return false;
    }
    match values.address(from).as_constant() {
        Some(address) => named(address),
        None => Location::of(code.memory_base())
            .is_some_and(|it| is_error_stream(context, from, it, values, depth + 1)),
    }
}

/// An access through a pointer, or a division.
fn access_seed(
    analysed: &Analysed<'_>,
    at: u32,
    code: &Instruction,
    values: &mut Values<'_, '_>,
) -> Option<Seed> {
    let effect = &analysed.effects[at as usize];
    let divides = matches!(code.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
    let mut data = Definitions::new();
    if effect.loads || effect.stores {
        let defined = effect.addresses.iter().flat_map(|it| values.reaching.before(at, *it));
        data.extend(defined);
    }
    if divides {
        // A divisor in memory is read by the division itself.
        data.push(Definition::Instruction(at));
        let divisor =
            Location::of(code.op0_register()).filter(|_| code.op0_kind() == OpKind::Register);
        if let Some(divisor) = divisor {
            data = values.reaching.before(at, divisor);
        }
    }
    (!data.is_empty()).then(|| Seed { data, control: false, ..place(Kind::Access, at) })
}

/// Whether an instruction ends the program because of an error. Compilers also put such instructions
/// behind calls that do not return, where no control flow arrives.
fn is_trap(analysed: &Analysed<'_>, at: u32, code: &Instruction) -> bool {
    code.flow_control() == FlowControl::Exception
        && !analysed.cfg.around(at).predecessors.is_empty()
}

/// The instructions that set the status with which `main` reports an error.
fn error_statuses(analysed: &Analysed<'_>, values: &mut Values<'_, '_>) -> Vec<Seed> {
    let code = &analysed.function.code;
    let returns = (0..).zip(code).filter(|(_, it)| it.flow_control() == FlowControl::Return);
    let mut found = Vec::new();
    for (at, _) in returns {
        let mut left = vec![(at, RESULT)];
        let mut seen = Vec::new();
        while let Some((at, location)) = left.pop() {
            for definition in values.reaching.before(at, location) {
                let Definition::Instruction(from) = definition else { continue };
                if analysed.effects[from as usize].form != Form::Copy || seen.contains(&from) {
                    continue;
                }
                seen.push(from);
                match status(analysed.function.instruction(from)) {
                    Some(0) => {}
                    Some(_) => found.push(place(Kind::ErrorMessage, from)),
                    None => {
                        left.extend(
                            analysed.effects[from as usize].values.iter().map(|it| (from, *it)),
                        );
                    }
                }
            }
        }
    }
    found
}

/// The constant that an instruction moves.
fn status(code: &Instruction) -> Option<u64> {
    let constant = code.mnemonic() == Mnemonic::Mov && is_immediate(code);
    constant.then(|| code.immediate(1))
}

/// The branches by which control leaves a loop.
fn exits(analysed: &Analysed<'_>, blocks: &Loop) -> Vec<Seed> {
    let inside = |it: &u32| blocks.binary_search(it).is_ok();
    let leaves = |it: &&u32| {
        let successors = &analysed.cfg.block(**it).successors;
        successors.len() > 1 && !successors.iter().all(inside)
    };
    let exit = |block: &u32| {
        let at = analysed.cfg.block(*block).last();
        let data = Definitions::from_iter([Definition::Instruction(at)]);
        let within = Some(blocks.iter().copied().collect());
        Seed { data, within, ..place(Kind::Loop, at) }
    };
    blocks.iter().filter(leaves).map(exit).collect()
}
