/** A message of the queue has only gids. The store has the truth, so a message may be lost, doubled or old. */
import type { WakeUpRequest } from '@counterstep/core'
import { type Gid, isGid } from '@counterstep/protocol'

/** SQS delays no message for longer. The sweeper finds the transactions that are due later. */
export const DELAY_S_MAX = 900
/** If one of these transactions fails, the whole message comes back, so it has only a few. */
export const GIDS_PER_MESSAGE_MAX = 10

export interface WakeUpMessage {
  readonly body: string
  readonly delayS: number
}

/** Builds the messages. Requests that are due in the same second share messages. */
export function buildWakeUpMessages(wakeUps: readonly WakeUpRequest[]): WakeUpMessage[] {
  const byDelay = new Map<number, Gid[]>()
  for (const { gid, dueInMs } of wakeUps) {
    // The delay is rounded up, because the transaction cannot be claimed before it is due.
    const delayS = Math.ceil(dueInMs / 1000)
    if (delayS > DELAY_S_MAX) continue
    const gids = byDelay.get(delayS)
    if (gids === undefined) byDelay.set(delayS, [gid])
    else gids.push(gid)
  }
  return [...byDelay].flatMap(([delayS, gids]) =>
    splitIntoChunks(gids).map((chunk) => ({ body: writeBody(chunk), delayS })),
  )
}

/** Returns undefined if the message is not ours. */
export function readGids(body: string): readonly Gid[] | undefined {
  const read = parseJson(body)
  if (typeof read !== 'object' || read === null || !Object.hasOwn(read, 'gids')) return undefined
  const { gids } = read as { readonly gids: unknown }
  if (!Array.isArray(gids) || gids.length > GIDS_PER_MESSAGE_MAX || !gids.every(isGid)) return undefined
  return [...new Set(gids)]
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function writeBody(gids: readonly Gid[]): string {
  return JSON.stringify({ gids })
}

function splitIntoChunks(gids: readonly Gid[]): (readonly Gid[])[] {
  const chunks: (readonly Gid[])[] = []
  for (let from = 0; from < gids.length; from += GIDS_PER_MESSAGE_MAX) {
    chunks.push(gids.slice(from, from + GIDS_PER_MESSAGE_MAX))
  }
  return chunks
}
