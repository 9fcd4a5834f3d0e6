import type { RouteAccess } from '@counterstep/access'

/** What a key must have for a route of DTM's, once there are keys. */
interface Guarded {
  readonly config: { readonly access: RouteAccess; readonly changesState?: boolean }
}

export const OPEN: Guarded = { config: { access: 'open' } }
export const SUBMIT: Guarded = { config: { access: ['submit'] } }
/** Who may submit may take it back, and a client of DTM aborts its own TCC. */
export const SUBMIT_OR_ADMIN: Guarded = { config: { access: ['submit', 'admin'] } }
export const READ: Guarded = { config: { access: ['read'] } }
export const ADMIN: Guarded = { config: { access: ['admin'] } }
/** DTM's clients change topics and due times by GET. The guard against browsers takes these for what they do. */
export const ADMIN_BY_GET: Guarded = { config: { access: ['admin'], changesState: true } }
