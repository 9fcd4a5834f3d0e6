import type { EngineEvent, EngineObserver, StoreOutcome, StoreVerb } from '@counterstep/engine'
import {
  FINAL_STATUSES,
  type FinalStatus,
  KINDS,
  type Kind,
  OPS,
  type Op,
  RESULTS,
  type Result,
} from '@counterstep/protocol'
import { Counter, type Registry } from 'prom-client'
import { CountFamily } from './count-family.ts'
import { DurationFamily } from './duration-family.ts'
import { createNameBound } from './event-names.ts'
import { countServiceCalls } from './service-calls.ts'

const CALL_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const WHOLE_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600, 86_400,
]
const STORE_VERBS: readonly StoreVerb[] = [
  'create',
  'read',
  'settle',
  'update',
  'renew',
  'claim-due',
  'claim',
  'postpone-due',
  'list',
  'stats',
  'purge',
  'read-documents',
  'write-document',
  'remove-document',
]
const STORE_OUTCOMES: readonly StoreOutcome[] = ['ok', 'conflict', 'fenced', 'unavailable']
const EVENT_NAMES_MAX = 100

/**
 * Counts what the engine reports. Each child of a metric is looked up here, once, and not at each event. `services` are the
 * names of the services that the configuration has, which are counted under labels of their own.
 */
export function createPrometheusObserver(
  registry: Registry,
  onEvent?: (event: EngineEvent) => void,
  services: readonly string[] = [],
): EngineObserver {
  const registers = [registry]
  const accepted = new CountFamily(
    {
      name: 'counterstep_transactions_accepted_total',
      help: 'Transactions accepted by this node.',
      labelNames: ['kind'],
    },
    registry,
  )
  const refused = new Counter({
    name: 'counterstep_transactions_refused_total',
    help: 'Submits refused without storing anything.',
    labelNames: ['code'],
    registers,
  })
  const claimed = new Counter({
    name: 'counterstep_transactions_claimed_total',
    help: 'Transactions taken over from the due index.',
    registers,
  })
  const acceptedByKind = buildTable(KINDS, (kind) => accepted.makeChild(kind))
  return {
    accepted: (kind) => acceptedByKind[kind].increment(),
    refused: (code) => refused.inc({ code }),
    claimed: (count) => claimed.inc(count),
    finished: observeFinished(registry),
    branchCalled: observeBranchCalls(registry, services),
    storeCalled: observeStoreCalls(registry),
    event: countEvents(registry, onEvent),
  }
}

function observeFinished(registry: Registry): EngineObserver['finished'] {
  const family = new DurationFamily(
    {
      name: 'counterstep_transaction_duration_seconds',
      help: 'Time from the accept of a transaction to its durable end.',
      labelNames: ['kind', 'status'],
      buckets: WHOLE_BUCKETS_SECONDS,
    },
    registry,
  )
  const children = buildTable(KINDS, (kind) =>
    buildTable(FINAL_STATUSES, (status) => family.makeChild(kind, status)),
  )
  return (kind: Kind, status: FinalStatus, durationMs) => children[kind][status].observe(durationMs / 1000)
}

function observeBranchCalls(registry: Registry, services: readonly string[]): EngineObserver['branchCalled'] {
  const family = new DurationFamily(
    {
      name: 'counterstep_branch_call_duration_seconds',
      help: 'Time of one call of a branch.',
      labelNames: ['op', 'result'],
      buckets: CALL_BUCKETS_SECONDS,
    },
    registry,
  )
  const children = buildTable(OPS, (op) => buildTable(RESULTS, (result) => family.makeChild(op, result)))
  const countServiceCall = countServiceCalls(registry, services)
  return (op: Op, result: Result, durationMs, service) => {
    children[op][result].observe(durationMs / 1000)
    if (service !== undefined) countServiceCall(service, op, result)
  }
}

function observeStoreCalls(registry: Registry): EngineObserver['storeCalled'] {
  const family = new DurationFamily(
    {
      name: 'counterstep_store_call_duration_seconds',
      help: 'Time of one call of the store, its queue included.',
      labelNames: ['verb', 'outcome'],
      buckets: CALL_BUCKETS_SECONDS,
    },
    registry,
  )
  const children = buildTable(STORE_VERBS, (verb) =>
    buildTable(STORE_OUTCOMES, (outcome) => family.makeChild(verb, outcome)),
  )
  return (verb, outcome, durationMs) => children[verb][outcome].observe(durationMs / 1000)
}

function countEvents(registry: Registry, onEvent?: (event: EngineEvent) => void): EngineObserver['event'] {
  const events = new Counter({
    name: 'counterstep_engine_events_total',
    help: 'Events that the engine reported.',
    labelNames: ['level', 'event'],
    registers: [registry],
  })
  const boundName = createNameBound(EVENT_NAMES_MAX)
  return (event) => {
    events.inc({ level: event.level, event: boundName(event.name) })
    onEvent?.(event)
  }
}

function buildTable<Key extends string, Value>(
  keys: readonly Key[],
  build: (key: Key) => Value,
): Record<Key, Value> {
  // The type is right, since the table has an entry for each key.
  return Object.fromEntries(keys.map((key) => [key, build(key)])) as Record<Key, Value>
}
