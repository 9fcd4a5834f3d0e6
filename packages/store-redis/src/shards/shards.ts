import { crc16 } from './crc16.ts'

// This number and the hash are in the data: never change them.
const SHARDS_MAX = 64
const SLOTS = 16_384

/** The numbers of all possible shards. The server of each is known before it is known how many hold data. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS_MAX }, (_, shard) => shard)

export type ShardCount = 1 | typeof SHARDS_MAX

/** The shards that hold a store's data. */
export class Shards {
  readonly count: ShardCount
  readonly all: readonly number[]

  constructor(count: ShardCount) {
    this.count = count
    this.all = ALL_SHARDS.slice(0, count)
  }

  /** Returns the shard of the gid, which never changes. */
  toShard(gid: string): number {
    return this.count === 1 ? 0 : crc16(gid) % this.count
  }
}

export const MANY_SHARDS = new Shards(SHARDS_MAX)
export const ONE_SHARD = new Shards(1)

/** Computes the slot of a shard's keys in a cluster from the shard's hash tag. */
export function toSlot(shard: number): number {
  return crc16(toTag(shard)) % SLOTS
}

/**
 * The names of one shard's keys. The tag stands before the gid, because the first braces of a key decide its slot, and a
 * gid may contain braces.
 */
export class ShardKeys {
  readonly due: string
  readonly created: string
  readonly done: string
  readonly counts: string
  readonly waiting: string
  readonly problems: string
  readonly tags: string
  readonly tagged: string
  readonly shardCount: string
  readonly #row: string
  readonly #definition: string
  readonly #mark: string
  readonly #documents: string

  constructor(keyPrefix: string, shard: number) {
    const base = `${keyPrefix}:{${toTag(shard)}}`
    this.due = `${base}:due`
    this.created = `${base}:created`
    this.done = `${base}:done`
    this.counts = `${base}:counts`
    this.waiting = `${base}:waiting`
    this.problems = `${base}:problems`
    this.tags = `${base}:tags`
    this.tagged = `${base}:tagged`
    this.shardCount = `${base}:shards`
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

function toTag(shard: number): string {
  return `p${shard}`
}
