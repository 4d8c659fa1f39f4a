// What all of its clients are made with.

export const settings = {
  clientId: 'platformatic',
  bootstrapBrokers: [process.argv[2]],
  timeout: 30_000,
  retries: 30,
  retryDelay: 200,
  metadataMaxAge: 1000,
  autocreateTopics: false,
}
