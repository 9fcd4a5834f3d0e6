import type { DeathOrder } from '../service/aimed-death.ts'

/** How an edge of the network is hurt. */
export const HARMS = ['cut', 'refuse', 'black-hole', 'hold', 'latency', 'slice'] as const
export type Harm = (typeof HARMS)[number]

export type Edge =
  | { readonly type: 'client'; readonly server: number }
  | { readonly type: 'store'; readonly server: number }
  | { readonly type: 'bank'; readonly bank: number }

/** One thing that goes wrong, and for how long. */
export type NemesisAction =
  | { readonly type: 'kill-server'; readonly server: number; readonly downMs: number }
  | { readonly type: 'pause-server'; readonly server: number; readonly forMs: number }
  | { readonly type: 'kill-store'; readonly downMs: number }
  | { readonly type: 'pause-store'; readonly forMs: number }
  | { readonly type: 'kill-bank'; readonly bank: number; readonly downMs: number }
  /** The bank dies by itself in a plan call of a workflow, which may be aborted before the bank is back. */
  | {
      readonly type: 'aim-at-bank'
      readonly bank: number
      readonly order: DeathOrder
      readonly isAborted: boolean
      readonly downMs: number
    }
  | { readonly type: 'hurt-edge'; readonly edge: Edge; readonly harm: Harm; readonly forMs: number }
