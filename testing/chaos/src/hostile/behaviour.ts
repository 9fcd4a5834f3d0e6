import type { ServerResponse } from 'node:http'

/**
 * The meaning that an orchestrator must read in an answer. `again`: it does not know, and asks again. `success` and
 * `failure`: said explicitly. `success-or-again`: the answer may or may not arrive whole.
 */
export type Meaning = 'again' | 'success' | 'failure' | 'success-or-again'

/** The way in which a branch answers a request that it has read. */
export interface Behaviour {
  readonly name: string
  readonly meaning: Meaning
  answer(response: ServerResponse): void
}
