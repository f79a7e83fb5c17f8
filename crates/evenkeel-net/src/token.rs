//! Join tokens: who may join which session with which rights until when, signed by the operator.
