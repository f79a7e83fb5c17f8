//! Connections that carry datagrams and messages: WebTransport over HTTP/3, or a WebSocket where UDP is blocked.
