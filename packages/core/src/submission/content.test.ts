/** Tests which bytes are delivered, and which requests have the same content. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RETRY } from '../../test/sagas.ts'
import {
  accepted,
  BRANCH,
  checkUrl,
  DEFAULTS,
  listFaults,
  withBranch,
  withFields,
} from '../../test/submissions.ts'
import type { SagaDefinition } from '../definition.ts'
import { canonicalJson } from './canonical-json.ts'
import { parseSubmission } from './parse-submission.ts'

function readContent(body: unknown, defaults = DEFAULTS): string {
  return accepted(body, defaults).content
}

function delivered(fields: Readonly<Record<string, unknown>>) {
  const [branch] = accepted(withBranch(fields)).definition.branches
  return { body: branch?.body, contentType: branch?.contentType }
}

describe('a payload', () => {
  it('A payload is delivered as JSON of equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (payload) => {
        const { body = '', contentType } = delivered({ payload })
        expect(contentType).toBe('application/json')
        expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(payload)))
      }),
    )
  })

  it('A payload is {} by default, and null where it is null', () => {
    expect([delivered({}).body, delivered({ payload: null }).body]).toEqual(['{}', 'null'])
  })

  for (const payload of [false, 0, '', [], {}]) {
    it(`may be empty: ${JSON.stringify(payload)}`, () => {
      expect(delivered({ payload }).body).toBe(JSON.stringify(payload))
    })
  }

  it('A payload keeps its keys in their order', () => {
    expect(delivered({ payload: { b: 1, a: 2 } }).body).toBe('{"b":1,"a":2}')
  })

  it('A payload keeps names that are special in JavaScript as data', () => {
    const payload =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":null,"toJSON":"x"}'
    const parsed = parseSubmission(
      JSON.parse(`{"branches":[{"action":"http://bank.test/","payload":${payload}}]}`),
      DEFAULTS,
      checkUrl,
    )
    if (parsed.type !== 'parsed') throw new Error('it was refused')
    expect(parsed.submission.definition).toMatchObject({ branches: [{ body: payload }] })
    expect(parsed.submission.content).toContain('"__proto__":{"polluted":true}')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('a body', () => {
  it('A body is delivered byte for byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (body) => {
        expect(delivered({ body }).body).toBe(body)
      }),
    )
    for (const body of ['', ' {"a": 1.0}\r\n', '\u0000\ufeff', '1e400', '"', '💶']) {
      expect(delivered({ body }).body).toBe(body)
    }
  })

  it('A body is plain text by default', () => {
    expect(delivered({ body: 'a' }).contentType).toBe('text/plain; charset=utf-8')
    expect(delivered({ body: '<a/>', contentType: 'application/xml' }).contentType).toBe('application/xml')
  })
})

describe('names that mean something to JavaScript', () => {
  const parseText = (text: string) => {
    const parsed = parseSubmission(JSON.parse(text), DEFAULTS, checkUrl)
    return parsed.type === 'parsed'
      ? (parsed.submission.definition as SagaDefinition).branches
      : parsed.faults.map(({ code, path }) => `${code} ${path}`)
  }

  it('Names that are special in JavaScript are unknown fields like any other', () => {
    expect(parseText('{"__proto__":{"gid":"x"},"branches":[{"action":"http://a.test/"}]}')).toEqual([
      'SAGA_UNKNOWN_FIELD /__proto__',
    ])
    expect(parseText('{"branches":[{"action":"http://a.test/","__proto__":{"id":"x"}}]}')).toEqual([
      'SAGA_UNKNOWN_FIELD /branches/0/__proto__',
    ])
    expect(parseText('{"branches":[{"action":"http://a.test/","constructor":1}]}')).toEqual([
      'SAGA_UNKNOWN_FIELD /branches/0/constructor',
    ])
  })

  it('Names that are special in JavaScript are header names like any other', () => {
    const branches = parseText(
      '{"headers":{"__proto__":"a","constructor":"b"},"branches":[{"action":"http://a.test/","headers":{"__proto__":"c"}}]}',
    )
    const [branch] = branches
    if (typeof branch !== 'object') throw new Error('it was refused')
    expect(Object.entries(branch.headers).sort()).toEqual([
      ['__proto__', 'c'],
      ['constructor', 'b'],
    ])
  })

  it('Names that are special in JavaScript are branch ids like any other', () => {
    const { branches } = accepted({
      branches: [
        { ...BRANCH, id: '__proto__' },
        { ...BRANCH, id: 'constructor', after: ['__proto__'] },
      ],
    }).definition
    expect(branches.map(({ after }) => after)).toEqual([[], [0]])
    expect(listFaults(withBranch({ after: ['toString'] }))).toEqual([
      'SAGA_AFTER_UNKNOWN /branches/0/after/0',
    ])
  })
})

describe('the same content', () => {
  const body = {
    gid: 'a',
    deadlineMs: 5,
    branches: [{ ...BRANCH, payload: { b: [1, { d: 1, c: 2 }], a: 1 } }],
  }

  it('The content does not depend on the order of keys', () => {
    const other = { branches: [{ payload: { a: 1, b: [1, { c: 2, d: 1 }] }, ...BRANCH }], deadlineMs: 5 }
    expect(readContent(other)).toBe(readContent(body))
  })

  it('The content does not depend on the gid or the ack', () => {
    expect(readContent({ ...body, gid: 'b' })).toBe(readContent(body))
    expect(readContent({ ...body, ack: 'memory' })).toBe(readContent({ ...body, ack: 'durable' }))
  })

  it('The content does not depend on the server’s defaults, so that changing them makes no conflict', () => {
    const defaults = { retry: { ...RETRY, limit: 3 }, timeoutMs: 1, checkpointMs: 0 }
    expect(readContent(body, defaults)).toBe(readContent(body))
  })

  it('The content does not depend on spaces or escapes in the JSON text', () => {
    const text = '{ "branches" : [ { "action" : "http:\\/\\/bank.test\\u002fdebit" } ] }'
    expect(readContent(JSON.parse(text))).toBe(readContent({ branches: [BRANCH] }))
  })

  it('The content does not depend on the order of any keys at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (payload) => {
        expect(readContent(withBranch({ payload: reversed(payload) }))).toBe(
          readContent(withBranch({ payload })),
        )
      }),
    )
  })
})

/** Returns an equal value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(reversed)
  const entries = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const)
  return Object.fromEntries(entries.reverse())
}

describe('other content', () => {
  const base = readContent(withBranch({ payload: { a: [1, 2] } }))
  for (const [what, body] of Object.entries({
    'an item more': withBranch({ payload: { a: [1, 2, 3] } }),
    'items in another order': withBranch({ payload: { a: [2, 1] } }),
    'a text for a number': withBranch({ payload: { a: ['1', 2] } }),
    'a null for nothing': withBranch({ payload: { a: [1, 2], b: null } }),
    'another URL': withBranch({ action: 'http://bank.test/credit', payload: { a: [1, 2] } }),
    'a body for a payload': withBranch({ body: '{"a":[1,2]}' }),
    'a default that is said': { ...withBranch({ payload: { a: [1, 2] } }), timeoutMs: DEFAULTS.timeoutMs },
    'a header': withFields({ headers: { a: 'b' } }),
  })) {
    it(`is ${what}`, () => expect(readContent(body)).not.toBe(base))
  }
})

describe('canonical JSON', () => {
  it('Canonical JSON is equal exactly where the values are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const texts = [one, other].map((value) => JSON.parse(JSON.stringify(value))).map(canonicalJson)
        const equal = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
        expect(texts[0] === texts[1]).toBe(equal)
      }),
    )
  })

  it('Canonical JSON is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value))
        expect(JSON.parse(canonicalJson(plain) ?? '')).toEqual(plain)
      }),
    )
  })
})

// The digests of stored transactions were made from these bytes.
describe('a text in canonical JSON', () => {
  it.each(['', 'a"b', 'a\\b', 'a\nb', '\u007f', 'ü', '\ud800', 'a'.repeat(300), `${'a'.repeat(300)}"`])(
    'is written as JSON.stringify writes it: %j',
    (text) => expect(canonicalJson(text)).toBe(JSON.stringify(text)),
  )

  it('A text is canonical with any characters, also as a key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(canonicalJson(text)).toBe(JSON.stringify(text))
        expect(canonicalJson({ [text]: 1 })).toBe(JSON.stringify({ [text]: 1 }))
      }),
    )
  })
})

/** Writes the same order in an independent way, with a list of pairs for each object. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const pairs = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const)
  return { pairs: pairs.sort(([one], [other]) => (one < other ? -1 : 1)) }
}
