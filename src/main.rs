//! The binary `sinker`: a hook is answered before anything else is built; the rest goes to the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    // The host starts this process many times a minute: `hook` must not pay for the parser of the other commands.
    if args.nth(1).is_some_and(|arg| arg == "hook") {
        return ExitCode::from(sinker::hook::run(args));
    }
    sinker::cli::main()
}
