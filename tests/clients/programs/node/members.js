// Many consumers of Node's client libraries in one process. The first line of input is the broker's address; every other
// one is a command, a JSON object. What happens goes to standard output in the same form. It ends with its input.
//
// {"do": "start", "name", "library", "group", "topics"} and perhaps "strategies", "client_id", "instance_id",
//   "session_ms", "rebalance_ms": what is left out is as the library has it
// {"do": "close", "name"}: the consumer closes in good order
import { createInterface } from 'node:readline'

import { startKafkaJS } from './kafkajs.js'
import { startPlatformatic } from './platformatic.js'

const LIBRARIES = {
  kafkajs: startKafkaJS,
  platformatic: (...given) => startPlatformatic('@platformatic/kafka', ...given),
  'platformatic-1': (...given) => startPlatformatic('platformatic-kafka-1', ...given)
}

// Tells what happens to one member.
class Voice {
  #name
  #topics = new Set()

  constructor (name) {
    this.#name = name
  }

  tell (event, more = {}) {
    process.stdout.write(JSON.stringify({ name: this.#name, event, ...more }) + '\n')
  }

  // The partitions that the library gives its user to read, by topic.
  assigned (partitions) {
    this.tell('assigned', { partitions })
  }

  // The first record of each topic.
  consumed (topic) {
    if (!this.#topics.has(topic)) {
      this.#topics.add(topic)
      this.tell('consumed', { topic })
    }
  }

  // An error after which the member goes on.
  trouble (error) {
    this.tell('trouble', { error: textOf(error) })
  }

  failed (error) {
    this.tell('failed', { error: textOf(error) })
  }
}

function textOf (error) {
  return [error, ...(error.errors ?? []), error.cause].filter(Boolean).map(String).join('; ')
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const bootstrap = (await lines.next()).value
const members = new Map()

// Each command of a member after the one before it: one that is to close may still be starting.
async function obey (asked, before) {
  const voice = new Voice(asked.name)
  try {
    const close = await before
    if (asked.do === 'start') {
      return await LIBRARIES[asked.library](bootstrap, asked, voice)
    }
    await close()
    voice.tell('closed')
  } catch (error) {
    voice.failed(error)
  }
}

for await (const line of lines) {
  const asked = JSON.parse(line)
  members.set(asked.name, obey(asked, members.get(asked.name)))
}
process.exit(0)
