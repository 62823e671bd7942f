//! The `wheel` command. Everything it does stands in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    wheel_cli::main()
}
