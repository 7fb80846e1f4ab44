//! Why a thread does not continue, in words.

use crate::Switch;

/// The reason of a switch of threads: `blocks on m, which T0.2 holds`.
pub fn switch(reason: &Switch) -> String {
    match reason {
        Switch::Ends => "ends".to_owned(),
        Switch::Lock { object, holder } => format!("blocks on {object}, which {holder} holds"),
        Switch::Condition { object } => format!("waits on {object}"),
        Switch::Barrier { object } => format!("waits at {object}"),
        Switch::Join { thread } => format!("waits for the end of {thread}"),
        Switch::System { thread } => format!("could continue, but the system runs {thread}"),
        Switch::Forced { thread, action, object } => {
            let object = object.as_deref().map_or_else(String::new, |it| format!(" {it}"));
            format!("forced: {thread} must {}{object} first", action.noun())
        }
    }
}

#[cfg(test)]
mod tests {
    use norn_model::ThreadName;

    use super::*;
    use crate::Action;

    #[test]
    fn reasons_are_clauses_about_the_thread() {
        let thread = ThreadName("T0.2".to_owned());
        let lock = Switch::Lock { object: "m".to_owned(), holder: thread.clone() };
        assert_eq!(switch(&lock), "blocks on m, which T0.2 holds");
        let object = Some("x".to_owned());
        let forced = Switch::Forced { thread: thread.clone(), action: Action::Write, object };
        assert_eq!(switch(&forced), "forced: T0.2 must write x first");
        assert_eq!(switch(&Switch::Join { thread }), "waits for the end of T0.2");
    }
}
