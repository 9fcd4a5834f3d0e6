/** A message of the queue has only gids, and whose they are. The store has the truth, so a message may be lost, doubled or old. */
import type { WakeUpRequest } from '@counterstep/core'
import { type Gid, isGid } from '@counterstep/protocol'

/** SQS delays no message for longer. The sweeper finds the transactions that are due later. */
export const DELAY_S_MAX = 900
/** If one of these transactions fails, the whole message comes back, so it has only a few. */
export const GIDS_PER_MESSAGE_MAX = 10

export interface WakeUpMessage {
  readonly body: string
  readonly delayS: number
  readonly group: string | undefined
}

/** These are the transactions that a message names. */
export interface WokenUp {
  readonly gids: readonly Gid[]
  readonly group?: string
}

/** Builds the messages. Requests of one group that are due in the same second share messages. */
export function buildWakeUpMessages(wakeUps: readonly WakeUpRequest[]): WakeUpMessage[] {
  const shared = new Map<string, { delayS: number; group: string | undefined; gids: Gid[] }>()
  for (const { gid, dueInMs, group } of wakeUps) {
    // The delay is rounded up, because the transaction cannot be claimed before it is due.
    const delayS = Math.ceil(dueInMs / 1000)
    if (delayS > DELAY_S_MAX) continue
    const key = `${delayS} ${group ?? ''}`
    const message = shared.get(key) ?? { delayS, group, gids: [] }
    message.gids.push(gid)
    shared.set(key, message)
  }
  return [...shared.values()].flatMap(({ delayS, group, gids }) =>
    splitIntoChunks(gids).map((chunk) => ({ body: writeBody(chunk, group), delayS, group })),
  )
}

/** Returns undefined if the message is not ours. */
export function readWakeUpMessage(body: string): WokenUp | undefined {
  const read = parseJson(body)
  if (typeof read !== 'object' || read === null || !Object.hasOwn(read, 'gids')) return undefined
  const { gids, group } = read as { readonly gids: unknown; readonly group?: unknown }
  if (!Array.isArray(gids) || gids.length > GIDS_PER_MESSAGE_MAX || !gids.every(isGid)) return undefined
  return { gids: [...new Set(gids)], ...(isGroup(group) ? { group } : {}) }
}

/** SQS takes a longer one, but none of ours is. */
function isGroup(group: unknown): group is string {
  return typeof group === 'string' && /^[a-z0-9]{1,32}$/.test(group)
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function writeBody(gids: readonly Gid[], group: string | undefined): string {
  return JSON.stringify({ gids, group })
}

function splitIntoChunks(gids: readonly Gid[]): (readonly Gid[])[] {
  const chunks: (readonly Gid[])[] = []
  for (let from = 0; from < gids.length; from += GIDS_PER_MESSAGE_MAX) {
    chunks.push(gids.slice(from, from + GIDS_PER_MESSAGE_MAX))
  }
  return chunks
}
