import kafkajs from 'kafkajs'

const { Kafka, logLevel } = kafkajs

// Starts a consumer of KafkaJS; the answer closes it.
export async function startKafkaJS (bootstrap, wanted, voice) {
  const kafka = new Kafka({
    brokers: [bootstrap],
    logLevel: logLevel.ERROR,
    logCreator: () => ({ log }) => voice.trouble(`${log.message} ${log.error ?? ''}`),
    ...(wanted.client_id && { clientId: wanted.client_id })
  })
  const consumer = kafka.consumer({
    groupId: wanted.group,
    ...(wanted.session_ms && { sessionTimeout: wanted.session_ms }),
    ...(wanted.rebalance_ms && { rebalanceTimeout: wanted.rebalance_ms })
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => voice.assigned(payload.memberAssignment))
  consumer.on(consumer.events.CRASH, ({ payload }) => (payload.restart ? voice.trouble : voice.failed).call(voice, payload.error))
  await consumer.connect()
  await consumer.subscribe({ topics: wanted.topics, fromBeginning: true })
  await consumer.run({ eachMessage: async ({ topic }) => voice.consumed(topic) })
  return () => consumer.disconnect()
}
