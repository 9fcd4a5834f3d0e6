import { CounterstepError } from '@counterstep/protocol'
import { ALL_SHARDS, toSlot } from '../shards/shards.ts'
import { ServerRefusal } from './command-errors.ts'
import type { Endpoint, ServerLink } from './server-link.ts'

type SlotRange = readonly [
  first: number,
  last: number,
  master: readonly [host: string | null, port: number, ...unknown[]],
]

/** Reads the master of each shard's slot from one node of the cluster. It is undefined for a slot without a master. */
export async function readTopology(link: ServerLink): Promise<readonly (Endpoint | undefined)[]> {
  const ranges = await readSlots(link)
  return ALL_SHARDS.map((shard) => {
    const slot = toSlot(shard)
    const range = ranges.find(([first, last]) => first <= slot && slot <= last)
    if (range === undefined) return undefined
    const [host, port] = range[2]
    // Without a host the master is the server that was asked.
    return { host: host || link.endpoint.host, port: Number(port) }
  })
}

async function readSlots(link: ServerLink): Promise<readonly SlotRange[]> {
  try {
    return (await link.send('cluster', ['SLOTS'])) as readonly SlotRange[]
  } catch (error: unknown) {
    if (!(error instanceof ServerRefusal && error.word === 'ERR')) throw error
    const { host, port } = link.endpoint
    throw new CounterstepError(
      'SAGA_STORE_UNSUPPORTED',
      `${host}:${port} is no node of a cluster: name it by redis:// (${error.message})`,
    )
  }
}
