//! A property as it is written, taken apart.

use norn_model::{FunctionPattern, Glob};

use crate::Span;

/// A property: events by name, and a pattern of them that must not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyDefinition {
    /// Its name.
    pub name: Name,
    /// What its events have in common. Each way to bind all of them is an instance.
    pub parameters: Vec<Name>,
    /// What it speaks of.
    pub events: Vec<Event>,
    /// What breaks it.
    pub pattern: Pattern,
    /// What the pattern calls threads.
    pub threads: Vec<String>,
    /// What the pattern calls atomic regions.
    pub regions: Vec<String>,
}

/// A name, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it is.
    pub span: Span,
}

/// An event that a property speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What the pattern calls it.
    pub name: Name,
    /// What it may be, one of these.
    pub deeds: Vec<Deed>,
    /// What must hold, too.
    pub conditions: Vec<Condition>,
}

/// Something that a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It calls a function.
    Call {
        /// Which.
        function: FunctionPattern,
        /// With what, from the first argument on; of a member function that is the receiver.
        arguments: Vec<Argument>,
    },
    /// It comes back from a function.
    Return {
        /// Which.
        function: FunctionPattern,
        /// With what it was called.
        arguments: Vec<Argument>,
        /// With what it comes back.
        result: Argument,
    },
    /// It does something to an object in memory.
    Touch(Touch, Object),
    /// It passes a place that the program has marked.
    Mark {
        /// With which word.
        word: Glob,
        /// With which object.
        object: Argument,
    },
    /// It begins or ends what the program has marked as atomic.
    Region(Edge),
}

/// What is done to an object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touch {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is a lock and is taken.
    Lock,
    /// It is a lock and is given back.
    Unlock,
    /// It is given out by the heap.
    Alloc,
    /// It is given back to the heap.
    Free,
}

/// Objects in memory: those with a name, or all, and the parameter that they are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Only variables with this name.
    pub name: Option<Glob>,
    /// The parameter that is its address.
    pub parameter: Option<usize>,
}

/// An argument, a result or a value of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// It does not matter.
    Any,
    /// It is what the parameter stands for.
    Parameter(usize),
    /// It is this.
    Number(Number),
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its size.
    pub magnitude: u128,
    /// Whether there is a minus before it.
    pub negative: bool,
}

/// What must hold of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The access is no atomic operation.
    Plain,
    /// The access is an atomic operation.
    Atomic,
    /// Two values compare like this.
    Compare(Operand, Comparison, Operand),
}

/// A value in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// What is read or written.
    Value,
    /// How many bytes are read or written.
    Size,
    /// What a function comes back with.
    Result,
    /// What a parameter stands for.
    Parameter(usize),
    /// This number.
    Number(Number),
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are the same.
    Equal,
    /// They are not.
    Unequal,
    /// The first is less.
    Less,
    /// The first is not greater.
    LessOrEqual,
    /// The first is greater.
    Greater,
    /// The first is not less.
    GreaterOrEqual,
}

/// What breaks a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its parts; if there are several, they happen at the same time.
    pub parts: Vec<Expression>,
    /// Where it is.
    pub span: Span,
}

/// A regular expression over events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An event.
    Event(Item),
    /// One after another.
    Sequence(Vec<Expression>),
    /// One of these.
    Choice(Vec<Expression>),
    /// All of these, each in its own order.
    All(Vec<Expression>),
    /// Not this.
    Not(Box<Expression>),
    /// This, so many times.
    Repeat(Box<Expression>, Times),
}

/// How often something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `?`: once or not at all.
    AtMostOnce,
    /// `*`: any number of times.
    Any,
    /// `+`: at least once.
    AtLeastOnce,
}

/// An event in a pattern. Events, threads and regions are counted as the property lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// Which event.
    pub event: usize,
    /// By which thread, if that matters. Different names are different threads.
    pub thread: Option<usize>,
    /// Which edge of which atomic region it is, if it is one.
    pub region: Option<(Edge, usize)>,
}

/// An edge of an atomic region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// It begins.
    Begin,
    /// It ends.
    End,
}
