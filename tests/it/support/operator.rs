//! What an operator does to a node: makes topics, changes configs, puts plugins in place, looks at status and metrics.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
};

use kafka_protocol::{
    messages::{
        CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
        IncrementalAlterConfigsRequest,
        create_partitions_request::CreatePartitionsTopic,
        create_topics_request::{CreatableTopic, CreatableTopicConfig},
        create_topics_response::CreatableTopicResult,
        incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig},
    },
    protocol::StrBytes,
};
use klamm::plugin::PluginStatus;

use super::{Broker, Client, eventually};

/// Types of resources that configs belong to.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const GROUP: i8 = 32;

/// Kafka's numbers for operations on configs.
const SET: i8 = 0;
const DELETE: i8 = 1;

fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

fn creation(name: &str, partitions: i32, configs: &[(&str, &str)]) -> CreateTopicsRequest {
    let config = |(name, value): &(&str, &str)| {
        CreatableTopicConfig::default().with_name(text(name)).with_value(Some(text(value)))
    };
    let topic = CreatableTopic::default()
        .with_name(text(name).into())
        .with_num_partitions(partitions)
        .with_replication_factor(1)
        .with_configs(configs.iter().map(config).collect());
    CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000)
}

impl Client {
    #[track_caller]
    pub(crate) fn create_topic(&mut self, name: &str, partitions: i32, configs: &[(&str, &str)]) {
        let created = self.try_create_topic(name, partitions, configs).expect("an answer");
        assert_eq!(created.error_code, 0, "{:?}", created.error_message);
    }

    /// `None` if the node ends instead of answering.
    pub(crate) fn try_create_topic(
        &mut self,
        name: &str,
        partitions: i32,
        configs: &[(&str, &str)],
    ) -> Option<CreatableTopicResult> {
        let mut response = self.try_call(5, &creation(name, partitions, configs))?;
        response.topics.pop()
    }

    #[track_caller]
    pub(crate) fn delete_topic(&mut self, name: &str) {
        let request = DeleteTopicsRequest::default()
            .with_topic_names(vec![text(name).into()])
            .with_timeout_ms(30_000);
        let response = self.call(5, &request);
        assert_eq!(response.responses[0].error_code, 0);
    }

    #[track_caller]
    pub(crate) fn add_partitions(&mut self, topic: &str, count: i32) {
        let topic = CreatePartitionsTopic::default()
            .with_name(text(topic).into())
            .with_count(count)
            .with_assignments(None);
        let request =
            CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000);
        let response = self.call(3, &request);
        assert_eq!(response.results[0].error_code, 0, "{:?}", response.results[0].error_message);
    }

    #[track_caller]
    pub(crate) fn set_topic_config(&mut self, topic: &str, name: &str, value: &str) {
        self.set_config(TOPIC, topic, name, Some(value));
    }

    #[track_caller]
    pub(crate) fn set_group_config(&mut self, group: &str, name: &str, value: &str) {
        self.set_config(GROUP, group, name, Some(value));
    }

    /// Of all brokers; `None` takes it away.
    #[track_caller]
    pub(crate) fn set_broker_config(&mut self, name: &str, value: Option<&str>) {
        self.set_config(BROKER, "", name, value);
    }

    #[track_caller]
    fn set_config(&mut self, kind: i8, resource: &str, name: &str, value: Option<&str>) {
        let config = AlterableConfig::default()
            .with_name(text(name))
            .with_config_operation(if value.is_some() { SET } else { DELETE })
            .with_value(value.map(text));
        let resource = AlterConfigsResource::default()
            .with_resource_type(kind)
            .with_resource_name(text(resource))
            .with_configs(vec![config]);
        let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
        let response = self.call(1, &request);
        let altered = &response.responses[0];
        assert_eq!(altered.error_code, 0, "{:?}", altered.error_message);
    }
}

impl Broker {
    /// Puts a file into the watched folder, by an atomic rename.
    pub(crate) fn put_plugin_file(&self, name: &str, bytes: &[u8]) {
        let folder = self.plugin_dir();
        let part = folder.join(format!(".{name}.part"));
        fs::write(&part, bytes).unwrap();
        fs::rename(part, folder.join(name)).unwrap();
    }

    /// Puts a component into the watched folder and waits until it runs.
    #[track_caller]
    pub(crate) fn load_plugin(&self, name: &str, wasm: &[u8]) {
        self.put_plugin_file(&format!("{name}.wasm"), wasm);
        self.wait_for_plugin(name, wasm);
    }

    /// Waits until a component runs.
    #[track_caller]
    pub(crate) fn wait_for_plugin(&self, name: &str, wasm: &[u8]) {
        let sha256 = sha256(wasm);
        eventually(&format!("{name} runs"), || {
            let status = self.plugin(name)?;
            (status.sha256.as_ref() == Some(&sha256)).then_some(())
        });
    }

    /// The plugin's line of `/v1/plugins`.
    pub(crate) fn plugin(&self, name: &str) -> Option<PluginStatus> {
        let plugins: Vec<PluginStatus> = serde_json::from_str(&self.get("/v1/plugins")).unwrap();
        plugins.into_iter().find(|it| it.name == name)
    }

    /// The value of a metric's line, 0 when there is none.
    pub(crate) fn metric(&self, line: &str) -> f64 {
        let metrics = self.get("/metrics");
        let value = metrics.lines().find_map(|it| it.strip_prefix(line));
        value.map_or(0.0, |it| it.trim().parse().unwrap())
    }

    /// The body of a GET.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.http_address()).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nHost: klamm\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").expect("an HTTP response");
        assert!(head.contains(" 200 "), "{path}: {head}");
        body.to_owned()
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    use sha2::Digest as _;
    let mut hex = String::new();
    for byte in sha2::Sha256::digest(bytes) {
        write!(hex, "{byte:02x}").expect("text takes text");
    }
    hex
}
