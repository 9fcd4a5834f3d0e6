import { describe, expect, it } from 'vitest'
import { checkUrl } from '../../test/submissions.ts'
import { call, local, parseWorkflow, startWorkflow, WorkflowFixture } from '../../test/workflows.ts'
import { parsePlan } from './parse-plan.ts'

const HEAD = { v: 1, gid: 'order-17', version: 1, generation: 1, plan: 1, ran: [], next: [] }

function read(fields: object, outcome: unknown = { done: 1 }): string {
  const answer = { ...HEAD, ...Object.fromEntries([['then', outcome]]), ...fields }
  const plan = parsePlan(startWorkflow(), JSON.stringify(answer), checkUrl)
  return plan.type === 'bad' ? plan.reason : 'read'
}

const branch = (fields: object) => ({ next: [{ ...call('a'), branch: fields }] })
const run = (fields: object) => ({ ran: [{ id: 'r', is: 'run', name: 'r', value: 1, ...fields }] })
const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])

describe('the answer of a plan call', () => {
  it('is read when it is one', () => {
    expect(read({})).toBe('read')
    expect(read({ next: [call('a'), local('b', 1)], ...run({}) }, 'all')).toBe('read')
    expect(read({}, { failed: { code: 'A', message: 'b', details: { c: 1 } } })).toBe('read')
  })

  it('is none if it did not come whole, or is no JSON object', () => {
    const texts = [undefined, '', '<html>', '<a href="', '"', '"\\\\', '[]', 'null', '7', '{"v":1']
    const types = texts.map((text) => parsePlan(startWorkflow(), text, checkUrl).type)
    expect(new Set(types)).toEqual(new Set(['bad']))
  })

  for (const [fields, reason] of [
    [{ v: 2 }, 'the answer has another v'],
    [{ gid: 'order-18' }, 'the answer is for another gid'],
    [{ generation: 2 }, 'the answer is for another generation'],
    [{ plan: 2 }, 'the answer is for another plan'],
    [{ version: '1' }, 'the answer has no version'],
    [{ next: {} }, 'has a ran or a next that is not a list'],
    [{ extra: 1 }, '/extra there is no such field'],
    [{ ran: [deep(41)] }, 'the answer is nested too deep'],
    [{ next: [call('a')] }, '/next must be empty at the end'],
    [{ ran: [7] }, '/ran/0 must be an object'],
    [run({ is: 'call' }), '/ran/0/is must be "run", "patch" or "step"'],
    [run({ name: undefined }), '/ran/0/name must be a name'],
    [run({ value: 'x'.repeat(70_000) }), '/ran/0/value is over 65536 bytes'],
  ] as const) {
    it(`is none where ${reason}`, () => expect(read(fields)).toBe(reason))
  }

  for (const [fields, reason] of [
    [{ next: [call('a'), call('a')] }, '/next/1/id a stands already'],
    [{ next: [call('__proto__ x')] }, '/next/0/id must be'],
    [{ next: [{ ...call('a'), is: 'child' }] }, '/next/0/is must be one of'],
    [{ next: [{ ...call('a'), is: 'timer' }] }, 'is a call, and its entry says timer'],
    [branch({ action: 'ftp://a.test/' }), '/next/0/branch/action must be an http'],
    [branch({ action: 'http://a.test/', compensation: 'file:///x' }), '/next/0/branch/compensation must'],
    [branch({ action: 'http://a.test/', surprise: 1 }), '/next/0/branch/surprise there is no such field'],
    [branch({ action: 'http://a.test/', after: [] }), 'must have neither id nor after'],
    [branch({ action: 'http://a.test/', template: { x: { $from: 'other' } } }), 'no such branch'],
    [branch({ wait: { ms: -1 } }), '/next/0/branch/wait/ms must be'],
    [{ next: [local('a', 0)] }, '/next/0/branch/slot must be one from ~1 on'],
    [{ next: [local('a', 2), local('b', 2)] }, '/next/1/branch/slot ~2 stands already'],
    [{ next: [local('a', 1, { undo: 'yes' })] }, '/next/0/branch/undo must be true or false'],
    [{ next: Array.from({ length: 101 }, (_, i) => call(`c${i}`)) }, '/next has over 100 entries'],
  ] as const) {
    it(`names a step that may not be called: ${reason}`, () => expect(read(fields, 'all')).toContain(reason))
  }

  for (const outcome of [
    null,
    'soon',
    {},
    { done: 1, failed: {} },
    { continue: 1, done: 1 },
    { continue: 'x'.repeat(65_535) },
    { continue: 1, seen: -1 },
    { continue: 1, seen: '1' },
    { done: 1, seen: 1 },
    { continue: 1, saw: 1 },
    { failed: { code: '' } },
    { failed: { code: 'NO', message: '', details: 'x'.repeat(65_535) } },
  ])
    it(`has no known end: ${JSON.stringify(outcome).slice(0, 80)}`, () =>
      expect(read({}, outcome)).toContain('/then'))

  const HARMFUL = JSON.parse('{"attributes":{"__proto__":{"a":1}}}')

  it.each([
    [
      'the value of what has run',
      { ran: [{ id: 'r', is: 'run', name: 'r', value: HARMFUL }] },
      'now',
      '/ran/0/value',
    ],
    ['the input of a step', { next: [local('a', 1, { input: HARMFUL })] }, 'any', '/next/0/branch/input'],
    ['the payload of a call', { next: [call('a', { payload: HARMFUL })] }, 'any', '/next/0/branch/payload'],
    [
      'the payload of an undo',
      { next: [call('a', { compensation: { url: 'http://bank.test/undo', payload: HARMFUL } })] },
      'any',
      '/next/0/branch/compensation/payload',
    ],
    ['the input of the next generation', {}, { continue: HARMFUL }, '/then/continue'],
  ] as const)('has no key in %s with which later calls would be refused', (_title, fields, outcome, path) => {
    expect(read(fields, outcome)).toContain(`${path} has the key __proto__`)
  })

  it('tells a failure without details that no later call could bring', () => {
    const failed = { code: 'NO', message: 'no', details: HARMFUL }
    const text = JSON.stringify({ ...HEAD, ...Object.fromEntries([['then', { failed }]]) })
    expect(parsePlan(startWorkflow(), text, checkUrl)).toMatchObject({
      plan: { outcome: { failure: { code: 'NO', message: 'no' } } },
    })
    expect(JSON.stringify(parsePlan(startWorkflow(), text, checkUrl))).not.toContain('attributes')
  })

  it('is refused with a code that is known, so that a handler cannot make any number of problems', () => {
    expect(read({}, { refused: { code: 'WORKFLOW_CHANGED', message: 'a' } })).toBe('read')
    expect(read({}, { refused: { code: 'MADE_UP', message: 'a' } })).toContain(
      '/then/refused/code must be one',
    )
  })

  it('has no sign in what is shown of it that could rewrite a terminal', () => {
    const harm = '\u001b[2J\u202e\r'
    expect(read({ [harm]: 1 })).toBe('/\ufffd[2J\ufffd\ufffd there is no such field')
    const text = JSON.stringify({
      ...HEAD,
      ...Object.fromEntries([['then', { failed: { code: harm, message: harm } }]]),
    })
    expect(parsePlan(startWorkflow(), text, checkUrl)).toMatchObject({
      plan: { outcome: { failure: { code: '\ufffd[2J\ufffd\ufffd', message: '\ufffd[2J\ufffd\ufffd' } } },
    })
  })

  it('names no id that stands, and no other version', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [call('a'), call('b')] }, 'any')
      .saved()
    fixture.answer('b', 'action', 'success', 1)
    expect(fixture.plan({ next: [call('a')] }, 'any').workflow.attention).toContain('a stands already')
    fixture.saved().tick(1_000)
    expect(fixture.plan({}, 'any', { version: 2 }).workflow.attention).toContain('another version')
  })

  it('may use an own value in a compensation, in the place where the step stands', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [call('a'), call('b')] }, 'all')
      .saved()
    const [a, b] = fixture.workflow.steps.map((step) => step.branch.compensationContent?.template?.body?.[1])
    expect([a, b]).toMatchObject([{ from: 0 }, { from: 1 }])
  })
})

describe('the submit of a workflow', () => {
  it('is taken only where new kinds are accepted', () => {
    expect(parseWorkflow().type).toBe('parsed')
    expect(parseWorkflow({}, false)).toMatchObject({ faults: [{ code: 'SAGA_KIND_UNSUPPORTED' }] })
  })

  it('has the same content with another version, so a caller with newer code may start it again', () => {
    const [older, newer, other] = [{ version: 1 }, { version: 2 }, { input: 'x' }].map((fields) => {
      const parsed = parseWorkflow(fields)
      return parsed.type === 'parsed' ? parsed.submission.content : undefined
    })
    expect(newer).toBe(older)
    expect(other).not.toBe(older)
  })

  for (const [fields, code, path] of [
    [{ workflow: 'a b' }, 'SAGA_WORKFLOW_INVALID', '/workflow'],
    [{ workflow: undefined }, 'SAGA_WORKFLOW_INVALID', '/workflow'],
    [{ handler: 'nowhere' }, 'SAGA_URL_INVALID', '/handler'],
    [{ version: 0 }, 'SAGA_WORKFLOW_INVALID', '/version'],
    [{ version: 1, grants: 33 }, 'SAGA_WORKFLOW_INVALID', '/grants'],
    [{ grants: '8' }, 'SAGA_WORKFLOW_INVALID', '/grants'],
    [{ grants: 1 }, 'SAGA_WORKFLOW_INVALID', '/version'],
    [{ input: 'x'.repeat(262_200) }, 'SAGA_PAYLOAD_TOO_LARGE', '/input'],
    [{ branches: [] }, 'SAGA_UNKNOWN_FIELD', '/branches'],
    [{ deadlineMs: 0 }, 'SAGA_DEADLINE_INVALID', '/deadlineMs'],
  ] as const) {
    it(`is refused with ${code} at ${path}`, () => {
      expect(parseWorkflow(fields)).toMatchObject({ type: 'refused', faults: [{ code, path }] })
    })
  }
})
