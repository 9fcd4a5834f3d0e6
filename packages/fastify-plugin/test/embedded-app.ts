import { openSqliteStore } from '@counterstep/store-sqlite'
import { type FastifyInstance, fastify } from 'fastify'
import { counterstep, type PluginOptions } from '../src/index.ts'

export const KEYLESS = { insecureNoKeys: true } as const

/** An app that has not become ready. Its store is in that file, and the plugin's. */
export async function embeddedApp(
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
