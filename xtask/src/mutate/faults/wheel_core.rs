//! Faults of `wheel-core`.

use super::{Fault, Notice};

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "a publication does not move the generation",
        file: "crates/wheel-core/src/state.rs",
        find: "Generation(owned.generation().0 + 1);",
        replace: "Generation(owned.generation().0.max(1));",
        notice: Notice::Model("stale_key", "cancelled_timer"),
    },
    Fault {
        name: "a bitmap's bit is cleared before the take",
        file: "crates/wheel-core/src/bitmap.rs",
        find: "        if self.words[at / 64] == 0 {\n            self.summary &= !(1 << (at / 64));\n        }",
        replace: "        self.summary &= !(1 << (at / 64));",
        notice: Notice::Unit("wheel-core", "the_first_bit_from_anywhere_is_found"),
    },
];
