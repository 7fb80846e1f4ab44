//! Prints the JSON Schema of reports; `cargo xtask schema` puts it where it is published.
#![expect(clippy::print_stdout, reason = "it prints")]

fn main() {
    println!("{:#}", norn_report::schema());
}
