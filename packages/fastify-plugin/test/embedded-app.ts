import { openSqliteStore } from '@counterstep/store-sqlite'
import { type FastifyInstance, fastify } from 'fastify'
import { counterstep, type PluginOptions } from '../src/index.ts'

export const KEYLESS = { insecureNoKeys: true } as const

/** Registers the plugin in an app that is not ready yet. The plugin opens and closes the store in that file. */
export async function registerEmbedded(
  path: string,
  options: Partial<PluginOptions> = {},
  app: FastifyInstance = fastify(),
): Promise<FastifyInstance> {
  await app.register(counterstep, {
    store: () => openSqliteStore({ path }),
    targets: 'loopback',
    ...options,
  })
  return app
}
