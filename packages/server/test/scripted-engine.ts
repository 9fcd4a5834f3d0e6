import type { EngineApi, EngineHealth } from '@counterstep/engine'
import type { Gid, SubmitView, TransactionView } from '@counterstep/protocol'
import { planExample, problemsExample, requestExample, signalTakenExample } from '../src/openapi/examples.ts'
import { namesExample, overviewExample, servicesExample } from '../src/openapi/operator-examples.ts'
import { bulkExample, bulkPreviewExample } from '../src/routes/bulk/bulk-operations.ts'
import { savedViewExample } from '../src/routes/views/view-operations.ts'

export interface Call {
  readonly verb: string
  readonly arguments: readonly unknown[]
}

export interface ScriptedEngine extends EngineApi {
  readonly calls: readonly Call[]
}

export const READY: EngineHealth = {
  ready: true,
  store: { name: 'memory', durabilityClass: 'C', failover: 'none' },
  inFlight: 3,
  inFlightMax: 4096,
  targetsAtShare: 0,
}

export function buildView(gid: string, parts: Partial<TransactionView> = {}): TransactionView {
  const ops = [{ op: 'action', state: 'calling', attempts: 1 }] as const
  return {
    gid,
    kind: 'saga',
    status: 'submitted',
    createdAt: 1_000,
    updatedAt: 1_000,
    epoch: 1,
    branches: [{ id: '01', after: [], ops }],
    ...parts,
  }
}

export function buildSubmitView(gid: string, parts: Partial<SubmitView> = {}): SubmitView {
  return { ...buildView(gid), ack: 'durable', ...parts }
}

/** Makes an engine that answers what the test says, and records the calls that it gets. */
export function createScriptedEngine(script: Partial<EngineApi> = {}): ScriptedEngine {
  const calls: Call[] = []
  const note =
    <Arguments extends readonly unknown[], Value>(verb: string, answer: (...given: Arguments) => Value) =>
    (...given: Arguments): Value => {
      calls.push({ verb, arguments: given })
      return answer(...given)
    }
  const command = async (gid: Gid) => buildView(gid, { status: 'aborting' })
  return {
    calls,
    submit: note('submit', script.submit ?? (async () => buildSubmitView('order-1'))),
    accept: note('accept', script.accept ?? (async () => buildSubmitView('order-1'))),
    read: note('read', script.read ?? (async () => undefined)),
    registerBranch: note('registerBranch', script.registerBranch ?? (async (gid: Gid) => buildView(gid))),
    addBranch: note('addBranch', script.addBranch ?? (async (gid: Gid) => buildView(gid))),
    addRecord: note('addRecord', script.addRecord ?? (async (gid: Gid) => buildView(gid))),
    endRecorded: note('endRecorded', script.endRecorded ?? (async (gid: Gid) => buildView(gid))),
    submitPrepared: note('submitPrepared', script.submitPrepared ?? (async (gid: Gid) => buildView(gid))),
    get: note('get', script.get ?? (async (gid: Gid) => buildView(gid))),
    show: note('show', script.show ?? script.get ?? (async (gid: Gid) => buildView(gid))),
    showWhole: note('showWhole', script.showWhole ?? (async () => undefined)),
    readWhole: note('readWhole', script.readWhole ?? (async () => undefined)),
    waitForTurn: note('waitForTurn', script.waitForTurn ?? (async () => undefined)),
    list: note('list', script.list ?? (async () => ({ items: [] }))),
    problems: note('problems', script.problems ?? (async () => problemsExample)),
    abort: note('abort', script.abort ?? command),
    signal: note('signal', script.signal ?? (async () => signalTakenExample)),
    retry: note('retry', script.retry ?? command),
    retryOp: note('retryOp', script.retryOp ?? command),
    pause: note('pause', script.pause ?? command),
    resume: note('resume', script.resume ?? command),
    stop: note('stop', script.stop ?? command),
    skip: note('skip', script.skip ?? command),
    edit: note('edit', script.edit ?? command),
    preview: note('preview', script.preview ?? (async () => planExample)),
    showRequest: note('showRequest', script.showRequest ?? (async () => JSON.stringify(requestExample))),
    get isStopping() {
      return (script.health?.() ?? READY).reason === 'stopping'
    },
    overview: note('overview', script.overview ?? (async () => overviewExample)),
    services: note('services', script.services ?? (async () => servicesExample)),
    names: note('names', script.names ?? (async () => namesExample)),
    bulk: script.bulk ?? {
      preview: note('bulk.preview', async () => bulkPreviewExample),
      create: note('bulk.create', async () => bulkExample),
      list: note('bulk.list', async () => [bulkExample]),
      show: note('bulk.show', async () => bulkExample),
      command: note('bulk.command', async () => bulkExample),
    },
    views: script.views ?? {
      list: note('views.list', async () => [savedViewExample]),
      save: note('views.save', async () => savedViewExample),
      remove: note('views.remove', async () => undefined),
    },
    ...(script.watch === undefined ? {} : { watch: script.watch }),
    readStats: script.readStats ?? (async () => undefined),
    health: script.health ?? (() => READY),
    close: script.close ?? (async () => undefined),
  }
}
