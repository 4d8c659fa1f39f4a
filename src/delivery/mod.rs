//! Reads `__klamm_alerts` and posts to sinks: Alertmanager, webhooks, the log.
