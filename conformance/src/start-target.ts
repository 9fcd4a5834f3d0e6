/** An orchestrator that speaks DTM's dialect. */
export interface Target {
  readonly name: string
  /** Ends in /api/dtmsvr. */
  readonly url: string
  readonly stop: () => Promise<void>
}

export interface MissingTarget {
  readonly name: string
  readonly missing: string
}

export const STORES = ['sqlite', 'mysql', 'redis'] as const

export type StoreName = (typeof STORES)[number]

/** Starts a Counterstep server on that store, with the dialect on a free port. */
export async function startTarget(store: StoreName): Promise<Target | MissingTarget> {
  return { name: store, missing: 'the server does not speak the dialect yet; DTM_URL names another target' }
}

/** A target that somebody else has started and will stop. */
export function runningTarget(url: string): Target {
  return { name: new URL(url).host, url, stop: async () => undefined }
}
