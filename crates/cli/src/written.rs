//! What the command writes of itself: completions for shells, and pages of the manual.

use std::fs;
use std::io;
use std::io::Write;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{Cli, EXIT_AS_ASKED, EXIT_OUTPUT_LOST, ManArgs};
use crate::output;

/// Prints the completions for `shell` and returns the exit code.
pub(crate) fn completions(shell: Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "wheel", &mut script);
    output::print_all(|out| out.write_all(&script))
}

/// Prints the page of the command itself, or writes all of them, and returns the exit code.
pub(crate) fn man(args: &ManArgs) -> u8 {
    // Built: what subcommands are called is known only then.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.to else {
        return output::print_all(|out| Man::new(command).render(out));
    };
    match write_pages(&command, folder) {
        Ok(()) => EXIT_AS_ASKED,
        Err(error) => {
            let folder = folder.display();
            let _ = writeln!(io::stderr(), "error: cannot write to {folder}: {error}");
            EXIT_OUTPUT_LOST
        }
    }
}

/// `wheel.1`, `wheel-run.1` and so on; those that exist are written anew.
fn write_pages(command: &clap::Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command.clone(), folder)
}
