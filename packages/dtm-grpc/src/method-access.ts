import type { RouteAccess, Stores } from '@counterstep/access'

/** States the scope that a key needs for a method, as on the route of the same command over HTTP. */
export interface MethodAccess {
  readonly access: RouteAccess
  /** The method stores this, which counts for the quota of the key. */
  readonly stores?: Stores
  /** A message has at most this many bytes. Absent: as many as a request may have. */
  readonly messageBytesMax?: number
}

/** A message that asks for a health or a description has a name or two. */
export const SMALL_MESSAGE_BYTES = 4_096

export const DTM_METHODS = {
  NewGid: { access: ['submit'] },
  Submit: { access: ['submit'], stores: 'transaction' },
  Prepare: { access: ['submit'], stores: 'transaction' },
  /** A client of DTM aborts its own TCC, so a key that may submit may also abort. */
  Abort: { access: ['submit', 'admin'] },
  RegisterBranch: { access: ['submit'], stores: 'branch' },
  PrepareWorkflow: { access: ['submit'], stores: 'transaction' },
  Subscribe: { access: ['admin'] },
  Unsubscribe: { access: ['admin'] },
  DeleteTopic: { access: ['admin'] },
} as const satisfies Readonly<Record<string, MethodAccess>>

export type DtmMethod = keyof typeof DTM_METHODS

/** Load balancers ask for the health and have no key. */
export const HEALTH_ACCESS: MethodAccess = { access: 'open', messageBytesMax: SMALL_MESSAGE_BYTES }
export const REFLECTION_ACCESS: MethodAccess = {
  access: ['submit', 'read'],
  messageBytesMax: SMALL_MESSAGE_BYTES,
}
