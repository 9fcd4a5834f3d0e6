import { randomUUID } from 'node:crypto'
import { StoreUnavailableError } from '@counterstep/core'
import { isDenied } from '../links/command-errors.ts'
import type { Servers } from '../links/servers.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

/** The probe expires by itself and is never read. */
const PROBE_KEPT_MS = 1

/**
 * Throws for a user without the right to write under the prefix. The store would start, report no fault, and store
 * nothing.
 */
export async function probeWrites(servers: Servers, calls: ShardCalls): Promise<void> {
  const probeId = `probe-${randomUUID()}`
  await Promise.all(
    servers.masters().flatMap((link) =>
      servers
        .findShards(link)
        .slice(0, 1)
        .map((shard) => probe(calls, shard, probeId)),
    ),
  )
}

async function probe(calls: ShardCalls, shard: number, probeId: string): Promise<void> {
  try {
    // This is a plain command, because a refusal inside a script has no word of its own.
    await calls.command(shard, 'set', [calls.keys(shard).mark(probeId), '1', 'PX', PROBE_KEPT_MS])
  } catch (error: unknown) {
    // The server is full, still loads, or has gone again. That passes, and the next write gets the error.
    if (isDenied(error) || !(error instanceof StoreUnavailableError)) throw error
  }
}
