import type { SagaSubmitRequest, TransactionView } from '@counterstep/protocol'
import { until } from '@counterstep/test-servers/until'
import { expect } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { BranchService } from './branch-service.ts'
import { Gate } from './gate.ts'
import { abort, submit, view } from './node-client.ts'
import { NodeProcess } from './node-process.ts'
import { type NamedRequest, serialSaga } from './saga-requests.ts'
import { AnswerCounts, untilFinal } from './until-final.ts'

const SAGAS = 12
const LEASE_MS = 1_000
const POLL_MS = 100
const STUCK_MS = 30_000
const NEWER = 'record cannot be read: the record is of a newer format'
const CANNOT_BE_READ = 'the record of this transaction cannot be read'

export interface Upgrade {
  /** Where both versions keep their transactions. */
  readonly storeUrl: string
  readonly olderProgram: string
  /** Whether both versions run on the store at once, or one after the other. */
  readonly areAtOnce: boolean
}

/**
 * A node dies in the middle of sagas of old and new formats, and a node of the version before takes over what it can read.
 * Later a node of today ends the others.
 */
export async function proveOlderNode({ storeUrl, olderProgram, areAtOnce }: Upgrade): Promise<void> {
  const branches = await BranchService.start()
  const flags = { store: storeUrl, 'lease-ms': LEASE_MS, 'poll-ms': POLL_MS }
  const nodes: NodeProcess[] = []
  const start = async (program?: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start(flags, program)
    nodes.push(node)
    return node
  }
  try {
    const late = new Gate()
    branches.rule = async ({ branchId, op, epoch }) => {
      if (op === 'action' && branchId === '02' && epoch === 1) await late.pass()
      return 'run'
    }
    const newer = names('newer').map((gid, index) => handingOn(gid, branches.url, index % 2 === 1))
    const plain = names('plain').map((gid) => serialSaga(gid, branches.url, 3))
    const today = await start()
    const before = areAtOnce ? await start(olderProgram) : undefined
    // The newer ones are due first, so that a node that takes over the plain ones has passed them by.
    for (const request of [...newer, ...plain]) {
      expect(await submit(today.url, request)).toMatchObject({ type: 'view' })
    }
    await until('each saga has its long call in flight', STUCK_MS, () => late.arrived === 2 * SAGAS)
    await today.kill()
    const older = before ?? (await start(olderProgram))

    const ended = await Promise.all(plain.map(({ gid }) => untilFinal(gid, at(older))))
    expect(ended.map(({ status, epoch }) => [status, epoch])).toEqual(plain.map(() => ['succeeded', 2]))
    for (const { gid } of newer) await expectLeftAlone(older, gid, branches)
    const refused = await submit(older.url, handingOn('newer-refused', branches.url))
    expect(refused).toMatchObject({ type: 'problem', status: 422 })
    expect(await older.stop()).toMatchObject({ code: 0 })

    const again = await start()
    const views = await Promise.all(newer.map(({ gid }) => untilFinal(gid, at(again))))
    late.open()
    expect(views.map(({ status, epoch }) => [status, epoch])).toEqual(newer.map(() => ['succeeded', 2]))
    expect([...ended, ...views].flatMap((each) => auditEffects(branches.ledger, each))).toEqual([])
    expect(views.flatMap((each) => findWrongValues(each, branches))).toEqual([])
    expect(await again.stop()).toMatchObject({ code: 0 })
    expect([...today.errors, ...again.errors]).toEqual([])
    // It has logged the aborts that it could not give, and nothing else.
    expect(older.errors).toHaveLength(SAGAS)
    for (const line of older.errors) expect(line).toContain(CANNOT_BE_READ)
  } finally {
    await Promise.all(nodes.map((node) => (node.isAlive ? node.kill() : undefined)))
    await branches.stop()
  }
}

function names(kind: string): readonly string[] {
  return Array.from({ length: SAGAS }, (_, index) => `${kind}-${index}`)
}

/**
 * The same saga as a plain one, but each branch is told what the one before has answered. With a pivot as its last branch
 * it has the fourth format, else the third.
 */
function handingOn(gid: string, service: string, hasPivot = false): NamedRequest {
  const { branches, ...request } = serialSaga(gid, service, 3) as SagaSubmitRequest & NamedRequest
  return {
    ...request,
    branches: branches.map((branch, index) => {
      if ('wait' in branch) return branch
      const { id, action } = branch
      const from = branches[index - 1]?.id
      if (from === undefined) return branch
      const template = { before: { $from: from, at: '/done' } }
      const named = { ...(id === undefined ? {} : { id }), action, template }
      return hasPivot && index === branches.length - 1
        ? { ...named, role: 'pivot' }
        : { ...named, compensation: { url: `${service}/undo`, template } }
    }),
  }
}

function at({ url }: NodeProcess) {
  return { pickUrl: () => url, counts: new AnswerCounts() }
}

/** An older node shows the row by its columns alone, and neither calls its branches nor changes it when it is asked to. */
async function expectLeftAlone(older: NodeProcess, gid: string, branches: BranchService): Promise<void> {
  const seen = await view(older.url, gid)
  expect(seen).toMatchObject({ view: { gid, status: 'submitted', epoch: 1, attention: NEWER, branches: [] } })
  expect(await abort(older.url, gid)).toMatchObject({ type: 'problem', status: 500 })
  expect(await view(older.url, gid)).toEqual(seen)
  expect(branches.calls(gid).map(({ branchId, epoch }) => [branchId, epoch])).toEqual([
    ['01', 1],
    ['02', 1],
  ])
}

function findWrongValues({ gid }: TransactionView, branches: BranchService): string[] {
  const told = branches
    .calls(gid)
    .filter(({ branchId }) => branchId !== '01')
    .map(({ branchId, body }) => `${branchId} ${(JSON.parse(body) as { readonly before: string }).before}`)
  const meant = new Set([`02 ${gid} 01`, `03 ${gid} 02`])
  return [
    ...told.filter((each) => !meant.has(each)),
    ...[...meant].filter((each) => !told.includes(each)).map((each) => `${each} is missing`),
  ]
}
