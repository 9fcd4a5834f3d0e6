/** The queue carries gids and nothing else, so that a message may be lost, doubled or old. */
import type { WakeUpRequest } from '@counterstep/core'
import { type Gid, isGid } from '@counterstep/protocol'

/** SQS has this bound itself. The sweeper finds what is due later. */
export const DELAY_S_MAX = 900
/** One message that fails comes back whole. */
export const GIDS_PER_MESSAGE_MAX = 10

export interface LookMessage {
  readonly body: string
  readonly delayS: number
}

/** Looks that are due in the same second share messages. */
export function lookMessages(looks: readonly WakeUpRequest[]): LookMessage[] {
  const byDelay = new Map<number, Gid[]>()
  for (const { gid, dueInMs } of looks) {
    // The delay is rounded up, because a look before the transaction is due is in vain.
    const delayS = Math.ceil(dueInMs / 1000)
    if (delayS > DELAY_S_MAX) continue
    const gids = byDelay.get(delayS)
    if (gids === undefined) byDelay.set(delayS, [gid])
    else gids.push(gid)
  }
  return [...byDelay].flatMap(([delayS, gids]) =>
    chunksOf(gids).map((chunk) => ({ body: bodyOf(chunk), delayS })),
  )
}

/** Returns undefined if the message is not ours. */
export function gidsOf(body: string): readonly Gid[] | undefined {
  const read = parsed(body)
  if (typeof read !== 'object' || read === null || !Object.hasOwn(read, 'gids')) return undefined
  const { gids } = read as { readonly gids: unknown }
  if (!Array.isArray(gids) || gids.length > GIDS_PER_MESSAGE_MAX || !gids.every(isGid)) return undefined
  return [...new Set(gids)]
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function bodyOf(gids: readonly Gid[]): string {
  return JSON.stringify({ gids })
}

function chunksOf(gids: readonly Gid[]): (readonly Gid[])[] {
  const chunks: (readonly Gid[])[] = []
  for (let from = 0; from < gids.length; from += GIDS_PER_MESSAGE_MAX) {
    chunks.push(gids.slice(from, from + GIDS_PER_MESSAGE_MAX))
  }
  return chunks
}
