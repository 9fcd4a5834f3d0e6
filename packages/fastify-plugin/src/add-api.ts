import type { KeyFinder, Sessions } from '@counterstep/access'
import type { EngineSettings } from '@counterstep/engine'
import { VERSION } from '@counterstep/protocol'
import {
  addNativeApi,
  type ConsoleDeps,
  DEFAULT_SERVER_LIMITS,
  type NativeApiDeps,
  warnOfBounds,
} from '@counterstep/server'
import type { FastifyInstance } from 'fastify'
import { listPanels } from './list-panels.ts'
import type { Face } from './options.ts'
import { openServerBounds } from './server-bounds.ts'

export const DEFAULT_PREFIX = '/counterstep'

interface ApiParts
  extends Required<Pick<NativeApiDeps, 'engine' | 'logger' | 'registry' | 'gate' | 'insecure'>> {
  readonly sessions?: Sessions
  readonly keys?: KeyFinder
  readonly settings: EngineSettings
}

/** Adds the HTTP API in a scope of its own, so that nothing that it sets reaches the app's other routes. */
export async function addApi(app: FastifyInstance, face: Face, parts: ApiParts): Promise<void> {
  const { engine, logger, registry, gate, insecure, sessions, keys, settings } = parts
  const { handlerTimeoutMs } = DEFAULT_SERVER_LIMITS
  const bounds = openServerBounds(app, face, warnOfBounds(logger))
  await app.register(
    async function counterstepApi(scope) {
      scope.addHook('onRoute', hideFromDocuments)
      addNativeApi(scope, {
        ...{ engine, logger, registry, gate },
        bounds,
        insecure: [...(gate.hasKeys ? [] : ['no-keys']), ...insecure],
        handlerTimeoutMs,
        version: VERSION,
        page: 'none',
        panels: listPanels(settings, keys),
        ...(face.console === true && { console: openConsole(sessions) }),
      })
    },
    { prefix: face.prefix ?? DEFAULT_PREFIX },
  )
}

/** The files are looked for when a caller first asks for one. */
function openConsole(sessions: Sessions | undefined): ConsoleDeps {
  return {
    async directory() {
      const { consoleDirectory } = await import('@counterstep/console/assets')
      return consoleDirectory()
    },
    ...(sessions && { sessions }),
  }
}

/** Hides a route from @fastify/swagger, which would put it into the document of the app's own routes. */
function hideFromDocuments(route: { schema?: object }): void {
  Object.assign(route, { schema: { ...route.schema, hide: true } })
}
