//! Guests that misbehave on purpose, and what their failure means.
