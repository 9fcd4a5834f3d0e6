import { canary } from '@counterstep/test-servers/canary'
import fc from 'fast-check'
import type { Draft, Surroundings } from './draft.ts'

const BASE = ['', 'api', 'dtmsvr']
const NONE = fc.constant<Draft['query']>([])

/** Requests that DTM's clients send. `waits`: also those that wait for the end, which a change could make long. */
export function validDtmRequest(around: Surroundings, waits: boolean): fc.Arbitrary<Draft> {
  const { gids } = around
  const fresh = fc.uuid().map((text) => `d-${text}`)
  const known = fc.constantFrom(...gids)
  const body = { fresh: makeTransaction(around, fresh, waits), known: makeTransaction(around, known, false) }
  const command = (name: string, json: fc.Arbitrary<unknown>) => draft('POST', [name], NONE, json)
  const read = (path: readonly string[], query: fc.Arbitrary<Draft['query']> = NONE) =>
    draft('GET', path, query, fc.constant(undefined))
  return fc.oneof(
    { weight: 4, arbitrary: command('submit', body.fresh) },
    { weight: 2, arbitrary: command('prepare', body.fresh.filter(isPreparable)) },
    ...['abort', 'forceStop', 'resetNextCronTime'].map((name) => ({
      weight: 1,
      arbitrary: command(name, body.known),
    })),
    { weight: 1, arbitrary: read(['query'], pairs({ gid: fc.oneof(known, fresh) })) },
    { weight: 1, arbitrary: read(['all'], listQuery(known)) },
    { weight: 1, arbitrary: read(['resetCronTime'], pairs({ timeout: number(100), limit: number(5) })) },
    ...['newGid', 'version'].map((name) => ({ weight: 1, arbitrary: read([name]) })),
  )
}

/** Its branch is neither HTTP nor gRPC. */
const WITH_FILE = { gid: 'f', trans_type: 'saga', steps: [{ action: 'file:///x' }], payloads: [''] }

/**
 * Requests that may be refused, since they depend on the state: taken gids and branch ids, topics, and transactions
 * that are not there yet.
 */
export function dtmRequestOfState(around: Surroundings): fc.Arbitrary<Draft> {
  const { branchUrl, gids } = around
  const query = pairs({
    topic: fc.constantFrom('t1', 't2', 't3'),
    url: fc.constantFrom('a', 'b').map((path) => `${branchUrl}/${path}`),
    remark: fc.string({ unit: 'grapheme', maxLength: 20 }),
  })
  const nothing = fc.constant(undefined)
  const branch = fc.record({
    gid: fc.oneof(fc.constantFrom(...gids), fc.uuid()),
    trans_type: fc.constant('tcc'),
    branch_id: fc.constantFrom('01', '02', 'a:b'),
    data: fc.constantFrom('', '{}', 'x'),
    confirm: fc.constant(`${around.branchUrl}/confirm`),
    cancel: fc.constant(`${around.branchUrl}/cancel`),
  })
  return fc.oneof(
    draft('POST', ['submit'], NONE, makeTransaction(around, fc.constantFrom(...gids), false)),
    ...['registerBranch', 'registerTccBranch'].map((name) => draft('POST', [name], NONE, branch)),
    draft('GET', ['subscribe'], query, nothing),
    draft('GET', ['unsubscribe'], query, nothing),
    draft('DELETE', ['topic', 't1'], NONE, nothing),
    ...workflowRequests(around),
    draft('POST', ['submit'], NONE, fc.constant(WITH_FILE)),
    draft('GET', ['scanKV'], NONE, nothing),
    draft('POST', ['registerXaBranch'], NONE, fc.constant({ gid: 'x', trans_type: 'xa', branch_id: '01' })),
  )
}

/** Some of these gids are workflows, others are transactions of other types, and some are not there. */
function workflowRequests({ branchUrl, gids }: Surroundings): readonly fc.Arbitrary<Draft>[] {
  const gid = fc.oneof(fc.constantFrom('w1', 'w2'), fc.constantFrom(...gids), fc.uuid())
  const common = { gid, trans_type: fc.constant('workflow') }
  const status = fc.constantFrom('succeed', 'failed', 'done')
  const prepare = fc.record({
    ...common,
    custom_data: fc.constantFrom('{"name":"n","data":"aGk="}', '{"name":""}', '{', ''),
    query_prepared: fc.constantFrom(`${branchUrl}/resume`, ''),
    retry_interval: fc.integer({ min: 1, max: 1_000 }),
  })
  const step = fc.record({
    ...common,
    status,
    branch_id: fc.constantFrom('01', '02', ''),
    op: fc.constantFrom('action', 'commit', 'a b'),
    data: fc.constantFrom('', 'r', '\0'),
  })
  const req_extra = fc.record({ status, result: fc.constantFrom('', 'aGk='), rollback_reason: fc.string() })
  return [
    draft('POST', ['prepareWorkflow'], NONE, prepare),
    draft('POST', ['registerBranch'], NONE, step),
    draft('POST', ['submit'], NONE, fc.record({ ...common, req_extra })),
  ]
}

function draft(
  method: string,
  path: readonly string[],
  query: fc.Arbitrary<Draft['query']>,
  json: fc.Arbitrary<unknown>,
): fc.Arbitrary<Draft> {
  const segments = fc.constant([...BASE, ...path])
  return fc.record({ method: fc.constant(method), segments, query, headers: fc.constant([]), json })
}

function pairs(texts: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<Draft['query']> {
  return fc.record(texts).map((record) => Object.entries(record))
}

function listQuery(gid: fc.Arbitrary<string>): fc.Arbitrary<Draft['query']> {
  return fc.oneof(
    pairs({ gid }),
    pairs({
      limit: number(20),
      status: fc.constantFrom('', 'succeed', 'failed', 'prepared', 'nonsense'),
      transType: fc.constantFrom('', 'saga', 'msg', 'xa'),
      createTimeStart: number(2 ** 41),
    }),
  )
}

function number(max: number): fc.Arbitrary<string> {
  return fc.integer({ min: 1, max }).map(String)
}

function isPreparable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'trans_type' in value && value.trans_type !== 'saga'
}

function makeTransaction({ branchUrl }: Surroundings, gid: fc.Arbitrary<string>, waits: boolean) {
  const action = fc.constantFrom('a', `b?x=${canary('query')}`).map((path) => `${branchUrl}/${path}`)
  const step = fc.record({ action, compensate: action })
  const options = {
    retry_interval: fc.integer({ min: 1, max: 1_000 }),
    retry_limit: fc.integer({ min: 1, max: 10 }),
    timeout_to_fail: fc.integer({ min: 1, max: 86_400 }),
    request_timeout: fc.constant(1),
    branch_headers: fc.constant({ 'x-a': canary('header') }),
    concurrent: fc.boolean(),
    ...(waits ? { wait_result: fc.boolean() } : {}),
  }
  return fc.constantFrom('saga', 'msg', 'tcc').chain((trans_type) => {
    const steps = fc.array(step, { maxLength: 3 })
    const custom_data = fc.constantFrom('', '{"concurrent":true}', '{"delay":1}')
    const query_prepared = fc.constant(`${branchUrl}/queryPrepared`)
    return fc
      .record(
        {
          gid,
          trans_type: fc.constant(trans_type),
          ...(trans_type === 'tcc' ? {} : { steps, custom_data }),
          query_prepared,
          ...options,
        },
        { requiredKeys: ['gid', 'trans_type', 'query_prepared'] },
      )
      .map((request) => {
        const { steps: taken = [] } = request as { readonly steps?: readonly unknown[] }
        return { ...request, payloads: taken.map(() => `{"x":"${canary('payload')}"}`) }
      })
  })
}
