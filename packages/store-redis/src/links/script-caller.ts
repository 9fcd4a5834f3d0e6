import { createHash } from 'node:crypto'
import { SCRIPTS } from '../generated/scripts.ts'
import { ServerRefusal } from './command-errors.ts'
import type { CommandArgument } from './server-link.ts'

export type ScriptName = keyof typeof SCRIPTS

const DIGESTS = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, script]) => [name, createHash('sha1').update(script).digest('hex')]),
) as Readonly<Record<ScriptName, string>>

export type Send = (name: string, args: readonly CommandArgument[]) => Promise<unknown>

/**
 * Calls a script by its digest; a server that does not know it (new, restarted, flushed) is sent the whole text. By
 * itself, and so perhaps after a later call: every script may come in any order.
 */
export class ScriptCaller {
  /**
   * By their digest they were refused, and by their text they have not been answered yet. Where a link is so slow that
   * the second try never comes in time, nothing would ever be done that begins with the digest.
   */
  readonly #unknown = new Set<ScriptName>()

  async call(
    send: Send,
    script: ScriptName,
    keys: readonly string[],
    args: readonly CommandArgument[],
  ): Promise<unknown> {
    // One list for both tries: it is long, and the first is nearly always the last.
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
