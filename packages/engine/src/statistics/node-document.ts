/** The text in which a node tells its sums to the others. Code of another version may have written what is read here. */
import { isDocumentText } from '@counterstep/core'
import { OPS, type Op } from '@counterstep/protocol'
import { OTHER } from '../other-key.ts'
import { addSums } from './add-sums.ts'
import { BUCKETS } from './histogram.ts'
import { MINUTES } from './minute-ring.ts'
import { COUNTS, WHOLE } from './node-statistics.ts'
import { countAll, type NodeSums, type PartSums, type ServiceLoad } from './node-sums.ts'

const FORMAT = 1
/** A node tells the sums of this many services and ops, and of this many names. The rest is told as `other`. */
const TOLD_MAX = 50
const COLUMNS = COUNTS + BUCKETS
const TEXT_LENGTH_MAX = 1_024

/** Writes the text. It tells of fewer services and names where it would be too long for a document. */
export function writeNodeDocument(sums: NodeSums): string {
  for (let told = TOLD_MAX; told > 0; told = Math.floor(told / 2)) {
    const services = keepMost(sums.services, told)
    const text = JSON.stringify({ format: FORMAT, ...sums, services, names: keepMost(sums.names, told) })
    if (isDocumentText(text)) return text
  }
  return JSON.stringify({ format: FORMAT, ...sums, services: [], names: [], refused: [], loads: [] })
}

function keepMost(sums: readonly PartSums[], max: number): readonly PartSums[] {
  const most = [...sums].sort((left, right) => countAll(right.hour) - countAll(left.hour))
  const rest = addSums(most.slice(max), ({ part }) => part).map((each) => ({ ...each, key: OTHER }))
  return addSums([...most.slice(0, max), ...rest])
}

/** Reads the text. The result is undefined if it is not of this format. */
export function readNodeDocument(text: string): NodeSums | undefined {
  const value = parse(text)
  if (!isRecord(value) || value.format !== FORMAT) return undefined
  const { id, version, services, names, refused, loads } = value
  if (!isText(id) || !isText(version)) return undefined
  if (!isList(services, isPart) || !isList(names, isPart)) return undefined
  if (!isList(refused, isCountOfCode) || !isList(loads, isLoad)) return undefined
  const { startedAt, inFlight, inFlightMax, loopP99Ms, shortSeconds } = value
  if (!isCount(startedAt) || !isCount(inFlight) || !isCount(inFlightMax)) return undefined
  if (!isCount(loopP99Ms) || !isCount(shortSeconds)) return undefined
  const numbers = { startedAt, inFlight, inFlightMax, loopP99Ms, shortSeconds }
  return { id, version, ...numbers, services, names, refused, loads }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Such a text is of no format.
    return undefined
  }
}

function isPart(value: unknown): value is PartSums {
  if (!isRecord(value)) return false
  const { key, part, minutes, short, hour } = value
  const isKnown = part === WHOLE || OPS.includes(part as Op)
  return (
    isText(key) &&
    isKnown &&
    isList(minutes, isMinute) &&
    minutes.length <= MINUTES &&
    isRow(short, COLUMNS) &&
    isRow(hour, COLUMNS)
  )
}

function isMinute(value: unknown): value is PartSums['minutes'][number] {
  return Array.isArray(value) && isCount(value[0]) && isRow(value[1], COUNTS)
}

function isRow(value: unknown, length: number): value is readonly number[] {
  return isList(value, isCount) && value.length === length
}

function isCountOfCode(value: unknown): value is readonly [string, number] {
  return Array.isArray(value) && isText(value[0]) && isCount(value[1])
}

function isLoad(value: unknown): value is ServiceLoad {
  return isRecord(value) && isText(value.service) && isCount(value.inFlight) && isCount(value.queued)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX
}

function isList<T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isOne)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
