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

/// A name and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its location.
    pub span: Span,
}

/// The declaration of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name in the pattern.
    pub name: Name,
    /// The actions that it matches: any one of these.
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
        /// The arguments, from the first on; for a member function the first is the receiver.
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

/// Objects in memory: those with a name, or all, and the parameter that their address binds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Only variables with this name.
    pub name: Option<Glob>,
    /// The parameter that its address binds.
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

/// A number in a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its absolute value.
    pub magnitude: u128,
    /// Whether it has a minus sign.
    pub negative: bool,
}

/// A condition on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The access is not an atomic operation.
    Plain,
    /// The access is an atomic operation.
    Atomic,
    /// A comparison of two values.
    Compare(Operand, Comparison, Operand),
}

/// A value in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value that is read or written.
    Value,
    /// The number of bytes that are read or written.
    Size,
    /// The value that a function returns.
    Result,
    /// The value that is bound to a parameter.
    Parameter(usize),
    /// This number.
    Number(Number),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

/// The pattern that violates a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its parts; several parts are operands of `||`.
    pub parts: Vec<Expression>,
    /// Its location.
    pub span: Span,
}

/// A regular expression over events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its location.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
    /// An event.
    Event(Item),
    /// A sequence.
    Sequence(Vec<Expression>),
    /// One of these: `|`.
    Choice(Vec<Expression>),
    /// All of these, interleaved in any way: `&&`.
    All(Vec<Expression>),
    /// A negation.
    Not(Box<Expression>),
    /// A repetition.
    Repeat(Box<Expression>, Repetition),
}

/// The number of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// `?`: once or not at all.
    AtMostOnce,
    /// `*`: any number of times.
    Any,
    /// `+`: at least once.
    AtLeastOnce,
}

/// An event in a pattern. Numbers are indices into the lists of the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// The event.
    pub event: usize,
    /// The thread, if the pattern names one. Different names are different threads.
    pub thread: Option<usize>,
    /// The edge of an atomic region that it is, if it is one.
    pub region: Option<(Edge, usize)>,
}

/// An edge of an atomic region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// The beginning.
    Begin,
    /// The end.
    End,
}
