//! Makes [`OpKind`](crate::OpKind) of the table of operations in `op.rs`.

macro_rules! op_kinds {
    ($($kind:ident: $name:literal, $keyword:literal, $operands:literal, $family:literal,
        $op:pat = $blank:expr;)*) => {
        /// The kind of an operation. Unlike [`Op`] it has no operands, and a kind of its own for
        /// each atomic operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "`Op` and `AtomicOp` describe them")]
        pub enum OpKind {
            $($kind,)*
        }

        impl OpKind {
            /// All kinds.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$kind),*];

            /// The name that dumps and counts use: `wait-acquire`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $name,)*
                }
            }

            /// The keyword of the text notation: `wake`. Two kinds may share one; then their
            /// operands tell them apart.
            pub const fn keyword(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $keyword,)*
                }
            }

            /// The operands in the text notation. Brackets mark what can be left out, bars a
            /// choice.
            pub const fn operands(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $operands,)*
                }
            }

            /// What operations of this sort are called together: `semaphores`.
            pub const fn family(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $family,)*
                }
            }

            /// An operation of this kind with operands that are still to be filled in.
            pub const fn blank(self) -> Op {
                match self {
                    $(OpKind::$kind => $blank,)*
                }
            }
        }

        impl Op {
            /// Its kind.
            pub const fn kind(&self) -> OpKind {
                match self {
                    $($op => OpKind::$kind,)*
                }
            }
        }
    };
}

pub(crate) use op_kinds;
