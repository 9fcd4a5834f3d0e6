import type { Store } from '@counterstep/core'
import type { StorePlace } from './race-messages.ts'

/** Opens the store by the module's own instance in this process, which shares only the database with other processes. */
export async function openStoreAt({ moduleUrl, opener, options }: StorePlace): Promise<Store> {
  const module: Readonly<Record<string, unknown>> = await import(moduleUrl)
  const open = module[opener]
  if (typeof open !== 'function') throw new TypeError(`${moduleUrl} exports no function ${opener}`)
  return open(options)
}
