//! All functions of a module with their dependences, and the calls between them.

use iced_x86::{FlowControl, Instruction};
use norn_binary::{CodeFunction, CodeView};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    callee::Callees,
    cfg::{Cfg, Tables},
    dependence::{Context, Dependences, dependences, destination, leaves},
    function::{ColdParts, Function},
    hook::is_call,
    option::Options,
};

/// How often functions are searched for calls of functions that turned out not to return.
const MAX_ROUNDS: usize = 4;

/// The functions of a module that are instrumented, and those that they call.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Dependences>,
    /// By function: the calls of it, as a function and an instruction in it.
    pub(crate) callers: Vec<Vec<(u32, u32)>>,
    by_address: FxHashMap<u64, u32>,
}

impl Program {
    /// Analyses the code of a module.
    pub(crate) fn analyse(view: &CodeView<'_>, options: &Options) -> Program {
        let (cold, listed) = ColdParts::split(view.functions());
        let main = listed.iter().find(|it| it.name == "main").map(|it| it.address);
        let decode = |it: &CodeFunction<'_>| Function::decode(view, *it, &cold);
        let decoded: Vec<_> = listed.par_iter().map(decode).collect();
        let names = decoded.iter().flat_map(|it| callee_names(view, it));
        let callees = Callees::new(names, options);
        let by_name: FxHashMap<_, _> = listed.iter().map(|it| (it.name, it.address)).collect();
        let mut code = instrumented(view, &callees, &by_name, decoded);
        code.sort_unstable_by_key(|it| it.address);
        let module = Calls { view, callees: &callees, names: &by_name };
        let endless = endless(&module, &code);
        let returns = |call: &Instruction| module.returns(call, &endless);
        let context = Context { view, callees: &callees, names: &by_name, returns: &returns, main };
        let functions: Vec<_> = code.par_iter().map(|it| dependences(&context, it)).collect();
        let by_address = code.iter().zip(0..).map(|(it, at)| (it.address, at)).collect();
        let mut program =
            Program { callers: vec![Vec::new(); functions.len()], functions, by_address };
        program.find_callers();
        program
    }

    /// The function that begins at an address.
    pub(crate) fn at(&self, address: u64) -> Option<u32> {
        self.by_address.get(&address).copied()
    }

    fn find_callers(&mut self) {
        for (caller, function) in (0..).zip(&self.functions) {
            for (at, call) in &function.calls {
                if let Some(callee) = call.target.and_then(|it| self.at(it)) {
                    self.callers[callee as usize].push((caller, *at));
                }
            }
        }
        self.callers.iter_mut().for_each(|it| it.sort_unstable());
    }
}

fn transfers(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.code.iter().filter(|it| is_call(it) || leaves(function, it))
}

fn callee_names<'a>(
    view: &'a CodeView<'_>,
    function: &'a Function,
) -> impl Iterator<Item = &'a str> {
    transfers(function).filter_map(|it| view.callee(it))
}

/// The functions that call hooks, and all functions that these call.
fn instrumented(
    view: &CodeView<'_>,
    callees: &Callees,
    names: &FxHashMap<&str, u64>,
    all: Vec<Function>,
) -> Vec<Function> {
    let has_hook =
        |it: &Function| callee_names(view, it).any(|it| callees.get(Some(it)).hook.is_some());
    let mut rest: FxHashMap<u64, Function> = all.into_iter().map(|it| (it.address, it)).collect();
    let mut left: Vec<u64> = rest.values().filter(|it| has_hook(it)).map(|it| it.address).collect();
    left.sort_unstable();
    let mut chosen = Vec::new();
    while let Some(address) = left.pop() {
        if let Some(function) = rest.remove(&address) {
            let targets = transfers(&function).filter_map(|it| destination(view, names, it));
            left.extend(targets.filter(|it| !view.is_runtime(*it)));
            chosen.push(function);
        }
    }
    chosen
}

/// What calls lead to.
struct Calls<'a> {
    view: &'a CodeView<'a>,
    callees: &'a Callees,
    names: &'a FxHashMap<&'a str, u64>,
}

impl Calls<'_> {
    /// Whether a call returns, given the functions that do not.
    fn returns(&self, call: &Instruction, endless: &FxHashSet<u64>) -> bool {
        let target = destination(self.view, self.names, call);
        let local = target.is_some_and(|it| endless.contains(&it));
        !local && !self.callees.get(self.view.callee(call)).ends
    }
}

/// The addresses of functions that do not return.
fn endless(calls: &Calls<'_>, functions: &[Function]) -> FxHashSet<u64> {
    let mut endless = FxHashSet::default();
    for _ in 0..MAX_ROUNDS {
        let never = |it: &&Function| {
            let returns = |call: &Instruction| calls.returns(call, &endless);
            !endless.contains(&it.address) && !may_return(it, &returns)
        };
        let found: Vec<_> = functions.par_iter().filter(never).map(|it| it.address).collect();
        if found.is_empty() {
            break;
        }
        endless.extend(found);
    }
    endless
}

/// Whether control flow reaches a place where the function returns.
fn may_return(function: &Function, returns: &dyn Fn(&Instruction) -> bool) -> bool {
    let ends = |it: &Instruction| match it.flow_control() {
        FlowControl::Return | FlowControl::IndirectBranch => true,
        _ => leaves(function, it) && returns(it),
    };
    if !function.code.iter().any(ends) {
        return false;
    }
    let cfg = Cfg::build(function, &Tables::default(), returns);
    let ways_out = cfg.blocks.iter().zip(cfg.reachable()).filter(|it| it.1);
    ways_out.map(|(block, _)| function.instruction(block.last())).any(ends)
}
