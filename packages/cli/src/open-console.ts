import { type KeyRing, Sessions } from '@counterstep/access'
import type { Store } from '@counterstep/core'
import type { ConsoleDeps } from '@counterstep/server'

/**
 * Prepares the console. Its files are looked for when a caller first asks for one: in a clone they are built then. There
 * is a login only where there are keys.
 */
export function openConsole(store: Store, keys: KeyRing | undefined): ConsoleDeps {
  return {
    async directory() {
      const { consoleDirectory } = await import('@counterstep/console/assets')
      return consoleDirectory()
    },
    ...(keys && { sessions: new Sessions(store) }),
  }
}
