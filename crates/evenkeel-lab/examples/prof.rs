fn main() {
    println!("{:?}", evenkeel_lab::bench::all_due(60, None));
}
