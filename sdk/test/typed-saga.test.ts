import { inspect } from 'node:util'
import {
  branch,
  endpoint,
  orElse,
  parallel,
  type SagaBranchRequest,
  type SagaSubmitRequest,
  saga,
  signal,
} from '@counterstep/sdk'
import { describe, expect, it } from 'vitest'
import { catchCode } from './catch-error.ts'

const hold = endpoint<{ cents: number }, { holdId: string; note?: string }, 'NO_FUNDS'>('bank:/holds')
const release = endpoint<{ hold: string | null }, void>('bank:/release')
const capture = endpoint<void, { paymentId: string }>('bank:/holds/{id}/capture')
const memo = endpoint<{ text: string }, void>('ledger:/memos')
const mail = endpoint<{ payment: string }, void>('mail:/receipts')
const approval = signal<{ by: string }>('approval')

/** The branches of these sagas are read as plain objects, since a wait has other fields. */
function readBranches({
  request,
}: {
  readonly request: SagaSubmitRequest
}): readonly Partial<SagaBranchRequest>[] {
  return request.branches
}

describe('a saga of endpoints', () => {
  it('A branch hands on what an earlier one answered, in a payload, a URL and a header', () => {
    const order = saga({ gid: 'order-17', input: { cents: 1250, ref: 'o/17' } })
      .branch('hold', hold, ({ input }) => ({
        payload: { cents: input.cents },
        headers: { 'x-order': input.ref, 'x-kind': 'order' },
        undo: (own) => ({ to: release, payload: { hold: own.holdId } }),
      }))
      .branch('capture', capture, ({ hold }) => ({ at: { id: hold.holdId }, timeoutMs: 5_000 }))
      .branch('memo', memo, { after: ['hold'] }, ({ hold }) => ({ payload: { text: orElse(hold.note, '') } }))
      .output(({ capture }) => ({ payment: capture.paymentId }))
    expect(JSON.parse(JSON.stringify(order.request))).toEqual({
      gid: 'order-17',
      input: { cents: 1250, ref: 'o/17' },
      branches: [
        {
          id: 'hold',
          after: [],
          action: 'bank:/holds',
          template: { cents: { $input: '/cents' } },
          headers: { 'x-order': { $input: '/ref' }, 'x-kind': 'order' },
          compensation: { url: 'bank:/release', template: { hold: { $from: 'hold', at: '/holdId' } } },
        },
        {
          id: 'capture',
          after: ['hold'],
          action: { url: 'bank:/holds/{id}/capture', with: { id: { $from: 'hold', at: '/holdId' } } },
          timeoutMs: 5_000,
        },
        {
          id: 'memo',
          after: ['hold'],
          action: 'ledger:/memos',
          template: { text: { $from: 'hold', at: '/note', else: '' } },
        },
      ],
      output: { payment: { $from: 'capture', at: '/paymentId' } },
    })
  })

  it('A saga is plain JSON before it is sent', () => {
    const { request } = saga({ input: { cents: 1 } }).branch('hold', hold, ({ input }) => ({
      payload: { cents: input.cents },
      undo: (own) => ({ to: release, payload: { hold: own.holdId } }),
    }))
    expect(structuredClone(request)).toEqual(request)
  })

  it('A payload without a reference is sent as it is, whatever its names', () => {
    const any = endpoint<object, void>('a:/b')
    const payload = { $from: 'hold', at: new Date(0) }
    const [plain, all] = readBranches(saga().branch('one', any, { payload }))
    expect(plain).toEqual({ id: 'one', after: [], action: 'a:/b', payload })
    expect(plain?.payload).toBe(payload)
    expect(all).toBeUndefined()
  })

  it('JSON that looks like a reference stays JSON beside a reference', () => {
    const any = endpoint<object, void>('a:/b')
    const one = saga().branch('hold', hold, { payload: { cents: 1 } })
    const two = one
      .branch('two', any, ({ hold }) => ({
        payload: { id: hold.holdId, sign: { deep: { $from: 1 } }, list: [hold, 1, null], plain: { a: [1] } },
      }))
      .output(({ hold }) => ({ $id: 'x', hold: [hold.holdId] }).hold)
    expect(readBranches(two)[1]?.template).toEqual({
      id: { $from: 'hold', at: '/holdId' },
      sign: { $literal: { deep: { $from: 1 } } },
      list: [{ $from: 'hold' }, 1, null],
      plain: { a: [1] },
    })
    expect(two.request.output).toEqual([{ $from: 'hold', at: '/holdId' }])
    expect(saga().output(() => ({ $price: 1 })).request.output).toEqual({ $literal: { $price: 1 } })
    expect(catchCode(() => one.branch('x', any, ({ hold }) => ({ payload: { $id: hold.holdId } })))).toBe(
      'SAGA_REFERENCE_INVALID',
    )
  })

  it('A reference writes the names of properties as a JSON pointer, also in a template written by hand', () => {
    const odd = endpoint<void, { 'a/b': { 'c~d': readonly string[] }; constructor: string }>('a:/b')
    let raw: unknown
    saga()
      .branch('odd', odd)
      .output(({ odd }) => {
        raw = { one: odd['a/b']['c~d'][0], two: odd.constructor, all: odd }
        return null
      })
    expect(JSON.parse(JSON.stringify(raw))).toEqual({
      one: { $from: 'odd', at: '/a~1b/c~0d/0' },
      two: { $from: 'odd', at: '/constructor' },
      all: { $from: 'odd' },
    })
  })

  it('A known value is put into the URL at once, and a place without a value goes to the server as such', () => {
    const item = endpoint<void, void>('shop:/items/{id}/parts/{part}?of={id}')
    const order = saga()
      .branch('hold', hold, { payload: { cents: 1 } })
      .branch('a', item, { at: { id: 'a b/c', part: 7 } })
      .branch('b', item, ({ hold }) => ({ at: { id: 'x', part: hold.holdId } }))
      .branch('c', item, { at: { part: 1, other: 2 } })
      .branch('d', item, { at: { id: '..', part: 1 } })
      .branch('e', item)
    expect(
      readBranches(order)
        .slice(1)
        .map(({ action }) => action),
    ).toEqual([
      'shop:/items/a%20b%2Fc/parts/7?of=a%20b%2Fc',
      { url: 'shop:/items/x/parts/{part}?of=x', with: { part: { $from: 'hold', at: '/holdId' } } },
      { url: 'shop:/items/{id}/parts/1?of={id}', with: { other: 2 } },
      { url: 'shop:/items/{id}/parts/1?of={id}', with: { id: '..' } },
      { url: 'shop:/items/{id}/parts/{part}?of={id}', with: {} },
    ])
  })

  it('An undo has a content of its own, with places, headers and values of other branches', () => {
    const undoHold = endpoint<void, void>('bank:/holds/{id}/release')
    const order = saga({ input: { ref: 'o' } })
      .branch('hold', hold, { payload: { cents: 1 } })
      .branch('more', hold, ({ hold, input }) => ({
        payload: { cents: 2 },
        undo: (own) => ({
          to: undoHold,
          at: { id: orElse(own.holdId, 'none') },
          headers: { 'x-first': hold.holdId, 'x-order': input.ref },
        }),
      }))
    expect(readBranches(order)[1]?.compensation).toEqual({
      url: 'bank:/holds/{id}/release',
      with: { id: { $from: 'more', at: '/holdId', else: 'none' } },
      headers: { 'x-first': { $from: 'hold', at: '/holdId' }, 'x-order': { $input: '/ref' } },
    })
    const plain = saga().branch('hold', hold, { payload: { cents: 1 }, undo: () => ({ to: undoHold }) })
    expect(readBranches(plain)[0]?.compensation).toEqual({ url: 'bank:/holds/{id}/release', with: {} })
  })

  it('A part gets references to what stands before it', () => {
    const both = saga()
      .branch('hold', hold, { payload: { cents: 1 } })
      .add(({ hold }) =>
        parallel(
          branch('capture', capture, {
            at: { id: hold.holdId },
            undo: () => ({ to: release, payload: { hold: null } }),
          }),
          branch('memo', memo, { payload: { text: hold.holdId } }),
          branch('old', { action: 'http://old' }),
        ),
      )
      .branch('mail', mail, ({ capture }) => ({ payload: { payment: capture.paymentId } }))
    expect(both.request.branches.slice(1)).toEqual([
      {
        id: 'capture',
        after: ['hold'],
        action: { url: 'bank:/holds/{id}/capture', with: { id: { $from: 'hold', at: '/holdId' } } },
        compensation: { url: 'bank:/release', payload: { hold: null } },
      },
      {
        id: 'memo',
        after: ['hold'],
        action: 'ledger:/memos',
        template: { text: { $from: 'hold', at: '/holdId' } },
      },
      { id: 'old', after: ['hold'], action: 'http://old' },
      {
        id: 'mail',
        after: ['capture', 'memo', 'old'],
        action: 'mail:/receipts',
        template: { payment: { $from: 'capture', at: '/paymentId' } },
      },
    ])
  })

  it('A saga waits for signals and times', () => {
    const { request } = saga()
      .signal('approved', approval, { timeoutMs: 60_000, onTimeout: 'abort' })
      .timer('cool-off', { ms: 60_000 })
      .timer('until', { until: new Date(0), after: ['approved'] })
      .branch('hold', hold, { payload: { cents: 1 } })
      .timer('later', ({ hold }) => ({ until: hold.holdId }))
      .timer('soon', { after: ['hold'] }, () => ({ ms: 5 }))
      .signal('second', approval, { after: ['hold'], onTimeout: 'continue' })
      .signal('third', approval)
    expect(request.branches).toEqual([
      { id: 'approved', after: [], wait: { signal: 'approval', timeoutMs: 60_000, onTimeout: 'abort' } },
      { id: 'cool-off', after: ['approved'], wait: { ms: 60_000 } },
      { id: 'until', after: ['approved'], wait: { until: '1970-01-01T00:00:00.000Z' } },
      { id: 'hold', after: ['until'], action: 'bank:/holds', payload: { cents: 1 } },
      { id: 'later', after: ['hold'], wait: { until: { $from: 'hold', at: '/holdId' } } },
      { id: 'soon', after: ['hold'], wait: { ms: 5 } },
      { id: 'second', after: ['hold'], wait: { signal: 'approval', onTimeout: 'continue' } },
      { id: 'third', after: ['second'], wait: { signal: 'approval' } },
    ])
  })

  it('A pivot stands behind all branches, and only what cannot fail behind it', () => {
    const sure = saga()
      .branch('hold', hold, { payload: { cents: 1 } })
      .branch('memo', memo, { after: ['hold'], payload: { text: 'x' } })
      .branch('side', memo, { after: [], payload: { text: 'y' } })
      .pivot('pay', capture, ({ hold }) => ({ at: { id: hold.holdId } }))
      .retriable('mail', mail, ({ pay }) => ({ payload: { payment: pay.paymentId }, retry: { capMs: 9 } }))
      .signal('thanks', approval, { onTimeout: 'continue', after: ['pay'] })
      .timer('pause', { ms: 1 })
      .retriable('again', mail, { after: ['mail'] }, ({ hold }) => ({ payload: { payment: hold.holdId } }))
      .output(({ pay }) => pay)
    expect(sure.request.branches.slice(3)).toEqual([
      {
        id: 'pay',
        after: ['memo', 'side'],
        role: 'pivot',
        action: { url: 'bank:/holds/{id}/capture', with: { id: { $from: 'hold', at: '/holdId' } } },
      },
      {
        id: 'mail',
        after: ['pay'],
        role: 'retriable',
        action: 'mail:/receipts',
        template: { payment: { $from: 'pay', at: '/paymentId' } },
        retry: { capMs: 9 },
      },
      { id: 'thanks', after: ['pay'], wait: { signal: 'approval', onTimeout: 'continue' } },
      { id: 'pause', after: ['thanks'], wait: { ms: 1 } },
      {
        id: 'again',
        after: ['mail'],
        role: 'retriable',
        action: 'mail:/receipts',
        template: { payment: { $from: 'hold', at: '/holdId' } },
      },
    ])
    expect(sure.request.output).toEqual({ $from: 'pay' })
    expect(Object.keys(sure).sort()).toEqual(['gid', 'output', 'request', 'retriable', 'signal', 'timer'])
  })

  it('A saga of endpoints is never changed, and refuses an id twice', () => {
    const one = saga().branch('hold', hold, { payload: { cents: 1 } })
    const two = one.pivot('pay', capture)
    expect([one, two].map(({ request }) => request.branches.length)).toEqual([1, 2])
    expect([two.gid, two.request.gid]).toEqual([one.gid, one.gid])
    expect(catchCode(() => one.pivot('hold', capture))).toBe('SAGA_BRANCH_ID_DUPLICATE')
    expect(catchCode(() => one.timer('hold', { ms: 1 }))).toBe('SAGA_BRANCH_ID_DUPLICATE')
    expect(catchCode(() => two.retriable('hold', mail, { payload: { payment: '' } }))).toBe(
      'SAGA_BRANCH_ID_DUPLICATE',
    )
  })

  it('A field that no branch has goes to the server, which refuses it', () => {
    const misspelt = { payload: { cents: 1 }, udno: () => ({ to: release, payload: { hold: null } }) }
    expect(saga().branch('hold', hold, misspelt).request.branches[0]).toHaveProperty('udno')
  })
})

describe('a reference', () => {
  function readHold<Value>(use: (hold: object) => Value): Value {
    const uses: Value[] = []
    saga()
      .branch('hold', hold, { payload: { cents: 1 } })
      .output((refs) => {
        uses.push(use(refs.hold))
        return null
      })
    return uses[0] as Value
  }

  it('A reference used as a text or a number throws', () => {
    for (const use of [
      (ref: object) => `${ref}`,
      (ref: object) => String(ref),
      (ref: object) => Number(ref),
      (ref: object) => (ref as unknown as number) * 2,
      (ref: object) => ['x', ref].join(),
      (ref: object) => (ref as unknown as string) < 'x',
      (ref: object) => ({ ...ref }),
      (ref: object) => Object.keys(ref),
      (ref: object) => [...(ref as unknown as string[])],
      (ref: object) => (ref as unknown as string).toUpperCase(),
      (ref: object) => Object.assign(ref, { holdId: 'x' }),
      (ref: object) => delete (ref as { holdId?: string }).holdId,
    ])
      expect(() => readHold(use), String(use)).toThrow(TypeError)
    expect(() => readHold((ref) => `${ref}`)).toThrow('{"$from":"hold"}')
  })

  it('A reference can be awaited, and asked for symbols', async () => {
    const ref = readHold((each) => each)
    expect((await ref) === ref).toBe(true)
    expect((await Promise.resolve(ref)) === ref).toBe(true)
    expect([].concat(ref as never)).toHaveLength(1)
    expect(inspect(ref)).toBe("{ '$from': 'hold' }")
    expect(Object.prototype.toString.call(ref)).toBe('[object Object]')
    expect(ref instanceof Promise).toBe(false)
  })

  it('orElse takes a reference and JSON, and stands for the whole value', () => {
    const note = readHold((ref) => orElse((ref as { note: never }).note, { text: 'none' } as const))
    expect(JSON.parse(JSON.stringify(note))).toEqual({ $from: 'hold', at: '/note', else: { text: 'none' } })
    expect(() => (note as unknown as { text: string }).text).toThrow('take the property first')
    expect(() => readHold((ref) => orElse('hold' as never, ref as never))).toThrow(TypeError)
    expect(() => readHold((ref) => orElse(ref as never, [ref] as never))).toThrow(TypeError)
    expect(() => orElse(undefined, 1)).toThrow(TypeError)
  })
})
