import type { Store } from '@counterstep/core'

/** A store with the one fault that none may have: it says of a new row that it is durable, and has not written it. */
export function forgetfulStore(store: Store): Store {
  const create: Store['create'] = () => {
    const now = Date.now()
    return Promise.resolve({ type: 'created', createdAt: now, now })
  }
  return new Proxy(store, {
    get: (target, name) => (name === 'create' ? create : Reflect.get(target, name)),
  })
}
