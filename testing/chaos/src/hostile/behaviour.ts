import type { ServerResponse } from 'node:http'

/**
 * What an orchestrator must make of it. `again`: it does not know, and asks again. `success` and `failure`: said
 * explicitly. `success-or-again`: the answer may or may not arrive whole.
 */
export type Meaning = 'again' | 'success' | 'failure' | 'success-or-again'

/** What a branch does with a request that it has read. */
export interface Behaviour {
  readonly name: string
  readonly meaning: Meaning
  answer(response: ServerResponse): void
}
