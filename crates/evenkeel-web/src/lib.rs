//! A player of the demonstration in a browser.
