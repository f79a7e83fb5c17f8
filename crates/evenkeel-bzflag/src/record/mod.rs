//! Traces, from traffic and from the game's own recordings.
