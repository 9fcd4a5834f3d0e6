import type { RouteAccess, Stores } from '@counterstep/access'

/** States the scope that a key needs for a route of DTM's API. It has no effect while the server has no keys. */
interface Guarded {
  readonly config: { readonly access: RouteAccess; readonly changesState?: boolean; readonly stores?: Stores }
}

export const OPEN: Guarded = { config: { access: 'open' } }
export const SUBMIT: Guarded = { config: { access: ['submit'] } }
/** The requests to routes with one of these two constants store something, which counts for the quota of the key. */
export const STORE_TRANSACTION: Guarded = { config: { access: ['submit'], stores: 'transaction' } }
export const STORE_BRANCH: Guarded = { config: { access: ['submit'], stores: 'branch' } }
/** A client of DTM aborts its own TCC, so a key that may submit may also abort. */
export const SUBMIT_OR_ADMIN: Guarded = { config: { access: ['submit', 'admin'] } }
export const READ: Guarded = { config: { access: ['read'] } }
export const ADMIN: Guarded = { config: { access: ['admin'] } }
/** DTM's clients change topics and due times by GET, so the guard against browsers must treat these as changes. */
export const ADMIN_BY_GET: Guarded = { config: { access: ['admin'], changesState: true } }
