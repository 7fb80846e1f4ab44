// A child refers to its parent weakly, and the parent may be gone when the child needs it.
// Consequence: panic

use std::{
    sync::{Arc, Weak},
    thread,
};

struct Parent {
    name: &'static str,
}

struct Child {
    parent: Weak<Parent>,
}

impl Child {
    fn parent_name(&self) -> &'static str {
        self.parent.upgrade().expect("the parent is gone").name
    }
}

fn main() {
    let parent = Arc::new(Parent { name: "root" });
    let child = Child { parent: Arc::downgrade(&parent) };
    let user = thread::spawn(move || assert_eq!(child.parent_name(), "root"));
    if cfg!(fixed) {
        user.join().unwrap();
        drop(parent);
    } else {
        drop(parent);
        user.join().unwrap();
    }
}
