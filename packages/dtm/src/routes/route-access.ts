import type { RouteAccess, Stores } from '@counterstep/access'

/** States the scope that a key needs for a route of DTM's API, once there are keys. */
interface Guarded {
  readonly config: { readonly access: RouteAccess; readonly changesState?: boolean; readonly stores?: Stores }
}

export const OPEN: Guarded = { config: { access: 'open' } }
export const SUBMIT: Guarded = { config: { access: ['submit'] } }
/** These two have something stored, which counts for the quota of the key. */
export const STORE_TRANSACTION: Guarded = { config: { access: ['submit'], stores: 'transaction' } }
export const STORE_BRANCH: Guarded = { config: { access: ['submit'], stores: 'branch' } }
/** Who may submit may take it back, and a client of DTM aborts its own TCC. */
export const SUBMIT_OR_ADMIN: Guarded = { config: { access: ['submit', 'admin'] } }
export const READ: Guarded = { config: { access: ['read'] } }
export const ADMIN: Guarded = { config: { access: ['admin'] } }
/** DTM's clients change topics and due times by GET. The guard against browsers takes these for what they do. */
export const ADMIN_BY_GET: Guarded = { config: { access: ['admin'], changesState: true } }
