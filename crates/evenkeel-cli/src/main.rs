//! The program `evenkeel`: its command lines are `evenkeel_cli`'s.

fn main() -> std::process::ExitCode {
    evenkeel_cli::run()
}
