import { processPath } from '../harness/paths.ts'
import { type EngineKind, toWords } from './engine.ts'
import { installPinned, pinnedPlaces } from './pinned-packages.ts'
import type { SagaRequest } from './saga-request.ts'
import { sagaRequestJob } from './saga-request.ts'
import { startRestate } from './start-restate.ts'

const PATH = '/saga/run'

export const RESTATE_ENGINE: EngineKind = {
  name: 'restate',
  title: 'Restate 1.7.12',
  isPeer: true,
  note: 'one server and one handler that calls the branches in steps; each step is recorded before the next one, in files of its own; no idempotency key, so a repeated request would be a second saga',
  async open({ harness, settings }, branchUrl) {
    const { folder, versions } = await installPinned('restate', pinnedPlaces(harness))
    const server = await startRestate(harness, folder)
    const handler = harness.start({
      name: 'restate handler',
      script: processPath('restate-saga'),
      args: [folder],
      environment: { NODE_ENV: 'production', RESTATE_LOGGING: 'ERROR' },
    })
    const empty: SagaRequest = { gid: 'first', branches: [] }
    await server.register(await handler.url(), { path: PATH, body: empty })
    return {
      processes: [server.worker, handler],
      database: [],
      facts: `${versions}; its defaults except for places, logs and telemetry (${toWords(server.settings)})`,
      toJob: (load) => sagaRequestJob(`${server.ingressUrl}${PATH}`, branchUrl, settings.branches, load),
      // It keeps no list of calls that have ended; the calls of the branches are counted in each turn.
      audit: () => Promise.resolve({}),
    }
  },
}
