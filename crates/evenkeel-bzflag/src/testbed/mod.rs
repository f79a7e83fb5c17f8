//! The real game on one machine: server, displays and clients, started and stopped.
