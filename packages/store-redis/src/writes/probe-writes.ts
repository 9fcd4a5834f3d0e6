import { randomUUID } from 'node:crypto'
import { StoreUnavailableError } from '@counterstep/core'
import { isDenied } from '../links/command-errors.ts'
import type { Servers } from '../links/servers.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

/** It expires by itself; nobody reads it. */
const PROBE_KEPT_MS = 1

/** Throws for a user who may not write under the prefix: he would start, say that all is well, and then store nothing. */
export async function probeWrites(servers: Servers, calls: ShardCalls): Promise<void> {
  const probeId = `probe-${randomUUID()}`
  await Promise.all(
    servers.masters().flatMap((link) =>
      servers
        .shardsOf(link)
        .slice(0, 1)
        .map((shard) => probe(calls, shard, probeId)),
    ),
  )
}

async function probe(calls: ShardCalls, shard: number, probeId: string): Promise<void> {
  try {
    // By itself, not in a script: there a refusal has no word of its own.
    await calls.command(shard, 'set', [calls.keys(shard).mark(probeId), '1', 'PX', PROBE_KEPT_MS])
  } catch (error: unknown) {
    // Full, loading, or gone again: that passes, and whoever writes next is told.
    if (isDenied(error) || !(error instanceof StoreUnavailableError)) throw error
  }
}
