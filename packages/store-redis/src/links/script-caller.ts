import { createHash } from 'node:crypto'
import { SCRIPTS, type ScriptName } from '../generated/scripts.ts'
import { ServerRefusal } from './command-errors.ts'
import type { CommandArgument } from './server-link.ts'

const DIGESTS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, script]) => [name, createHash('sha1').update(script).digest('hex')]),
) as Readonly<Record<ScriptName, string>>

export type Send = (name: string, args: readonly CommandArgument[]) => Promise<unknown>

/**
 * Calls a script by its digest. A server that does not know it (new, restarted, flushed) gets the whole text in a
 * second command. This second command may arrive after a later call, so every script must work in any order.
 */
export class ScriptCaller {
  /**
   * The scripts whose digest was refused and whose text has not been answered yet. They go by their text at once: on
   * a link so slow that the second try is never in time, a call that begins with the digest would never be done.
   */
  readonly #unknown = new Set<ScriptName>()

  async call(
    send: Send,
    script: ScriptName,
    keys: readonly string[],
    args: readonly CommandArgument[],
  ): Promise<unknown> {
    // Both tries share one list, since it is long and the first try is nearly always the last.
    const words: CommandArgument[] = [DIGESTS[script], keys.length, ...keys, ...args]
    if (!this.#unknown.has(script)) {
      try {
        return await send('evalsha', words)
      } catch (error: unknown) {
        if (!(error instanceof ServerRefusal && error.word === 'NOSCRIPT')) throw error
      }
      this.#unknown.add(script)
    }
    words[0] = SCRIPTS[script]
    const answer = await send('eval', words)
    this.#unknown.delete(script)
    return answer
  }
}
