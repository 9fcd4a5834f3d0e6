import type { SagaSubmitRequest, TransactionView } from '@counterstep/protocol'
import { until } from '@counterstep/test-servers/until'
import { expect } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { BranchService } from './branch-service.ts'
import { Gate } from './gate.ts'
import { abort, pause, resume, submit, view } from './node-client.ts'
import { NodeProcess } from './node-process.ts'
import { type NamedRequest, serialSaga } from './saga-requests.ts'
import { AnswerCounts, untilFinal } from './until-final.ts'

const SAGAS = 12
const LEASE_MS = 1_000
const POLL_MS = 100
const STUCK_MS = 30_000
const NEWER = 'record cannot be read: the record is of a newer format'
/** The op, the branch and the epoch of a call. */
type SeenCall = readonly [string, string, number]
const TWO_ACTIONS: readonly SeenCall[] = [
  ['action', '01', 1],
  ['action', '02', 1],
]
const ONE_PLAN: readonly SeenCall[] = [['plan', '00', 1]]
const WORDS = { name: 'transfer', tags: { region: 'eu' } } as const
const CANNOT_BE_READ = 'the record of this transaction cannot be read'

export interface Upgrade {
  /** Where both versions keep their transactions. */
  readonly storeUrl: string
  readonly olderProgram: string
  /** Whether both versions run on the store at once, or one after the other. */
  readonly areAtOnce: boolean
  /** Whether a row with a name has a layout that the older version cannot read, or columns that it passes over. */
  readonly hidesNamed: boolean
}

/**
 * A node dies in the middle of sagas of old and new formats and layouts, and a node of the version before takes over what it can read.
 * Later a node of today ends the others.
 */
export async function proveOlderNode({
  storeUrl,
  olderProgram,
  areAtOnce,
  hidesNamed,
}: Upgrade): Promise<void> {
  const branches = await BranchService.start()
  const flags = { store: storeUrl, 'lease-ms': LEASE_MS, 'poll-ms': POLL_MS }
  const nodes: NodeProcess[] = []
  const start = async (program?: string): Promise<NodeProcess> => {
    // The older version does not know the switch.
    const args = program === undefined ? ['--accept-new-kinds'] : []
    const node = await NodeProcess.start(flags, { program, args })
    nodes.push(node)
    return node
  }
  try {
    const late = new Gate()
    branches.rule = async ({ branchId, op, epoch }) => {
      if ((op === 'plan' || (op === 'action' && branchId === '02')) && epoch === 1) await late.pass()
      return 'run'
    }
    const newer = names('newer').map((gid, index) => handingOn(gid, branches.url, index % 2 === 1))
    const trailed = names('trailed').map((gid) => serialSaga(gid, branches.url, 3))
    const named = names('named').map((gid) => ({ ...serialSaga(gid, branches.url, 3), ...WORDS }))
    const planned = names('planned').map((gid) => plannedCall(gid, branches.url))
    const plain = names('plain').map((gid) => serialSaga(gid, branches.url, 3))
    const readable = hidesNamed ? plain : [...named, ...plain]
    const hidden = hidesNamed ? named : []
    const today = await start()
    const before = areAtOnce ? await start(olderProgram) : undefined
    // The newer ones are due first, so that a node that takes over the plain ones has passed them by.
    const requests = [...newer, ...trailed, ...planned, ...named, ...plain]
    for (const request of requests) {
      expect(await submit(today.url, request)).toMatchObject({ type: 'view' })
    }
    await until('each saga has its long call in flight', STUCK_MS, () => late.arrived === requests.length)
    // Each command has its entry in the trail, and the saga goes on as if there had been none.
    for (const command of [pause, resume]) {
      const answers = await Promise.all(trailed.map(({ gid }) => command(today.url, gid)))
      expect(answers.map(({ type }) => type)).toEqual(trailed.map(() => 'view'))
    }
    await today.kill()
    const older = before ?? (await start(olderProgram))

    const ended = await Promise.all(readable.map(({ gid }) => untilFinal(gid, at(older))))
    expect(ended.map(({ status, epoch }) => [status, epoch])).toEqual(readable.map(() => ['succeeded', 2]))
    for (const { gid } of [...newer, ...trailed]) await expectLeftAlone(older, gid, branches)
    for (const { gid } of hidden) await expectHidden(older, gid, branches, TWO_ACTIONS)
    for (const { gid } of planned) await expectHidden(older, gid, branches, ONE_PLAN)
    const refused = await submit(older.url, handingOn('newer-refused', branches.url))
    expect(refused).toMatchObject({ type: 'problem', status: 422 })
    expect(await older.stop()).toMatchObject({ code: 0 })

    const again = await start()
    const left = [...newer, ...trailed, ...planned, ...hidden]
    const views = await Promise.all(left.map(({ gid }) => untilFinal(gid, at(again))))
    late.open()
    expect(views.map(({ status, epoch }) => [status, epoch])).toEqual(left.map(() => ['succeeded', 2]))
    expect([...ended, ...views].flatMap((each) => auditEffects(branches.ledger, each))).toEqual([])
    expect(views.slice(0, SAGAS).flatMap((each) => findWrongValues(each, branches))).toEqual([])
    for (const { result } of views.slice(2 * SAGAS, 3 * SAGAS)) expect(result).toBe('planned')
    for (const { trail = [] } of views.slice(SAGAS, 2 * SAGAS))
      expect(trail.map(({ command }) => command)).toEqual(['pause', 'resume'])
    for (const { gid } of named) expect(await view(again.url, gid)).toMatchObject({ view: { gid, ...WORDS } })
    expect(await again.stop()).toMatchObject({ code: 0 })
    expect([...today.errors, ...again.errors]).toEqual([])
    // It has logged the aborts that it could not give and the rows that it could not show, and nothing else.
    const isOfRecord = (line: string) => line.includes(CANNOT_BE_READ)
    expect(older.errors.filter(isOfRecord)).toHaveLength(2 * SAGAS)
    const others = older.errors.filter((line) => !isOfRecord(line))
    const hiddenGids = hidesNamed ? /(named|planned)-\d+/ : /planned-\d+/
    for (const line of others) expect(line).toMatch(hiddenGids)
    expect(others.some((line) => /named-\d+/.test(line))).toBe(hidesNamed)
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

/** A workflow whose plan is one call. It has the sixth format. */
function plannedCall(gid: string, service: string): NamedRequest {
  const retry = { initialMs: 50, capMs: 500 }
  return {
    gid,
    kind: 'workflow',
    workflow: 'one-call',
    handler: `${service}/plan`,
    input: gid,
    grants: 0,
    retry,
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
  expect(listSeen(gid, branches)).toEqual(TWO_ACTIONS)
}

/** An older node cannot even show a row of a newer layout or kind. */
async function expectHidden(
  older: NodeProcess,
  gid: string,
  branches: BranchService,
  calls: readonly SeenCall[],
): Promise<void> {
  for (const ask of [view, abort]) {
    expect(await ask(older.url, gid)).toEqual({ type: 'problem', status: 500, code: 'SAGA_INTERNAL' })
  }
  expect(listSeen(gid, branches)).toEqual(calls)
}

function listSeen(gid: string, branches: BranchService): readonly SeenCall[] {
  return branches.calls(gid).map(({ op, branchId, epoch }) => [op, branchId, epoch])
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
