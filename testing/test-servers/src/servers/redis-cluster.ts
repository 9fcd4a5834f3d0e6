import { freePort } from '../free-port.ts'
import { redisAnswer } from '../proxy/redis-answer.ts'
import { findRedis } from './redis.ts'
import { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.ts'
import { untilReady } from './until-ready.ts'

export interface RedisCluster {
  /** The URL redis-cluster://127.0.0.1:PORT,127.0.0.1:PORT,127.0.0.1:PORT. */
  readonly url: string
  /** Each node has a third of the slots and no replica. */
  readonly nodes: readonly RedisServer[]
  /** Waits until each node says that all slots are served. A restarted node answers before that. */
  untilWhole(): Promise<void>
  stop(): Promise<void>
}

const SLOTS = 16_384
const WHOLE_MS_MAX = 60_000

/** Starts three masters without replicas and joins them by commands. Returns when each node says that all slots are served. */
export async function startRedisCluster(options: RedisServerOptions = {}): Promise<RedisCluster> {
  const command = await findRedis()
  const busPorts = [await freePort(), await freePort(), await freePort()]
  const nodes = await Promise.all(busPorts.map((busPort) => startNode(command, busPort, options)))
  try {
    await form(nodes, busPorts)
  } catch (error: unknown) {
    await stopAll(nodes)
    throw error
  }
  return {
    url: `redis-cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    untilWhole: () => untilWhole(nodes),
    stop: () => stopAll(nodes),
  }
}

/** Starts a node with an explicit port for the cluster's own messages, since the usual one, 10,000 above, may be taken. */
async function startNode(
  command: string,
  busPort: number,
  { settings = [] }: RedisServerOptions,
): Promise<RedisServer> {
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)]
  return await startRedisServer(command, { settings: [...cluster, ...settings] })
}

async function form(nodes: readonly RedisServer[], busPorts: readonly number[]): Promise<void> {
  const slots = Math.ceil(SLOTS / nodes.length)
  for (const [index, node] of nodes.entries()) {
    const from = index * slots
    const to = Math.min(from + slots, SLOTS) - 1
    // The nodes have different epochs from the start. With one epoch they would first have to agree which of them is right.
    await ask(node, ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)])
    await ask(node, ['CLUSTER', 'ADDSLOTSRANGE', String(from), String(to)])
  }
  const [first, ...others] = nodes
  for (const node of others) {
    await ask(node, ['CLUSTER', 'MEET', '127.0.0.1', String(first?.port), String(busPorts[0])])
  }
  await untilWhole(nodes)
}

async function untilWhole(nodes: readonly RedisServer[]): Promise<void> {
  for (const node of nodes) {
    await untilReady(`node ${node.port} sees the cluster whole`, WHOLE_MS_MAX, () =>
      waitingForAll(node, nodes.length),
    )
  }
}

async function waitingForAll(node: RedisServer, nodes: number): Promise<string | undefined> {
  const lines = (await ask(node, ['CLUSTER', 'INFO'])).split('\r\n')
  const wanted = ['cluster_state:ok', `cluster_slots_ok:${SLOTS}`, `cluster_known_nodes:${nodes}`]
  return wanted.every((line) => lines.includes(line)) ? undefined : lines.slice(0, 6).join(' ')
}

async function ask(node: RedisServer, words: readonly string[]): Promise<string> {
  return await redisAnswer({ host: '127.0.0.1', port: node.port }, words)
}

async function stopAll(nodes: readonly RedisServer[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()))
}
