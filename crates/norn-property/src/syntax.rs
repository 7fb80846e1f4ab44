//! The syntax tree of a property file.

use norn_model::{FunctionPattern, Glob};

use crate::Span;

/// The definition of a property: named events, and a pattern of them that must not occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyDefinition {
    /// Its name.
    pub name: Name,
    /// The objects by which its events are related. Each binding of all of them is an instance.
    pub parameters: Vec<Name>,
    /// The events that the pattern is made of.
    pub events: Vec<Event>,
    /// The pattern that violates the property.
    pub pattern: Pattern,
    /// The names of threads in the pattern.
    pub threads: Vec<String>,
    /// The names of atomic regions in the pattern.
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

/// The declaration of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name in the pattern.
    pub name: Name,
    /// The actions that it stands for: any one of these.
    pub actions: Vec<Action>,
    /// Conditions that must all hold.
    pub conditions: Vec<Condition>,
}

/// An action of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A call of a function.
    Call {
        /// The function.
        function: FunctionPattern,
        /// The arguments, from the first on; of a member function that is the receiver.
        arguments: Vec<Argument>,
    },
    /// A return from a function.
    Return {
        /// The function.
        function: FunctionPattern,
        /// The arguments of the call.
        arguments: Vec<Argument>,
        /// The returned value.
        result: Argument,
    },
    /// An action on an object in memory.
    Memory(MemoryAction, Object),
    /// The program executes `NORN_EVENT`.
    Mark {
        /// The name of the mark.
        name: Glob,
        /// The object of the mark.
        object: Argument,
    },
    /// The beginning or end of a region that the program has marked as atomic.
    Region(Edge),
}

/// An action on an object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryAction {
    /// A read.
    Read,
    /// A write.
    Write,
    /// The acquisition of a lock.
    Lock,
    /// The release of a lock.
    Unlock,
    /// An allocation.
    Alloc,
    /// A deallocation.
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
    /// `_`: any value.
    Any,
    /// The value that is bound to a parameter.
    Parameter(usize),
    /// This number.
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

/// A condition on an event.
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
    /// The value that a function returns.
    Result,
    /// The value that is bound to a parameter.
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

/// The pattern that violates a property.
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
    pub kind: ExpressionKind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
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
    /// A repetition.
    Repeat(Box<Expression>, Repetition),
}

/// How often something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
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
