import { crc16 } from './crc16.ts'

// Both numbers and the hash are in the data: never change them.
export const SHARDS = 64
const SLOTS = 16_384

/** A gid's shard, for ever. */
export function shardOf(gid: string): number {
  return crc16(gid) % SHARDS
}

/** The slot of a shard's keys in a cluster: of its hash tag. */
export function slotOf(shard: number): number {
  return crc16(tagOf(shard)) % SLOTS
}

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

/**
 * The names of one shard's keys. The tag stands before the gid, since the first braces of a key decide its slot and a
 * gid may contain some.
 */
export class ShardKeys {
  readonly due: string
  readonly created: string
  readonly done: string
  readonly counts: string
  readonly #row: string
  readonly #definition: string
  readonly #mark: string
  readonly #documents: string

  constructor(keyPrefix: string, shard: number) {
    const base = `${keyPrefix}:{${tagOf(shard)}}`
    this.due = `${base}:due`
    this.created = `${base}:created`
    this.done = `${base}:done`
    this.counts = `${base}:counts`
    this.#row = `${base}:t:`
    this.#definition = `${base}:d:`
    this.#mark = `${base}:mark:`
    this.#documents = `${base}:documents:`
  }

  row(gid: string): string {
    return this.#row + gid
  }

  definition(gid: string): string {
    return this.#definition + gid
  }

  documents(category: string): string {
    return this.#documents + category
  }

  mark(processId: string): string {
    return this.#mark + processId
  }
}

function tagOf(shard: number): string {
  return `p${shard}`
}
