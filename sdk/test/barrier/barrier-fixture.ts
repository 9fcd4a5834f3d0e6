import type { JsonValue } from '@counterstep/protocol'
import { type BarrierCall, type BarrierOutcome, BranchFailure, BranchOngoing } from '../../src/index.ts'

/** The outcome of a call's business, in words that every driver can act out. */
export type SuiteEffect =
  | { readonly does: 'succeed'; readonly answer?: unknown }
  /** It answers what it was handed of the op that it undoes: `{ "original": … }`. */
  | { readonly does: 'tell-original' }
  /** It writes its effect, and then says no. */
  | { readonly does: 'fail'; readonly message?: string }
  | { readonly does: 'not-yet' }
  /** It writes its effect, and then throws what is no failure. */
  | { readonly does: 'break' }

/**
 * This is one driver on one real database. An effect is a row, written in the transaction of the barrier, that tells
 * its op.
 */
export interface BarrierFixture {
  run(call: BarrierCall, effect: SuiteEffect): Promise<BarrierOutcome>
  /** These are the ops whose effects committed for this gid, in their order. */
  effects(gid: string): Promise<readonly string[]>
  /** Does the same for many gids, where one question costs less than one for each. */
  effectsOfEach?(gids: readonly string[]): Promise<readonly (readonly string[])[]>
  /** Says how many barrier rows stand for this gid. */
  rows(gid: string): Promise<number>
  /** `run` on a connection that breaks at COMMIT, before or after the database did it. */
  runLosingCommit?(call: BarrierCall, effect: SuiteEffect, when: 'before' | 'after'): Promise<BarrierOutcome>
  /** Tells whether a failing effect that has written leaves nothing: not so in a script of Redis. */
  readonly rollsBack: boolean
  /** Deletes the rows that were made before that instant, where the database does not do so itself. */
  purge?(before: number): void | Promise<void>
  /** The server's own count of deadlocks, if it has one. */
  deadlocks?(): Promise<number>
  close(): Promise<void>
}

/** Returns the error that an effect of the suite throws once it has written, if it throws. */
export function thrownBy(effect: SuiteEffect): Error | undefined {
  switch (effect.does) {
    case 'succeed':
    case 'tell-original':
      return undefined
    case 'fail':
      return new BranchFailure(effect.message ?? 'said no', { code: 'SAID_NO' })
    case 'not-yet':
      return new BranchOngoing({ retryAfterMs: 1_500 })
    case 'break':
      return new Error('broken on purpose')
  }
}

/** Returns the answer of an effect of the suite that succeeds, which was handed `original`. */
export function answerBy(effect: SuiteEffect, original: JsonValue | undefined): unknown {
  if (effect.does === 'tell-original') return { original }
  return effect.does === 'succeed' ? effect.answer : undefined
}
