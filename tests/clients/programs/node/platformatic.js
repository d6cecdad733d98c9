const COMMIT_MS = 1000 // by default, each record is committed by itself

const PROTOCOLS = {
  roundrobin: { name: 'roundrobin', version: 1 },
  'cooperative-sticky': { name: 'cooperative-sticky', version: 3 }
}

// Starts a consumer of one of the releases of @platformatic/kafka; the answer closes it.
export async function startPlatformatic (release, bootstrap, wanted, voice) {
  const { Consumer, MessagesStreamFallbackModes, MessagesStreamModes } = await import(release)
  const consumer = new Consumer({
    clientId: wanted.client_id,
    groupId: wanted.group,
    bootstrapBrokers: [bootstrap],
    ...(wanted.session_ms && { sessionTimeout: wanted.session_ms }),
    ...(wanted.rebalance_ms && { rebalanceTimeout: wanted.rebalance_ms }),
    ...(wanted.instance_id && { groupInstanceId: wanted.instance_id }),
    ...(wanted.strategies && { protocols: wanted.strategies.map(name => PROTOCOLS[name]) })
  })
  consumer.on('consumer:group:join', ({ assignments }) => voice.assigned(byTopic(assignments ?? [])))
  const stream = await consumer.consume({
    topics: wanted.topics,
    autocommit: COMMIT_MS,
    mode: MessagesStreamModes.COMMITTED,
    fallbackMode: MessagesStreamFallbackModes.EARLIEST
  })
  stream.on('data', ({ topic }) => voice.consumed(topic))
  stream.on('error', error => voice.trouble(error))
  return () => consumer.close(true)
}

function byTopic (assignments) {
  return Object.fromEntries(assignments.map(({ topic, partitions }) => [topic, partitions]))
}
