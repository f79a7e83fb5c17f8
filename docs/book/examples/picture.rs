//! Takes a plot out of a report of the laboratory's and makes a picture for the book of it, with its key above.
//!
//! `cargo run -p evenkeel-book --example picture REPORT/index.html TITLE docs/book/src/pictures/NAME.svg`

use std::error::Error;

/// What the report's page says about its plots.
const STYLE: &str =
    "text { font: 12px system-ui, sans-serif; fill: #3a434d; } .grid { stroke: #e3e7eb; } .axis { stroke: #59636e; }";
/// Of the key: how tall a row is, where it begins, and how wide a letter is, about.
const ROW: f64 = 20.0;
const LEFT: f64 = 58.0;
const LETTER: f64 = 6.5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [report, title, file] = arguments.as_slice() else {
        return Err("give the report's page, the plot's title and the picture's file".into());
    };
    let page = std::fs::read_to_string(report)?;
    std::fs::write(file, picture(&page, title).ok_or(format!("{report} has no plot `{title}`"))?)?;
    Ok(())
}

fn picture(page: &str, title: &str) -> Option<String> {
    let label = page.find(&format!("aria-label=\"{title}\""))?;
    let (before, start) = (&page[..label], page[..label].rfind("<svg")?);
    let plot = &page[start..start + page[start..].find("</svg>")?];
    let (head, body) = plot.split_once('>')?;
    let mut size = head.split("viewBox=\"0 0 ").nth(1)?.split(['"', ' ']).map(str::parse::<f64>);
    let (width, height) = (size.next()?.ok()?, size.next()?.ok()?);
    let key = before.rfind("<p class=\"key\">").filter(|at| !before[*at..].contains("</figure>"));
    let (key, tall) = key.map(|at| rows(&before[at..start], width)).unwrap_or_default();
    let (top, whole) = (-tall, height + tall);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {top} {width} {whole}\" width=\"{width}\" \
         height=\"{whole}\" role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n\
         <rect y=\"{top}\" width=\"{width}\" height=\"{whole}\" fill=\"#fff\"/>\n\
         <g transform=\"translate(0 {top})\">\n{key}</g>{body}</svg>\n"
    ))
}

/// Colours and names, one beside the other, in as many rows as it takes; and how tall that is.
fn rows(key: &str, width: f64) -> (String, f64) {
    let (mut x, mut y, mut text) = (LEFT, 0.0, String::new());
    for entry in key.split("<span>").skip(1) {
        let colour = entry.find('#').map_or("#000", |at| &entry[at..at + 7]);
        let name = entry.split("</span>").next().and_then(|it| it.rsplit('>').next()).unwrap_or_default();
        let wide = 42.0 + LETTER * name.chars().count() as f64;
        if x > LEFT && x + wide > width {
            (x, y) = (LEFT, y + ROW);
        }
        text += &format!("<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"16\" height=\"6\" fill=\"{colour}\"/>\n", y + 6.0);
        text += &format!("<text x=\"{:.0}\" y=\"{:.0}\">{name}</text>\n", x + 22.0, y + 13.0);
        x += wide;
    }
    (text, y + ROW)
}
