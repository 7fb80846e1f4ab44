//! Functions that the user named and whose calls cannot be recorded, or not all, and why.

use std::collections::{BTreeMap, BTreeSet};

use norn_binary::{FunctionEntry, Module, Parameter, is_named, source_name};
use norn_model::{FunctionPattern, closest};
use norn_trace::{GoneParameter, WantedFunctions};

/// Arguments of a call that are recorded: those in registers.
const ARGUMENTS: usize = 6;

/// For each pattern, the calls and arguments in a module that cannot be recorded. `seen` are the
/// functions that can be instrumented, each with the patterns that select it.
pub(crate) fn unseen(
    module: &Module,
    patterns: &[FunctionPattern],
    seen: &[(Vec<usize>, FunctionEntry)],
    signatures: &BTreeMap<u64, Vec<Parameter>>,
) -> Vec<WantedFunctions> {
    let roomy: BTreeSet<u64> = seen.iter().map(|it| it.1.address).collect();
    let is_found = |number: usize| seen.iter().any(|it| it.0.contains(&number));
    let all = if (0..patterns.len()).all(is_found) { Vec::new() } else { module.functions() };
    let imports = if all.is_empty() { Vec::new() } else { module.imports() };
    let linkage = all.iter().map(|it| &it.linkage_name);
    let linkage = linkage.chain(imports.iter().map(|it| &it.linkage_name));
    let names: Vec<_> = linkage.map(|it| source_name(it)).collect();
    let about = |(number, pattern): (usize, &FunctionPattern)| {
        let rigid = |it: &&FunctionEntry| {
            is_named(pattern, &it.linkage_name) && !roomy.contains(&it.address)
        };
        let missing = !is_found(number);
        let mine = seen.iter().filter(|it| it.0.contains(&number));
        WantedFunctions {
            inlined: module.is_inlined(pattern),
            rigid: if missing { all.iter().filter(rigid).count() as u64 } else { 0 },
            closest: if missing { suggestion(pattern.as_str(), &names) } else { None },
            gone: mine.flat_map(|(_, it)| gone(it, signatures)).collect(),
            ..WantedFunctions::default()
        }
    };
    patterns.iter().enumerate().map(about).collect()
}

/// Adds the result for one more module.
pub(crate) fn add(wanted: &mut WantedFunctions, more: &WantedFunctions) {
    wanted.inlined |= more.inlined;
    wanted.rigid += more.rigid;
    wanted.closest = wanted.closest.take().or_else(|| more.closest.clone());
    wanted.gone.extend(more.gone.iter().cloned());
    wanted.gone.sort();
    wanted.gone.dedup();
}

/// The name that the user probably meant: the same name in a class or namespace, or a name with a
/// similar spelling.
fn suggestion(text: &str, names: &[String]) -> Option<String> {
    if text.contains(['*', '?']) {
        return None;
    }
    let inner = |it: &&String| it.ends_with(text) && it[..it.len() - text.len()].ends_with("::");
    let all = || names.iter().map(String::as_str).filter(|it| *it != text);
    names.iter().find(inner).cloned().or_else(|| closest(text, all()).map(str::to_owned))
}

/// The parameters of a function that are not passed in a register.
fn gone(entry: &FunctionEntry, signatures: &BTreeMap<u64, Vec<Parameter>>) -> Vec<GoneParameter> {
    let parameters = signatures.get(&entry.address).into_iter().flatten();
    let gone = parameters.take(ARGUMENTS).enumerate().filter(|(_, it)| it.register.is_none());
    let function = source_name(&entry.linkage_name);
    gone.map(|(position, it)| GoneParameter {
        function: function.clone(),
        position,
        name: it.name.clone(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let names = ["bank::Account::deposit", "list_add"].map(str::to_owned);
        assert_eq!(suggestion("deposit", &names).as_deref(), Some("bank::Account::deposit"));
        assert_eq!(suggestion("list_ad", &names).as_deref(), Some("list_add"));
        assert_eq!(suggestion("queue_pop", &names), None);
        assert_eq!(suggestion("list_*", &names), None);
    }
}
