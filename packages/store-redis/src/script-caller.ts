import { createHash } from 'node:crypto'
import { ServerRefusal } from './command-errors.ts'
import { SCRIPTS } from './generated/scripts.ts'
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
export async function callScript(
  send: Send,
  script: ScriptName,
  keys: readonly string[],
  args: readonly CommandArgument[],
): Promise<unknown> {
  try {
    return await send('evalsha', [DIGESTS[script], keys.length, ...keys, ...args])
  } catch (error: unknown) {
    if (!(error instanceof ServerRefusal && error.word === 'NOSCRIPT')) throw error
  }
  return send('eval', [SCRIPTS[script], keys.length, ...keys, ...args])
}
