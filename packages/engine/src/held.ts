import type { Run } from '@counterstep/core'

/** A transaction that this node runs, and who waits on it here. */
export interface Held {
  run: Run
  /** The earliest tick that is already arranged. */
  tickAt: number
  /** Told when a change is durable, or with false when the run ended before that. */
  readonly onDurable: { readonly changed: number; readonly tell: (durable: boolean) => void }[]
}
