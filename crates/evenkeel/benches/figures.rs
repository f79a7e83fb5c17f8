//! `cargo bench -p evenkeel`: the table of figures that the heart must reach. `evenkeel bench` prints the same.

use evenkeel_lab::bench;

fn main() {
    let options = bench::Options {
        data: bench::default_data(),
        clock_runs: 20,
        count: Some(|body| {
            let info = allocation_counter::measure(body);
            (info.count_total, info.bytes_current, info.bytes_max)
        }),
        progress: &|what| eprintln!("measuring: {what}"),
    };
    match bench::run(&options) {
        Ok(figures) => println!("{figures}"),
        Err(error) => {
            eprintln!("{error:#}");
            std::process::exit(2);
        }
    }
}
