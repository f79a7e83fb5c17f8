//! The recorded games that are shown: the shipped ones, or any that are named, each in its own units.

use crate::tracks::Ground;
use anyhow::{Context, Result, ensure};
use evenkeel::Vec3;
use evenkeel::wire::Format;
use std::path::{Path, PathBuf};

/// The shipped games: every frame of every tank.
const SHIPPED: [&str; 2] = ["bzflag-dense-a", "bzflag-dense-b"];
/// The threshold at which our knob begins there, in metres.
const SHIPPED_THRESHOLD: f64 = 0.05;

/// The least threshold that is taken. A format's steps follow from thresholds, and have limits.
const LEAST_THRESHOLD: f64 = 1e-5;
/// The largest.
const MOST_THRESHOLD: f64 = 5e3;
/// Steps of a position per threshold, and of a velocity per threshold and second: at 0.1 m the precision of BZFlag.
const POSITION_STEPS: f64 = 5.0;
const VELOCITY_STEPS: f64 = 10.0;

/// Which recordings tuned what, by name.
const TUNED: [(&str, &str); 7] = [
    ("bzflag-dense-a", "our knob, and the policy `even`"),
    ("bzflag-dense-b", "our knob, and the policy `even`"),
    ("stk-a", "the policy `even`"),
    ("melee-a", "the policy `even`"),
    ("rocketleague-419a", "the policy `even`"),
    ("rocketleague-58b2", "the policy `even`"),
    ("rocketleague-9e35b", "the policy `even`"),
];

/// Recordings of one game, named on the command line, and the threshold that fits its units.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Where the recordings are.
    pub traces: Vec<PathBuf>,
    /// At what error something becomes due, in the recordings' units.
    pub threshold: f64,
}

/// A game: recordings in the same units, of which one result is made.
pub struct Game {
    /// What tables call it; nothing if it is the shipped one.
    pub name: Option<String>,
    /// What the recordings are called.
    pub traces: Vec<String>,
    /// The threshold at which our knob begins.
    pub threshold: f64,
    /// How everybody who quantises does it.
    pub format: Format,
    /// The recordings.
    pub grounds: Vec<Ground>,
}

/// A threshold as it is written on the command line.
pub fn threshold(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (LEAST_THRESHOLD..=MOST_THRESHOLD).contains(&number) {
        Ok(number)
    } else {
        Err(format!("from {LEAST_THRESHOLD} to {MOST_THRESHOLD}, in the units of the trace"))
    }
}

/// What belongs together: a threshold is for all traces since the one before. Both come with their places on the
/// command line.
pub fn pair(traces: Vec<(usize, PathBuf)>, thresholds: &[(usize, f64)]) -> Result<Vec<Named>> {
    let mut traces = traces.into_iter().peekable();
    let mut games = Vec::new();
    for &(place, threshold) in thresholds {
        let mut these = Vec::new();
        while let Some((_, trace)) = traces.next_if(|(before, _)| *before < place) {
            these.push(trace);
        }
        ensure!(!these.is_empty(), "--threshold {threshold} follows no --trace: name the trace first");
        games.push(Named { traces: these, threshold });
    }
    if let Some((_, trace)) = traces.next() {
        anyhow::bail!("--trace {} needs a --threshold after it, in the units of the trace", trace.display());
    }
    Ok(games)
}

/// The shipped game, from the folder with `traces/`.
pub fn shipped(data: &Path, seconds: f64) -> Result<Game> {
    let read = |name: &&str| {
        let path = data.join("traces").join(format!("{name}.csv.gz"));
        ensure!(path.is_file(), "{} is missing: say with --data where the project's data is", path.display());
        Ground::read(&path, seconds)
    };
    Ok(Game {
        name: None,
        traces: SHIPPED.map(String::from).to_vec(),
        threshold: SHIPPED_THRESHOLD,
        format: Format::bzflag(),
        grounds: SHIPPED.iter().map(read).collect::<Result<_>>()?,
    })
}

/// A game that was named.
pub fn read(named: &Named, seconds: f64) -> Result<Game> {
    let grounds = named.traces.iter().map(|path| Ground::read(path, seconds)).collect::<Result<Vec<_>>>()?;
    let traces: Vec<String> = named.traces.iter().map(|path| short_name(path)).collect();
    let format = format(named.threshold, &grounds);
    format.validate().with_context(|| format!("no format fits {}", traces.join(", ")))?;
    Ok(Game { name: Some(traces.join(", ")), traces, threshold: named.threshold, format, grounds })
}

/// The precision that fits a threshold, about all there is in these recordings.
fn format(threshold: f64, grounds: &[Ground]) -> Format {
    let (lower, upper) = corners(grounds.iter().flat_map(|ground| [ground.corners.0, ground.corners.1]));
    Format {
        position_step: threshold / POSITION_STEPS,
        velocity_step: threshold / VELOCITY_STEPS,
        acceleration_step: threshold / VELOCITY_STEPS,
        lower,
        upper,
        usual_speeds: [0.0; 3],
        usual_turn_rates: [0.0; 3],
        ..Format::bzflag()
    }
}

/// The corners of the box about these places; the origin if there are none.
pub fn corners(places: impl Iterator<Item = Vec3>) -> (Vec3, Vec3) {
    let each = |a: Vec3, b: Vec3, f: fn(f64, f64) -> f64| Vec3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));
    let about = |(low, high): (Vec3, Vec3), place: Vec3| (each(low, place, f64::min), each(high, place, f64::max));
    places.map(|place| (place, place)).reduce(|all, (place, _)| about(all, place)).unwrap_or((Vec3::ZERO, Vec3::ZERO))
}

/// The file's name without folders and endings.
fn short_name(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let bare = name.strip_suffix(".gz").unwrap_or(&name);
    bare.strip_suffix(".csv").unwrap_or(bare).to_owned()
}

/// What a recording of this name tuned.
pub fn tuned(trace: &str) -> &'static str {
    TUNED.iter().find(|(name, _)| *name == trace).map_or("nothing that is known", |(_, what)| what)
}

impl Game {
    /// The unit of its lengths, after a space; nothing where it is not known.
    pub fn unit(&self) -> &'static str {
        if self.name.is_some() { "" } else { " m" }
    }

    /// What a title begins with.
    pub fn prefix(&self) -> String {
        self.name.as_ref().map_or_else(String::new, |name| format!("{name}: "))
    }

    /// What a sentence calls it.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("traces")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn paths(places: &[usize]) -> Vec<(usize, PathBuf)> {
        places.iter().map(|place| (*place, PathBuf::from(format!("/some/{place}.csv.gz")))).collect()
    }

    #[test]
    fn a_threshold_is_for_all_traces_since_the_one_before() {
        let games = pair(paths(&[2, 6, 8]), &[(4, 0.1), (10, 10.0)]).unwrap();
        assert_eq!(
            games.iter().map(|game| (game.traces.len(), game.threshold)).collect::<Vec<_>>(),
            [(1, 0.1), (2, 10.0)]
        );
        assert_eq!(short_name(&games[1].traces[0]), "6");
        assert!(pair(Vec::new(), &[]).unwrap().is_empty());
        let error =
            |traces: &[usize], thresholds: &[(usize, f64)]| pair(paths(traces), thresholds).unwrap_err().to_string();
        assert_eq!(error(&[2], &[]), "--trace /some/2.csv.gz needs a --threshold after it, in the units of the trace");
        assert!(error(&[4], &[(2, 0.5)]).contains("--threshold 0.5 follows no --trace"));
        assert!(error(&[2], &[(4, 0.5), (6, 0.7)]).contains("--threshold 0.7 follows no --trace"));
        assert!(error(&[2, 6], &[(4, 0.5)]).contains("/some/6.csv.gz needs a --threshold"));
    }

    #[test]
    fn thresholds_are_numbers_that_a_format_can_follow() {
        for text in ["", "ten", "0", "-1", "NaN", "inf", "1e-6", "5001"] {
            assert!(threshold(text).is_err(), "{text}");
        }
        for text in ["1e-5", "0.1", "10", "5000"] {
            assert!(format(threshold(text).unwrap(), &[]).validate().is_ok(), "{text}");
        }
    }

    /// A file with these rows, gone with the test.
    struct Rows(PathBuf);

    impl Rows {
        fn new(name: &str, rows: impl Iterator<Item = String>) -> Self {
            let path = std::env::temp_dir().join(format!("evenkeel-peers-{}-{name}.csv", std::process::id()));
            let mut file = std::fs::File::create(&path).unwrap();
            writeln!(file, "t_s,entity,x,y,z,heading").unwrap();
            rows.for_each(|row| writeln!(file, "{row}").unwrap());
            Self(path)
        }

        fn game(&self, threshold: f64) -> Result<Game> {
            read(&Named { traces: vec![self.0.clone()], threshold }, 20.0)
        }
    }

    impl Drop for Rows {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// Two that move in a straight line, one row every so many seconds.
    fn rows(every: f64, seconds: f64) -> impl Iterator<Item = String> {
        let at = move |n: u32| f64::from(n) * every;
        (0..).map(at).take_while(move |t| *t < seconds).flat_map(|t| {
            [format!("{t:.4},a,{:.3},-5000,17,0", 1_000.0 * t), format!("{t:.4},b,0,{:.3},100,", 500.0 * t)]
        })
    }

    #[test]
    fn the_format_has_the_units_of_the_trace_and_holds_all_of_it() {
        let game = Rows::new("units", rows(0.02, 8.0)).game(10.0).unwrap();
        assert!(game.format.validate().is_ok());
        assert_eq!((game.format.position_step, game.format.velocity_step), (2.0, 1.0));
        assert!(game.format.lower.y <= -5_000.0 && game.format.lower.z <= 17.0 && game.format.upper.x > 7_900.0);
        assert!(game.traces[0].ends_with("units") && game.unit().is_empty());
    }

    #[test]
    fn traces_without_use_say_why() {
        let error = |name: &str, rows: Vec<String>| {
            let file = Rows::new(name, rows.into_iter());
            format!("{:#}", file.game(0.1).err().unwrap())
        };
        assert!(error("empty", vec![]).contains("no rows"), "{}", error("empty", vec![]));
        assert!(error("single", vec!["0,a,1,2,3,".into()]).contains("no two rows"));
        assert!(error("words", vec!["0,a,one,2,3,".into()]).contains("`x` is `one`, which is not a number"));
        assert!(error("sparse", rows(0.5, 20.0).collect()).contains("one row every 500 ms"));
        assert!(error("short", rows(0.02, 1.5).collect()).contains("nothing in it lasts longer than 2 s"));
        let missing = Named { traces: vec!["/nowhere/at-all.csv".into()], threshold: 0.1 };
        assert!(format!("{:#}", read(&missing, 20.0).err().unwrap()).contains("cannot read /nowhere/at-all.csv"));
    }

    #[test]
    fn who_was_looked_at_is_said() {
        assert!(SHIPPED.iter().all(|name| tuned(name).contains("knob")));
        assert_eq!(tuned(&short_name(Path::new("/x/stk-a.csv.gz"))), "the policy `even`");
        assert_eq!(tuned("stk-a-other"), "nothing that is known");
    }
}
