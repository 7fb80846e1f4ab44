//! Prints the total.

fn main() {
    println!("{}", bank::native::total());
}
