import { BRANCHES_MAX, ERROR_MEANINGS, type Gid, isBranchId, isGid } from '@counterstep/protocol'
import { NAMED_SCHEMAS } from '@counterstep/protocol/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildRow, CREATED_AT } from '../../test/sagas.ts'
import { BRANCH, checkUrl, DEFAULTS } from '../../test/submissions.ts'
import { decodeTransaction } from '../record/record.ts'
import { newTransaction } from '../rules/accept.ts'
import { FAULTS_MAX } from './faults.ts'
import { parseRegistration } from './parse-registration.ts'
import { type ParsedSubmission, parseSubmission } from './parse-submission.ts'

const GOOD = {
  gid: 'order-4711',
  kind: 'saga',
  ack: 'durable',
  timeoutMs: 5_000,
  deadlineMs: 60_000,
  delayMs: 10,
  checkpointMs: 1_000,
  headers: { 'X-Tenant': 'blue' },
  retry: { initialMs: 100, factor: 2, capMs: 1_000, jitter: 1, limit: 5 },
  branches: [
    { id: 'a', ...BRANCH, compensation: 'http://bank.test/undo', payload: { amount: 30, to: ['x', null] } },
    { id: 'b', ...BRANCH, body: 'text', contentType: 'text/plain', after: ['a'], timeoutMs: 10 },
    { ...BRANCH, after: [], retry: { limit: null }, headers: { 'x-tenant': 'red' } },
  ],
}

const GOOD_WAITS = {
  gid: 'order-4712',
  input: { ms: 5 },
  branches: [
    { id: 'a', ...BRANCH, compensation: 'http://bank.test/undo', role: 'compensable' },
    { id: 'b', wait: { ms: { $input: '/ms' } } },
    { id: 'c', wait: { until: { $from: 'a', at: '/at', else: 7 } }, after: ['a'] },
    { id: 'd', wait: { signal: 'approval', timeoutMs: 5_000, onTimeout: 'continue' } },
    { id: 'e', ...BRANCH, role: 'pivot', after: ['b', 'c', 'd'] },
    { id: 'f', ...BRANCH, role: 'retriable' },
  ],
}

const GOOD_TCC = {
  gid: 'trip-17',
  kind: 'tcc',
  ack: 'memory',
  deadlineMs: 35_000,
  timeoutMs: 5_000,
  checkpointMs: 0,
  headers: { 'X-Tenant': 'blue' },
  retry: { initialMs: 100, limit: null },
}
const GOOD_MESSAGE = {
  gid: 'paid-4711',
  kind: 'message',
  concurrent: true,
  delayMs: 10,
  check: { url: 'http://shop.test/query-back', afterMs: 1_000, headers: { 'x-tenant': 'red' } },
  headers: { 'X-Tenant': 'blue' },
  branches: [
    { id: 'a', ...BRANCH, payload: { order: 4711 }, retry: { capMs: 1_000 } },
    { ...BRANCH, body: 'text', contentType: 'text/plain', timeoutMs: 10, headers: { a: 'b' } },
  ],
}
const GOOD_WORKFLOW = {
  gid: 'order-4713',
  kind: 'workflow',
  workflow: 'order',
  handler: 'http://shop.test/workflows',
  input: { sku: 'a', counts: [1, null] },
  version: 3,
  grants: 0,
  deadlineMs: 60_000,
  delayMs: 10,
  timeoutMs: 5_000,
  headers: { 'X-Tenant': 'blue' },
  retry: { initialMs: 100, limit: null },
}
const GOOD_REGISTRATION = {
  id: 'hotel',
  confirm: 'http://hotel.test/confirm',
  cancel: 'http://hotel.test/cancel',
  payload: { room: 12 },
  retry: { initialMs: 100, limit: null },
  timeoutMs: 5_000,
  headers: { 'X-Tenant': 'blue' },
}
const ALL_GOOD = [GOOD, GOOD_WAITS, GOOD_TCC, GOOD_MESSAGE, GOOD_WORKFLOW]

const IDS = { gid: 'order-4711' as Gid, digest: 'd'.repeat(64), token: 't', writeId: 'w' }

/** Values that a hostile client would put anywhere. */
const poisons = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      -1,
      0,
      0.5,
      1e308,
      Number.MAX_SAFE_INTEGER,
      '',
      '__proto__',
      'a',
      'b',
      '..',
      [],
      {},
      [[]],
    ],
    ...[{ toString: 1 }, { length: 3 }, ['a', 'a'], 'http://bank.test/', '\ud800', 'a\r\nb: c'],
  ),
)
const names = fc.constantFrom(
  ...['gid', 'kind', 'ack', 'branches', 'retry', 'headers', 'id', 'action', 'after', 'payload', 'body'],
  ...['wait', 'role', 'ms', 'until', 'signal', 'onTimeout'],
  ...['workflow', 'handler', 'input', 'version', 'grants'],
  ...[
    'contentType',
    'limit',
    'capMs',
    'initialMs',
    'concurrent',
    'check',
    'url',
    'afterMs',
    'deadlineMs',
    '__proto__',
    'constructor',
    'toString',
    'x',
  ],
)
const changes = fc.array(
  fc.record({
    path: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
    how: fc.constantFrom('replace', 'remove', 'add'),
    name: names,
    poison: poisons,
  }),
  { minLength: 1, maxLength: 4 },
)
type Change = typeof changes extends fc.Arbitrary<readonly (infer C)[]> ? C : never

const mutated = drawMutated(ALL_GOOD)
const mutatedRegistration = drawMutated([GOOD_REGISTRATION])

function drawMutated(goods: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.tuple(fc.constantFrom(...goods), changes).map(([good, list]) => {
    const body: unknown = structuredClone(good)
    for (const change of list) apply(body, change)
    // The body is parsed again, because `__proto__` is an own key when it comes over the wire.
    return JSON.parse(JSON.stringify(body))
  })
}

function apply(body: unknown, { path, how, name, poison }: Change): void {
  let node = body
  for (const [depth, step] of path.entries()) {
    if (typeof node !== 'object' || node === null) return
    const keys = Object.keys(node)
    const key = keys[step % Math.max(keys.length, 1)]
    if (depth < path.length - 1 && key !== undefined) {
      node = Reflect.get(node, key)
      continue
    }
    const target = how === 'add' || key === undefined ? name : key
    if (how === 'remove') Reflect.deleteProperty(node, target)
    else define(node, target, structuredClone(poison))
  }
}

function define(node: object, name: string, value: unknown): void {
  Reflect.defineProperty(node, name, { value, enumerable: true, configurable: true, writable: true })
}

function parse(body: unknown): ParsedSubmission {
  return parseSubmission(body, { ...DEFAULTS, acceptNewKinds: true }, checkUrl)
}

/** Expects the properties that every answer of the parser must have. */
function expectSound(body: unknown): ParsedSubmission {
  const parsed = parse(body)
  if (parsed.type === 'refused') {
    expect(parsed.faults.length).toBeLessThanOrEqual(FAULTS_MAX)
    for (const { code, path } of parsed.faults) {
      expect(ERROR_MEANINGS[code]).toBe('failure')
      expect(path === '' || path.startsWith('/')).toBe(true)
    }
    return parsed
  }
  const { gid, content, definition } = parsed.submission
  expect(gid === undefined || isGid(gid)).toBe(true)
  expect(() => JSON.parse(content)).not.toThrow()
  const branches = 'branches' in definition ? definition.branches : []
  for (const branch of branches) {
    expect(isBranchId(branch.id)).toBe(true)
    expect(typeof branch.body).toBe('string')
  }
  const positions = definition.kind === 'saga' ? definition.branches.flatMap(({ after }) => after) : []
  expect(positions.every((before) => before >= 0 && before < branches.length)).toBe(true)
  const row = buildRow(newTransaction({ definition }, IDS, CREATED_AT))
  expect(decodeTransaction(row).definition).toEqual(JSON.parse(JSON.stringify(definition)))
  return parsed
}

describe('a hostile submission', () => {
  it('A workflow whose name is no text is refused, whatever the name would be as a text', () => {
    const parsed = parse({ ...GOOD_WORKFLOW, workflow: { toString: 1 } })
    expect(parsed).toMatchObject({ faults: [{ code: 'SAGA_WORKFLOW_INVALID', path: '/workflow' }] })
  })

  it('A submission of any JSON is refused or accepted, and never causes an exception', () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => void expectSound(body)))
    fc.assert(fc.property(fc.dictionary(names, poisons), (body) => void expectSound(body)))
    fc.assert(fc.property(fc.array(poisons, { maxLength: 5 }), (branches) => void expectSound({ branches })))
  })

  it('A good submission with any change is refused or accepted, and never causes an exception', () => {
    const counts = { parsed: 0, refused: 0 }
    fc.assert(
      fc.property(mutated, (body) => {
        counts[expectSound(body).type]++
      }),
      { numRuns: 3_000 },
    )
    // Both outcomes must happen often, or the property proves little.
    expect(Math.min(counts.parsed, counts.refused)).toBeGreaterThan(100)
  })

  it('Parsing does not change the body', () => {
    fc.assert(
      fc.property(mutated, (body) => {
        const text = JSON.stringify(body)
        parse(body)
        expect(JSON.stringify(body)).toBe(text)
      }),
    )
  })
})

describe('the schema of the HTTP interface', () => {
  /**
   * Faults that the schema does not describe: sizes of texts, URLs,
   * headers, graphs, references, instants as texts, and rules about two fields together.
   */
  const BEYOND: ReadonlySet<string> = new Set([
    ...['SAGA_URL_INVALID', 'SAGA_HEADER_INVALID', 'SAGA_BRANCH_ID_DUPLICATE', 'SAGA_AFTER_UNKNOWN'],
    ...['SAGA_AFTER_CYCLE', 'SAGA_PAYLOAD_TOO_LARGE', 'SAGA_PAYLOAD_TOO_DEEP', 'SAGA_REFERENCE_INVALID'],
    ...['SAGA_REFERENCE_UNKNOWN', 'SAGA_REFERENCE_NOT_BEFORE', 'SAGA_REFERENCE_NEEDS_ELSE'],
    ...['SAGA_ROLE_INVALID', 'SAGA_WAIT_INVALID'],
  ])

  it('The HTTP schema accepts every body that the parser accepts', () => {
    for (const good of ALL_GOOD) {
      expect([parse(good).type, NAMED_SCHEMAS.SubmitRequest.safeParse(good).success]).toEqual([
        'parsed',
        true,
      ])
    }
    fc.assert(
      fc.property(mutated, (body) => {
        if (parse(body).type === 'parsed')
          expect(NAMED_SCHEMAS.SubmitRequest.safeParse(body).success).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  it('The HTTP schema refuses what the parser refuses, except for rules that a schema cannot express', () => {
    fc.assert(
      fc.property(mutated, (body) => {
        const parsed = parse(body)
        if (parsed.type === 'parsed' || parsed.faults.some((fault) => isBeyond(fault))) return
        expect(NAMED_SCHEMAS.SubmitRequest.safeParse(body).success).toBe(false)
      }),
      { numRuns: 3_000 },
    )
  })

  it('The HTTP schema and the parser agree about registrations, except for rules that a schema cannot express', () => {
    const schema = NAMED_SCHEMAS.TccBranchRequest
    const counts = { parsed: 0, refused: 0 }
    expect(parseRegistration(GOOD_REGISTRATION, DEFAULTS, checkUrl).type).toBe('parsed')
    fc.assert(
      fc.property(mutatedRegistration, (body) => {
        const parsed = parseRegistration(body, DEFAULTS, checkUrl)
        const isSilent = parsed.type === 'refused' && parsed.faults.some((fault) => isBeyond(fault))
        if (!isSilent) expect(schema.safeParse(body).success).toBe(parsed.type === 'parsed')
        counts[parsed.type]++
      }),
      { numRuns: 3_000 },
    )
    expect(Math.min(counts.parsed, counts.refused)).toBeGreaterThan(100)
  })

  it('The HTTP schema and the parser agree about a list of too many predecessors', () => {
    for (const length of [BRANCHES_MAX, BRANCHES_MAX + 1]) {
      const branches = [
        { ...BRANCH, id: 'a' },
        { ...BRANCH, after: Array.from({ length }, () => 'a') },
      ]
      const accepts = NAMED_SCHEMAS.SubmitRequest.safeParse({ branches }).success
      expect([length, parse({ branches }).type]).toEqual([length, accepts ? 'parsed' : 'refused'])
    }
  })

  function isBeyond({ code, path }: { readonly code: string; readonly path: string }): boolean {
    return BEYOND.has(code) || path.endsWith('/capMs') || /\/(body|contentType)$/.test(path)
  }
})
