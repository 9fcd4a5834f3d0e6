import { CounterstepError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { guardLogger } from '../src/guard-logger.ts'
import { type LoggedError, toLoggedError } from '../src/logged-error.ts'

const throwing = (): never => {
  throw new Error('a getter throws')
}

function withParts(parts: object, error: Error = new Error('card 4111')): Error {
  return Object.defineProperties(error, Object.getOwnPropertyDescriptors(parts))
}

function withGetter(key: string, error?: Error): Error {
  return Object.defineProperty(error ?? new Error('card 4111'), key, { get: throwing })
}

/** Every trap of it throws. */
function createHostileProxy(target: object = new Error('card 4111')): unknown {
  return new Proxy(target, new Proxy({}, { get: () => throwing }))
}

function createRevoked(): unknown {
  const { proxy, revoke } = Proxy.revocable(new Error('card 4111'), {})
  revoke()
  return proxy
}

function createCycle(): Error {
  const error: Error & { cause?: unknown } = new AggregateError([], 'card 4111')
  error.cause = error
  return withParts({ errors: Array.from({ length: 50 }, () => error) }, error)
}

const HOSTILE: readonly (readonly [string, unknown, Partial<LoggedError>])[] = [
  ['a stack that is a list', withParts({ stack: [{ fn: 'call site' }] }), { type: 'Error' }],
  ['a stack that is a number', withParts({ stack: 7 }), { type: 'Error' }],
  ['a stack that cannot be read', withGetter('stack'), { type: 'Error' }],
  ['a name that is a BigInt', withParts({ name: 10n }), { type: 'Error' }],
  ['a name that is an object', withParts({ name: { toString: throwing } }), { type: 'Error' }],
  ['a name that cannot be read', withGetter('name'), { type: 'Error' }],
  ['a code that is a BigInt', withParts({ code: 10n }), { type: 'Error' }],
  ['a code that cannot be read', withGetter('code'), {}],
  [
    'a message of a system call that is a BigInt',
    withParts({ syscall: 'open', errno: 2, message: 10n }),
    { type: 'Error' },
  ],
  [
    'a message of our own that cannot be read',
    withGetter('message', new CounterstepError('SAGA_GID_CONFLICT', 'absent')),
    { code: 'SAGA_GID_CONFLICT' },
  ],
  ['a cause that is a BigInt', withParts({ cause: 10n }), { type: 'Error', cause: { type: 'bigint' } }],
  ['a cause that cannot be read', withGetter('cause'), { type: 'Error' }],
  ['a cause that is a proxy', withParts({ cause: createHostileProxy() }), { cause: { type: 'object' } }],
  ['a cause that is itself, among its own errors', createCycle(), { type: 'AggregateError' }],
  [
    'errors that are no list',
    withParts({ errors: 'none' }, new AggregateError([])),
    { type: 'AggregateError' },
  ],
  ['errors that cannot be read', withGetter('errors', new AggregateError([])), { type: 'AggregateError' }],
  [
    'errors whose methods throw',
    withParts({ errors: Object.assign([10n], { slice: throwing, map: throwing }) }, new AggregateError([])),
    { errors: [{ type: 'bigint' }] },
  ],
  [
    'errors that are a proxy',
    withParts({ errors: createHostileProxy([]) }, new AggregateError([])),
    { errors: [] },
  ],
  ['a proxy whose traps throw', createHostileProxy(), { type: 'object' }],
  ['a proxy that was revoked', createRevoked(), { type: 'object' }],
  ['no error, but a function', throwing, { type: 'function' }],
  ['no error, but a BigInt', 10n, { type: 'bigint' }],
  ['no error, but nothing', undefined, { type: 'undefined' }],
]

describe('S20: an error that a branch has thrown on purpose', () => {
  it.each(HOSTILE)(
    'S20: It is logged as JSON and without its message if it has or is %s',
    (_, error, shown) => {
      const text = JSON.stringify(toLoggedError(error))
      expect(JSON.parse(text)).toMatchObject(shown)
      expect(text).not.toContain('4111')
      expect(text.length).toBeLessThan(1_000_000)
    },
  )

  it('Parts that can be read are shown beside those that cannot', () => {
    const shown = toLoggedError(
      withGetter('name', withParts({ code: 'E_SHOP', stack: 'Error\n    at shop' })),
    )
    expect(shown).toMatchObject({ type: 'Error', code: 'E_SHOP', stack: '    at shop' })
  })
})

describe('a log that throws', () => {
  it.each([
    ['an error', new Error('broken'), 'Error: broken'],
    ['a value that has no text', { toString: throwing }, 'a value of the type object'],
  ])('The process is told of %s, and the caller goes on', async (_, fault, text) => {
    const warned = new Promise<Error>((resolve) => {
      process.once('warning', resolve)
    })
    const broken = (): never => {
      throw fault
    }
    guardLogger({ info: broken, warn: broken, error: broken }).warn({}, 'a call has failed')
    expect((await warned).message).toBe(`the log has thrown ${text}, and lost: a call has failed`)
  })
})
