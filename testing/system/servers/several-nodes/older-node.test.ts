import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, it } from 'vitest'
import { proveOlderNode } from './older-node.ts'
import { type OlderProgram, unpackOlderProgram } from './older-program.ts'
import { type OwnStore, ownStore } from './own-store.ts'

for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, 'a node of the version before values, beside one of today', (serverUrl) => {
    let older: OlderProgram
    let store: OwnStore

    beforeAll(async () => {
      older = unpackOlderProgram()
      store = await ownStore(serverUrl)
    })

    afterAll(async () => {
      if (older.type === 'here') older.remove()
      await store.drop()
    })

    it('An older node runs the rows that it can read and leaves the others, which a node of today ends', async (context) => {
      if (older.type === 'missing') return context.skip(older.reason)
      const hidesNamed = server === 'redis'
      await proveOlderNode({ storeUrl: store.url, olderProgram: older.program, areAtOnce: true, hidesNamed })
    }, 120_000)
  })
}
