//! The tables of the study.

use super::figures;
use super::plan::{Couples, Seed};
use super::setting::{Limit, METHODS, Setting, evaluation};
use crate::study::Exhibit;
use crate::study::measure::{cells, median, percent, text};

/// All of them.
pub(super) fn exhibits(duel: &Couples, seeds: &[Seed]) -> Vec<Exhibit> {
    let mut all = vec![couples(duel, seeds), parts(duel), lone(seeds)];
    all.extend(figures::lone_operation(seeds));
    all.extend(figures::over_time(duel));
    all.extend([figures::against_lag(duel), figures::against_excess(duel)]);
    all.push(rounding(duel));
    all
}

/// What a row says first: the threshold in pixels and degrees, lag and delay.
fn head(setting: &Setting) -> Vec<String> {
    let Limit { px, deg } = setting.limit;
    vec![format!("{px} / {deg}"), setting.lag_ms.to_string(), setting.delay_ms.to_string()]
}

fn couples(duel: &Couples, seeds: &[Seed]) -> Exhibit {
    let row = |setting: Setting, method: usize| {
        let applied = setting.under(method);
        let couple = &duel[&applied];
        let figures = [
            METHODS[method].to_owned(),
            text(couple.mean),
            text(couple.most),
            text(couple.p95),
            percent(couple.inconsistent),
            percent(couple.visible),
            text(couple.heading),
            couple.updates().to_string(),
            text(median(seeds, |seed| seed.couples[&applied].mean)),
        ];
        head(&setting).into_iter().chain(figures).collect()
    };
    Exhibit::Table {
        title: "The 24 track couples: how far apart two sites show the ships of the recorded duel".into(),
        note: "gs-dr is globally synchronised dead reckoning without lag, gs-dr-ll the same with local lag. Thresholds, lags and \
               delays are our choice: the paper's digits are lost. Inconsistency is the distance in pixels between a ship at the two \
               sites at the same time on the clock (formula 3), over both ships and all ticks; a ship is 20 px across and flies up to \
               160 px/s. \"Apart\" is the share of ticks with any inconsistency (above a millionth of a pixel), \"seen\" with more \
               than half a pixel; \"deg\" is the mean difference of headings. Updates are both ships' together. The last column is \
               the median of the mean over other games, one per seed. All settings are measured over the same stretch of the game; \
               gs-dr's three rows with a delay of 800 ms are one run."
            .into(),
        head: cells([
            "px / deg", "lag ms", "delay ms", "method", "mean", "max", "p95", "apart", "seen", "deg", "updates", "seeds",
        ]),
        rows: evaluation().flat_map(|setting| [0, 1].map(|method| row(setting, method))).collect(),
    }
}

fn parts(duel: &Couples) -> Exhibit {
    let row = |setting: Setting| {
        let part = |method: usize| {
            let couple = &duel[&setting.under(method)];
            [text(couple.filter_part), text(couple.delay_part)]
        };
        let alone = text(duel[&Setting::new(setting.limit, 0, 0)].mean);
        head(&setting).into_iter().chain(part(0)).chain(part(1)).chain([alone]).collect()
    };
    Exhibit::Table {
        title: "The filter's part and the delay's part of the mean inconsistency (section 3)".into(),
        note: "In pixels; both add up to the mean. As in the paper's figure 1 the time decides: D1 is what accrues while every \
               update that was sent has taken effect (the next is not due yet), D2 while one is under way. With long delays one \
               nearly always is, so that D1 shrinks; the last column is what the filter alone leaves, without delay."
            .into(),
        head: cells([
            "px / deg", "lag ms", "delay ms", "gs-dr D1", "gs-dr D2", "gs-dr-ll D1", "gs-dr-ll D2", "filter alone",
        ]),
        rows: evaluation().map(row).collect(),
    }
}

fn lone(seeds: &[Seed]) -> Exhibit {
    let row = |setting: Setting| {
        let ms = |of: &dyn Fn(&Seed) -> evenkeel::Duration| {
            format!("{:.0}", 1e3 * median(seeds, |seed| of(seed).as_secs_f64()))
        };
        let without = setting.under(0);
        let figures = [
            ms(&|seed| seed.lone[&setting].filtered),
            ms(&|seed| seed.lone[&without].period),
            ms(&|seed| seed.lone[&without].foretold),
            ms(&|seed| seed.lone[&setting].period),
            ms(&|seed| seed.lone[&setting].foretold),
        ];
        head(&setting).into_iter().chain(figures).collect()
    };
    Exhibit::Table {
        title: "After a single operation, for how many ms the sites differ".into(),
        note: "A ship that stands begins to accelerate at t0; the update is sent at t1 and arrives at t2. Beside what was measured, \
               what section 4 says: t2 - t0 without lag and t2 - t0 - n with a lag n, or t1 - t0 where the lag covers the delay. A \
               tick is 20 ms. Medians over seeds."
            .into(),
        head: cells([
            "px / deg", "lag ms", "delay ms", "t1 - t0", "gs-dr", "said", "gs-dr-ll", "said",
        ]),
        rows: evaluation().map(row).collect(),
    }
}

fn rounding(duel: &Couples) -> Exhibit {
    let row = |setting: Setting| {
        let of = |method: usize| {
            let applied = setting.under(method);
            [text(duel[&applied].mean), text(duel[&applied.rounded()].mean)]
        };
        head(&setting).into_iter().chain(of(0)).chain(of(1)).collect()
    };
    Exhibit::Table {
        title: "What rounding on the wire changes".into(),
        note: "Mean inconsistency in pixels, with states sent as they are and in the default format (steps of 0.005 px, 0.01 px/s, \
               0.0055 degrees, 0.001 rad/s). Everything else here is sent as it is: rounded, two sites are never at exactly the same \
               place."
            .into(),
        head: cells([
            "px / deg", "lag ms", "delay ms", "gs-dr", "gs-dr rounded", "gs-dr-ll", "gs-dr-ll rounded",
        ]),
        rows: evaluation().map(row).collect(),
    }
}
