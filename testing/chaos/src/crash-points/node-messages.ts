import type { Point } from './points.ts'

/** The place of a node's store, and the point at which it dies before an order could reach it. */
export interface NodeArguments {
  readonly path: string
  /** The bank's file, if the branches are functions of the node itself. */
  readonly ownBank?: string
  readonly armed?: Hit
  /** A fault on purpose, to see that the audit finds it: what is accepted is never written. */
  readonly mutant?: 'forgetful'
}

export interface Hit {
  readonly point: Point
  readonly nth: number
}

export type NodeOrder =
  | { readonly type: 'arm'; readonly hit: Hit }
  | { readonly type: 'disarm' }
  /** Purges what may go, and writes and removes documents. */
  | { readonly type: 'maintain' }

export type NodeNews =
  | { readonly type: 'listening'; readonly url: string }
  | { readonly type: 'armed' }
  | { readonly type: 'disarmed'; readonly counts: Readonly<Record<Point, number>> }
  | { readonly type: 'maintained' }
