//! The explanation of property violations in reports.

use norn_model::Explanation;

/// The explanation of the class of bugs that this crate finds.
pub static EXPLANATION: Explanation = Explanation {
    name: "property",
    summary: "property violation: an order of events that breaks a property of the user",
    meaning: "A property describes events, such as calls of functions and accesses to fields, and a pattern \
              of them that must not happen. `norn check` searches for orders of the recorded events that \
              match the pattern, forces them on the program, and reports those that the program really did.",
    example: "UseAfterClose(file) {\n  event close: call file_close(file)\n  event use: call file_read(file)\n  \
              pattern: close use\n}",
    advice: "The report shows the events in the order that breaks the property. Enforce the order with a lock, \
             a condition or a join; or correct the property if the order is allowed.",
};
