import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Brought } from '@counterstep/test-servers'
import { startBranch } from '../harness/branch.ts'
import { readFlushes } from '../harness/read-flushes.ts'
import { loadProgram } from '../load-program.ts'
import type { EngineKind } from '../peers/engine.ts'
import { EngineRows, toRowName } from '../peers/engine-rows.ts'
import { COMPARED, chooseEngines, ENGINES } from '../peers/engines.ts'
import { type OpenedEngines, openEngines } from '../peers/open-engines.ts'
import { listCallers, peersTable } from '../peers/peers-table.ts'
import { RELAY_ENGINE } from '../peers/relay-engine.ts'
import { isInMemory } from '../report/machine.ts'
import { measureInTurn, withCpuSeconds } from '../rounds.ts'
import { divideSpreads, type Ratio, type Row, rowNamed, toRatio } from '../row.ts'
import type { Outcome, Scenario, ScenarioContext } from '../scenario.ts'
import { Wrk } from '../wrk/run-wrk.ts'
import { counted } from './counted.ts'

const REST_SECONDS_MAX = 1
/** A quiet machine flushes a few times a second while all engines rest. */
const REST_FLUSHES_MAX = 20

export const peers: Scenario = {
  name: 'peers',
  summary:
    'the same sagas by each of our stores, DTM, Restate, DBOS, rows by hand and the relay, with --connections callers and with one; one table for all',
  run: async (context) => await runPeers(context, await loadProgram('wrk')),
}

/** Runs the scenario with wrk, or where that is missing with our own load. */
export async function runPeers(
  context: ScenarioContext,
  wrk: Brought,
  engines: readonly EngineKind[] = ENGINES,
): Promise<Outcome> {
  const { harness, settings, progress } = context
  const kinds = chooseEngines(settings.only, engines)
  const branch = await startBranch(harness)
  const { opened, skipped } = await openEngines(context, branch.url, kinds)
  const load = { branch, wrk: wrk.type === 'found' ? new Wrk(wrk.path, harness) : undefined }
  const measurable = opened.map((engine) => new EngineRows(context, engine, load))
  progress.show('watching the engines at rest')
  const rest = await watchRest(measurable, Math.min(settings.seconds, REST_SECONDS_MAX), harness.ending)
  const callers = listCallers(settings.connections)
  const sources = measurable.flatMap((engine) =>
    callers.map((count) => ({ group: counted(count, 'caller'), source: engine.toSource(count) })),
  )
  const measured = await measureInTurn(
    context,
    sources.map(({ source }) => source),
  )
  const rows = measured.map((row, index) => ({ ...row, group: sources[index]?.group ?? '' }))
  progress.show('counting what is stored')
  const counters: Record<string, number> = {}
  for (const engine of measurable) {
    for (const [name, count] of Object.entries(await engine.audit()))
      counters[`${engine.engine.kind.name} ${name}`] = count
  }
  return {
    hasStoreForEachRow: true,
    rows,
    table: peersTable(rows, callers),
    ratios: callers.flatMap((count) => listRatios(rows, count)),
    counters,
    notes: [
      ...listCautions(wrk, rest),
      ...describeEngines({ opened, skipped }),
      ...describeLoad(wrk, settings.branches),
      ...describeRest(rest),
      describeFlushes(rest),
      'memory: the PSS of the processes at the end of a turn; a database keeps all sagas of the run',
    ],
  }
}

/** Divides the rates of each pair that was measured, and those with one caller also by their times. */
function listRatios(rows: readonly Row[], callers: number): readonly Ratio[] {
  return COMPARED.flatMap(([above, below]) => {
    const [aboveName, belowName] = [toRowName(above.name, callers), toRowName(below.name, callers)]
    if (![aboveName, belowName].every((name) => rows.some((row) => row.name === name))) return []
    const [ours, theirs] = [rowNamed(rows, aboveName), rowNamed(rows, belowName)]
    const name = `${above.name}/${toRowName(below.name, callers)}`
    const hasTimes = callers === 1 && below !== RELAY_ENGINE
    return [toRatio(name, ours, theirs), ...(hasTimes ? toTimeRatio(name, ours, theirs) : [])]
  })
}

/** Less is better here. */
function toTimeRatio(name: string, above: Row, below: Row): readonly Ratio[] {
  if (above.p50Ms === null || below.p50Ms === null) return []
  return [{ name: `p50 of ${name}`, spread: divideSpreads(above.p50Ms, below.p50Ms) }]
}

function describeEngines({ opened, skipped }: OpenedEngines): readonly string[] {
  return [
    ...opened.map(({ kind, engine }) => `${kind.name}: ${engine.facts}; ${kind.note}`),
    ...skipped.map(({ kind, reason }) => `${kind.name} is skipped: ${reason}`),
    ...(opened.some(({ kind }) => kind.isPeer)
      ? [
          'the peers were set up by us, with their defaults, and no one who knows them has tuned them; the bench is the job that Counterstep is tuned for',
        ]
      : []),
  ]
}

function describeLoad(wrk: Brought, branches: number): readonly string[] {
  const program =
    wrk.type === 'found'
      ? 'wrk with one thread and one script; its times are those of the measured run, with its own correction for answers that came late'
      : 'our own load program'
  return [
    `load: ${program}; one branch process of bare Node for all engines, which answers at once; each request has a gid of its own, except the relay’s`,
    `audit: each answer was a success, in each turn the branches were called ${branches} times for each answer, and what an engine stores was counted or asked for`,
    'CPU µs: the processes of an engine and its database, for one saga, without the load and the branches',
  ]
}

function describeFlushes({ flushes }: Rest): string {
  return flushes === undefined
    ? 'flushes: the kernel’s counters of the disks are not readable here'
    : `flushes: those of all disks by the kernel’s count, for one saga; at rest, with all engines up, there were ${flushes.toFixed(1)} in a second`
}

/** The work of all engines while none is asked, in a second. */
interface Rest {
  /** Undefined where the system does not tell. */
  readonly flushes: number | undefined
  readonly cpuSeconds: number | undefined
}

async function watchRest(
  engines: readonly EngineRows[],
  seconds: number,
  signal: AbortSignal,
): Promise<Rest> {
  const before = readFlushes()
  const { cpuSeconds } = await withCpuSeconds(
    engines.flatMap(({ workers }) => workers),
    () => sleep(seconds * 1_000, undefined, { signal }),
  )
  const after = readFlushes()
  const known = cpuSeconds.filter((each) => each !== undefined)
  return {
    flushes: before === undefined || after === undefined ? undefined : (after - before) / seconds,
    cpuSeconds:
      known.length < cpuSeconds.length ? undefined : known.reduce((sum, each) => sum + each, 0) / seconds,
  }
}

function describeRest({ cpuSeconds }: Rest): readonly string[] {
  if (cpuSeconds === undefined) return []
  const share = (cpuSeconds * 100).toFixed(0)
  return [
    `all engines run all the time and are asked in turn; before the first round they took ${share} % of a core together`,
  ]
}

function listCautions(wrk: Brought, { flushes }: Rest): readonly string[] {
  return [
    ...(flushes !== undefined && flushes > REST_FLUSHES_MAX
      ? [
          `CAUTION: something else flushed the disks ${flushes.toFixed(0)} times a second before the rounds, so that the flushes of a saga are less than they seem`,
        ]
      : []),
    ...(wrk.type === 'missing'
      ? [`CAUTION: our own load program takes more of the machine than wrk does: ${wrk.reason}`]
      : []),
    // The private database servers have their files there.
    ...(isInMemory(tmpdir())
      ? ['CAUTION: the files of the databases lie in memory, where a flush costs nothing']
      : []),
  ]
}
