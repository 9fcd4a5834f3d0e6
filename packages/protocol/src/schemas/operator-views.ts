import * as z from 'zod'
import { OPS } from '../words.ts'

// These are the answers about nodes, services and names.

const instant = (description: string) =>
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).describe(`${description} Milliseconds from the epoch.`)
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const figure = z.number().min(0)

const asOf = instant('When this was put together.')
const since = instant('When the memory of this node began.')
const nodes = count.describe('The nodes whose figures are in it.')

const outcomes = { success: count, failure: count, ongoing: count, unknown: count }

const latencySchema = z
  .object({ count, p50Ms: figure, p95Ms: figure, p99Ms: figure })
  .readonly()
  .describe('The percentiles of durations that were counted in two buckets an octave, up to 131,072 ms.')

const endedMinuteSchema = z
  .object({
    at: instant('When the minute began.'),
    accepted: count,
    succeeded: count,
    failed: count,
    stopped: count,
  })
  .readonly()

const minuteCountsSchema = z.object({ at: instant('When the minute began.'), ...outcomes }).readonly()

const serviceSchema = z
  .object({
    service: z.string().describe('The name that the configuration has, or else the host and the port.'),
    ops: z
      .array(
        z
          .object({
            op: z.enum(OPS),
            minutes: z.array(minuteCountsSchema).readonly(),
            latency: latencySchema.describe('The last hour.'),
          })
          .readonly(),
      )
      .readonly(),
    callsPerSecond: figure.describe('The last 5 minutes.'),
    outcomes: z.object(outcomes).readonly().describe('The last 5 minutes.'),
    latency: latencySchema.describe('The last 5 minutes.'),
    connections: count.describe('The calls in flight, each on a connection of its own.'),
    queued: count.describe('The calls that wait for a connection.'),
    waiting: count.describe('The unfinished transactions whose problem names this service.'),
    attention: count,
    looksDown: z
      .boolean()
      .describe('At least 20 calls in the last minute, and 90 % of them without a definite answer.'),
  })
  .readonly()

export const servicesViewSchema = z
  .object({ asOf, since, nodes, items: z.array(serviceSchema).readonly() })
  .readonly()
  .describe('Minutes without a call are left out.')

const nameSchema = z
  .object({
    name: z.string().describe('`-` stands for transactions without a name.'),
    minutes: z.array(endedMinuteSchema).readonly(),
    latency: latencySchema.describe('From the accept to the durable end, in the last hour.'),
  })
  .readonly()

export const namesViewSchema = z
  .object({ asOf, since, nodes, items: z.array(nameSchema).readonly() })
  .readonly()
  .describe('Minutes in which nothing was accepted and nothing ended are left out.')

const nodeSchema = z
  .object({
    id: z.string(),
    startedAt: instant('When it began.'),
    state: z.enum(['up', 'gone']).describe('gone: it has not been heard from for 45 s.'),
    seenAt: instant('When it was last heard from.'),
    inFlight: count,
    inFlightMax: count,
    loopP99Ms: figure.describe("The 99th percentile of the event loop's delay over the last minute."),
    version: z.string(),
  })
  .readonly()

const overviewStoreSchema = z
  .object({
    name: z.string(),
    durabilityClass: z.enum(['A', 'B', 'C']),
    failover: z.enum(['none', 'lossless', 'lossy']),
    state: z.enum(['up', 'away']).describe('away: the figures of the store are those of `asOf`.'),
    asOf: instant('When the figures of the store were read; 0: never.'),
  })
  .readonly()

const nameFigureSchema = z.object({ name: z.string(), ended: count, failed: count, p95Ms: figure }).readonly()
const serviceFigureSchema = z
  .object({ service: z.string(), calls: count, unknown: count, p95Ms: figure })
  .readonly()

export const overviewViewSchema = z
  .object({
    asOf,
    since,
    store: overviewStoreSchema,
    unfinished: z.object({ prepared: count, submitted: count, aborting: count }).readonly(),
    attention: count,
    paused: count,
    byHand: count,
    oldestDueAt: instant('The oldest due instant of all unfinished ones.').exactOptional(),
    oldestUnfinishedAt: instant('The accept of the oldest that is not paused.').exactOptional(),
    nodes: z.array(nodeSchema).readonly().describe('The node that answers is the first.'),
    minutes: z.array(endedMinuteSchema).readonly().describe('All names together, the oldest first.'),
    latency: latencySchema.describe('All names together, in the last hour.'),
    slowestNames: z.array(nameFigureSchema).readonly(),
    mostFailedNames: z.array(nameFigureSchema).readonly(),
    worstServices: z.array(serviceFigureSchema).readonly(),
    refusedSubmits: z.array(z.object({ code: z.string(), count }).readonly()).readonly(),
  })
  .readonly()
  .describe('Counts are of the last hour and of all nodes. Minutes in which nothing happened are left out.')
