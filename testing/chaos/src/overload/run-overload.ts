/** Half the capacity, then five times of it, then half again, against one server whose capacity is fixed by its settings. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Audit, audit } from './audit.ts'
import { BranchService } from './branch-service.ts'
import { type Offered, openLoop } from './open-loop.ts'
import { Orchestrator } from './orchestrator.ts'
import { type PhaseFigures, settledAfterMs, toFigures } from './phase.ts'
import { growthBytes, readMemory } from './process-memory.ts'
import { readStoredRows } from './stored-rows.ts'
import { type Submitted, Submitter } from './submitter.ts'

export interface OverloadSettings {
  /** Branch calls to the one target at once: what fixes the capacity. */
  readonly callsInFlightMax: number
  readonly calmSeconds: number
  readonly overloadSeconds: number
  readonly afterSeconds: number
}

export interface OverloadReport {
  readonly capacityPerSecond: number
  readonly calm: PhaseFigures
  readonly overload: PhaseFigures
  readonly after: PhaseFigures
  readonly settledAfterMs: number
  readonly audit: Audit
  /** The growth during the overload, over the memory after the calm. Undefined where the system does not tell. */
  readonly growthBytes: number | undefined
  /** How long this process could not do anything at worst: what it measured then, it measured of itself. */
  readonly heldUpMsMax: number
}

const BRANCH_MS = 50
const BRANCHES = 2
/** One third of the sagas in flight is at a branch; the others wait for their turn or for the disk. */
const IN_FLIGHT_PER_CALL = 3
/** All branches are of one target, which has a half of what is not reserved: three eighths of the whole. */
const PLACES_PER_PLACE_OF_ONE_TARGET = 8 / 3
const CALM_SHARE = 0.5
const OVERLOAD_SHARE = 5
const CONNECTIONS_MAX = 512
const WAIT_SECONDS = 30
/** A saga in the calm at the end that takes longer than so many times the p99 of the calm before is not normal yet. */
const NORMAL_FACTOR = 2
const NORMAL_MS_MIN = 500

export async function runOverload(settings: OverloadSettings): Promise<OverloadReport> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'counterstep-overload-'))
  const branches = await BranchService.start(BRANCH_MS)
  try {
    const { callsInFlightMax } = settings
    const flags = {
      'calls-in-flight-max': Math.ceil(PLACES_PER_PLACE_OF_ONE_TARGET * callsInFlightMax),
      'in-flight-max': Math.ceil(PLACES_PER_PLACE_OF_ONE_TARGET * IN_FLIGHT_PER_CALL * callsInFlightMax),
      'log-level': 'error',
    }
    const orchestrator = await Orchestrator.start({ dataFolder, flags })
    try {
      return await offer(settings, { dataFolder, branches, orchestrator })
    } finally {
      await orchestrator.stop()
    }
  } finally {
    await branches.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

interface World {
  readonly dataFolder: string
  readonly branches: BranchService
  readonly orchestrator: Orchestrator
}

async function offer(settings: OverloadSettings, world: World): Promise<OverloadReport> {
  const { branches, orchestrator, dataFolder } = world
  const submitter = new Submitter(orchestrator, CONNECTIONS_MAX)
  const delay = monitorEventLoopDelay()
  delay.enable()
  const capacityPerSecond = (settings.callsInFlightMax / BRANCHES) * (1_000 / BRANCH_MS)
  const phase = (name: string, share: number, seconds: number) =>
    offerPhase(name, submitter, branches.url, { perSecond: share * capacityPerSecond, seconds })
  const calm = await phase('calm', CALM_SHARE, settings.calmSeconds)
  const before = readMemory(orchestrator.pid)
  const overload = await phase('overload', OVERLOAD_SHARE, settings.overloadSeconds)
  const growth = growthBytes(before, readMemory(orchestrator.pid))
  const after = await phase('after', CALM_SHARE, settings.afterSeconds)
  delay.disable()
  await submitter.close()
  const calls = await branches.calls()
  await orchestrator.stop()
  const calmFigures = toFigures(calm, settings.calmSeconds)
  const normalMs = Math.max(NORMAL_MS_MIN, NORMAL_FACTOR * (calmFigures.acceptedP99Ms ?? 0))
  return {
    capacityPerSecond,
    calm: calmFigures,
    overload: toFigures(overload, settings.overloadSeconds),
    after: toFigures(after, settings.afterSeconds),
    settledAfterMs: settledAfterMs(after, normalMs),
    audit: audit({ submitted: [...calm, ...overload, ...after], calls, rows: readStoredRows(dataFolder) }),
    growthBytes: growth,
    heldUpMsMax: delay.max / 1e6,
  }
}

/** The next phase begins when the last answer of this one has come: nothing of it is counted there. */
function offerPhase(
  name: string,
  submitter: Submitter,
  branchUrl: string,
  offered: Offered,
): Promise<readonly Submitted[]> {
  const target = { first: `${branchUrl}/first`, second: `${branchUrl}/second`, undo: `${branchUrl}/undone` }
  return openLoop(offered, (index, intendedAt) =>
    submitter.submit(
      {
        gid: `${name}-${index}`,
        branches: [
          { action: target.first, compensation: target.undo },
          { action: target.second, compensation: target.undo },
        ],
      },
      intendedAt,
      WAIT_SECONDS,
    ),
  )
}
