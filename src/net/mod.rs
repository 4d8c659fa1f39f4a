//! Listeners and connections of Kafka clients: frames in, answers out in request order.
