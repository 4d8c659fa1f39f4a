// The connection that all verbs share, and the codecs that kafkajs leaves to others.

import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import Lz4 from '@2l/kafkajs-lz4'
import zstd from '@bokuweb/zstd-wasm'

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs

// zstd streams of the Java client do not tell their size, so room for a whole batch is kept.
const zstdRoom = { defaultHeapSize: 16 * 1024 * 1024 }
let zstdReady

CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = new Lz4().codec
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => {
    await (zstdReady ??= zstd.init())
    return Buffer.from(zstd.compress(encoder.buffer))
  },
  decompress: async buffer => {
    await (zstdReady ??= zstd.init())
    return Buffer.from(zstd.decompress(buffer, zstdRoom))
  },
})

export const codecs = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

export const connect = clientId =>
  new Kafka({
    clientId,
    brokers: [process.argv[2]],
    logLevel: logLevel.WARN,
    logCreator: () => ({ namespace, level, log }) => console.error(level, namespace, JSON.stringify(log)),
    retry: { retries: 30, initialRetryTime: 100, maxRetryTime: 1000 },
  })

export const kafka = connect('kafkajs')
