//! The hooks and library functions whose calls are events, by their names.

use norn_model::Class;

/// Whether a call of this function may be an event of the class.
pub(crate) fn may_be(target: Option<&str>, class: Class) -> bool {
    let Some(target) = target else { return true };
    let Some(hook) = target.strip_prefix("__tsan_") else { return function(target, class) };
    let modifiers = ["unaligned_", "volatile_", "vptr_"].iter();
    let hook = modifiers.fold(hook, |hook, prefix| hook.strip_prefix(prefix).unwrap_or(hook));
    let is = |prefix: &str| hook.starts_with(prefix);
    match class {
        _ if is("func_") || is("init") => false,
        Class::Any => true,
        Class::Read => is("read"),
        Class::Write => is("write") || is("update"),
        Class::Atomic => is("atomic"),
        _ => !(is("read") || is("write") || is("update") || is("atomic")),
    }
}

/// Names of the library functions that access memory of the program begin with one of these.
const MEMORY: [&str; 16] = [
    "mem", "str", "bcmp", "bzero", "bcopy", "read", "pread", "recv", "write", "send", "fread",
    "fwrite", "fgets", "snprintf", "sprintf", "vs",
];

/// Whether a call of a library function may be an event of the class.
fn function(name: &str, class: Class) -> bool {
    let name = name.trim_start_matches('_').trim_start_matches("wrap_");
    match class {
        Class::Atomic => false,
        Class::Read | Class::Write => MEMORY.iter().any(|it| name.starts_with(it)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_classified_by_their_names() {
        assert!(may_be(Some("__tsan_read4"), Class::Read));
        assert!(may_be(Some("__tsan_unaligned_write8"), Class::Write));
        assert!(may_be(Some("__tsan_vptr_update"), Class::Write));
        assert!(!may_be(Some("__tsan_read4"), Class::Write));
        assert!(!may_be(Some("__tsan_func_entry"), Class::Any));
        assert!(may_be(Some("__tsan_atomic32_load"), Class::Atomic));
        assert!(may_be(Some("pthread_mutex_lock"), Class::Lock));
        assert!(!may_be(Some("pthread_mutex_lock"), Class::Read));
        assert!(may_be(Some("__wrap_memcpy"), Class::Write));
        assert!(may_be(Some("recvfrom"), Class::Write));
        assert!(may_be(Some("__snprintf_chk"), Class::Write));
        assert!(may_be(None, Class::Lock));
    }
}
