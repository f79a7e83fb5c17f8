//! What travels between a client and the server, as bytes and as values.
