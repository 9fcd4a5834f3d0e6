import type { CrashCase } from './crash-chain.ts'
import { POINTS, type Point, STAGE_POINTS, WORKFLOW_POINTS } from './points.ts'

/** Passed once and again in a recovery: what was claimed is called, saved and finished a second time. */
const IN_RECOVERY: readonly Point[] = [
  'claim-before',
  'claim-after',
  'call-before',
  'call-after',
  'checkpoint-before',
  'checkpoint-after',
  ...STAGE_POINTS,
  ...WORKFLOW_POINTS,
  'decision-before',
  'decision-after',
  'finish-before',
  'finish-after',
  'commit-before',
  'commit-after',
]
/** How far into all hits of a point, since the last ones are in no two runs the same in number. */
const OF_OTHERS = { first: [1, 2, 3, 4], some: [0.2, 0.4, 0.6, 0.8] }
/** The long test would grow by half if these were as many. */
const OF_WORKFLOWS = { first: [1, 2], some: [0.5] }

/** Chooses the first hits of each point, and some on the way to the last one. */
export function chosenCases(counts: Readonly<Record<Point, number>>): CrashCase[] {
  const inScenario = POINTS.filter((point) => !isOfOpening(point)).flatMap((point) =>
    chooseHits(counts[point], isOfWorkflow(point) ? OF_WORKFLOWS : OF_OTHERS).map(
      (nth): CrashCase => ({ hit: { point, nth }, during: 'scenario' }),
    ),
  )
  const inRecovery = IN_RECOVERY.map((point): CrashCase => ({ hit: { point, nth: 1 }, during: 'recovery' }))
  return [...inScenario, ...inRecovery]
}

export function isOfOpening(point: Point): boolean {
  return point.startsWith('migration-')
}

function isOfWorkflow(point: Point): boolean {
  return WORKFLOW_POINTS.some((each) => each === point)
}

function chooseHits(count: number, { first, some }: typeof OF_OTHERS): number[] {
  const shares = some.map((share) => Math.floor(count * share))
  const hits = new Set([...first.filter((nth) => nth <= count), ...shares.filter((nth) => nth > 0)])
  return [...hits].sort((a, b) => a - b)
}
