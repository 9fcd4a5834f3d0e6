import { startRelay } from '../harness/harness.ts'
import { PAYLOAD } from '../scenarios/payload.ts'
import type { EngineKind } from './engine.ts'

export const RELAY_ENGINE: EngineKind = {
  name: 'relay',
  title: 'relay (nothing stored)',
  isPeer: false,
  note: 'one request in, the calls out one after the other, and nothing stored: the floor of fastify and undici',
  async open({ harness, settings }, branchUrl) {
    const { url, child } = await startRelay(harness, branchUrl, settings.branches)
    return {
      processes: [child],
      database: [],
      facts: 'nothing is stored',
      toJob: ({ connections, length }) => ({
        url: `${url}/relay`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(PAYLOAD),
        expectStatus: 200,
        expect: '"ok":true',
        connections,
        length,
      }),
      audit: () => Promise.resolve({}),
    }
  },
}
