import type { BranchCaller, Clock } from '@counterstep/core'
import type { AlertFacts } from '@counterstep/protocol'
import { delay } from '../until-definite.ts'
import type { AlertTarget } from './alert-options.ts'
import { toAlertCall } from './build-alert-message.ts'

const TRIES_MAX = 3
const FIRST_WAIT_MS = 5_000

export interface PostParts {
  readonly branches: BranchCaller
  readonly clock: Clock
  readonly isStopped: () => boolean
}

/**
 * Tells the targets of the rule `store` directly that the store is away, since no transaction can. Each node does so by
 * itself, and nothing remembers it: after three tries it is given up. All nodes give it the same gid. Returns whether every
 * target has got it.
 */
export async function postStoreAlert(
  { branches, clock, isStopped }: PostParts,
  targets: readonly AlertTarget[],
  gid: string,
  facts: AlertFacts,
): Promise<boolean> {
  async function post(target: AlertTarget, position: number): Promise<boolean> {
    for (let attempt = 1; attempt <= TRIES_MAX && !isStopped(); attempt++) {
      const { result } = await branches.call(toAlertCall(target, { gid, facts, position, attempt }))
      if (result === 'success') return true
      if (attempt < TRIES_MAX) await delay(clock, FIRST_WAIT_MS * 5 ** (attempt - 1))
    }
    return false
  }
  const posted = await Promise.all(targets.map(post))
  return posted.every((isPosted) => isPosted)
}
