import type { EntryType, JsonValue } from '@counterstep/protocol'

/** Describes something that a function asks for, before it has its final id. */
export interface AskRequest {
  readonly is: Exclude<EntryType, 'patch'>
  readonly id: string
  readonly name: string
  readonly role?: 'pivot' | 'retriable'
  readonly hasUndo: boolean
  /** Returns what is planned for the final id: the input of a step, the branch of anything else. A run has none. */
  readonly write?: (id: string) => unknown
}

/** Something that the function has asked for. */
export interface Ask extends Omit<AskRequest, 'write'> {
  /** Two asks of one turn were made with the same knowledge, so neither was made because of the other. */
  readonly turn: number
  /** `journaled`: its end is there, and has not been delivered yet. `new`: no plan has it. */
  state: 'journaled' | 'pending' | 'new' | 'ended'
  /** Only a new one has it. */
  readonly content?: JsonValue
  /** The number of the slot under which it has run within this plan call. */
  slot?: number
}

/** A call or a step, which may have an effect in a service. */
export function hasEffect({ is }: Pick<Ask, 'is'>): boolean {
  return is === 'call' || is === 'step'
}

export function isOutstanding({ state }: Pick<Ask, 'state'>): boolean {
  return state !== 'ended'
}
