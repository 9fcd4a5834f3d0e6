import type { ScriptName } from '../generated/scripts.ts'
import type { CommandArgument, ServerLink } from '../links/server-link.ts'
import type { Servers } from '../links/servers.ts'
import { collectAnswers } from './by-shard.ts'
import { decodeTime } from './decode-answers.ts'
import type { ScriptCall } from './encode-calls.ts'
import { ALL_SHARDS, ShardKeys, type Shards } from './shards.ts'

/** Calls the servers that hold a store's keys. */
export class ShardCalls {
  readonly servers: Servers
  readonly shards: Shards
  readonly #keys: readonly ShardKeys[]

  constructor(servers: Servers, shards: Shards, keyPrefix: string) {
    this.servers = servers
    this.shards = shards
    this.#keys = ALL_SHARDS.map((shard) => new ShardKeys(keyPrefix, shard))
  }

  keys(shard: number): ShardKeys {
    const keys = this.#keys[shard]
    if (keys === undefined) throw new RangeError(`no shard ${shard}`)
    return keys
  }

  script(shard: number, script: ScriptName, { keys, args }: ScriptCall): Promise<unknown> {
    return this.servers.script(shard, script, keys, args)
  }

  command(shard: number, name: string, args: readonly CommandArgument[]): Promise<unknown> {
    return this.servers.command(shard, name, args)
  }

  /** Reads the clock of the server that serves the shard. */
  async time(shard: number): Promise<number> {
    return decodeTime(await this.servers.command(shard, 'time', []))
  }

  /** Reads the clock of each master, and lists the shards that it serves. */
  async times(): Promise<
    readonly { readonly link: ServerLink; readonly shards: readonly number[]; readonly now: number }[]
  > {
    const masters = this.servers.masters().map((link) => ({ link, shards: this.servers.findShards(link) }))
    return collectAnswers(
      masters.map(async (master) => ({ ...master, now: await this.time(master.shards[0] ?? 0) })),
    )
  }
}
