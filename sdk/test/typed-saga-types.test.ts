import {
  branch,
  branchOf,
  createClient,
  endpoint,
  orElse,
  type Part,
  parallel,
  type Ref,
  type Saga,
  type SagaSettings,
  type SureSaga,
  saga,
  serial,
  signal,
} from '@counterstep/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'

interface Hold {
  readonly holdId: string
  readonly note?: string
  readonly owner: { readonly name: string } | null
  readonly items: readonly { readonly sku: string }[]
}

const hold = endpoint<{ cents: number; memo?: string }, Hold, 'NO_FUNDS'>('bank:/holds')
const release = endpoint<{ hold: string | null; mode?: 'full' | 'part' }, void>('bank:/release')
const free = endpoint<{ hold: string }, void>('bank:/free')
const capture = endpoint<void, { paymentId: string }>('bank:/holds/{id}/capture')
const undoCapture = endpoint<void, void>('bank:/holds/{id}/refund')
const memo = endpoint<{ text: string; count?: number }, void>('ledger:/memos')
const charge = endpoint<void, { paymentId: string }, 'REFUSED'>('bank:/charge')
const approval = signal<{ by: string }>('approval')
const held = saga({ input: { cents: 1, ref: 'o' } }).branch('hold', hold, { payload: { cents: 1 } })
const payload = { text: 'x' }

/** The compiler checks what is in the callback, which never runs. */
function refuse(_misuse: () => unknown): void {
  expect(_misuse).toBeTypeOf('function')
}

describe('references to branches', () => {
  it('A callback gets references to its ancestors and to the input, with their types', () => {
    held.branch('memo', memo, ({ hold, input, ...others }) => {
      expectTypeOf(hold).toEqualTypeOf<Ref<Hold>>()
      expectTypeOf(hold.holdId).toEqualTypeOf<Ref<string>>()
      expectTypeOf(hold.note).toEqualTypeOf<Ref<string | undefined>>()
      expectTypeOf(hold.owner.name).toEqualTypeOf<Ref<string | undefined>>()
      expectTypeOf(input.cents).toEqualTypeOf<Ref<number, never>>()
      expectTypeOf<keyof typeof others>().toEqualTypeOf<never>()
      return { payload: { text: hold.holdId, count: input.cents } }
    })
    expect(held.request.branches).toHaveLength(1)
  })

  it('A reference to a branch that is no ancestor does not compile', () => {
    const both = held.branch('capture', capture, ({ hold }) => ({ at: { id: hold.holdId } }))
    refuse(() => both.branch('memo', memo, ({ capture }) => ({ payload: { text: capture.paymentId } })))
    // @ts-expect-error There is no branch of that name.
    refuse(() => both.branch('memo', memo, ({ other }) => ({ payload: { text: other.holdId } })))
    // @ts-expect-error It is after the hold alone.
    refuse(() => both.branch('memo', memo, { after: ['hold'] }, ({ capture: _ }) => ({ payload })))
    // @ts-expect-error It is after no branch.
    refuse(() => both.branch('memo', memo, { after: [] }, ({ hold: _ }) => ({ payload })))
    // @ts-expect-error A branch does not come before itself.
    refuse(() => both.branch('memo', memo, ({ memo: _ }) => ({ payload })))
    // @ts-expect-error There is no branch of that name.
    refuse(() => both.branch('memo', memo, { after: ['hodl'] }, () => ({ payload })))
    const aside = both.branch('memo', memo, { after: ['hold'], payload })
    refuse(() => aside.branch('next', memo, ({ hold }) => ({ payload: { text: hold.holdId } })))
    // @ts-expect-error The last branch is after the hold alone.
    refuse(() => aside.branch('next', memo, ({ capture: _ }) => ({ payload })))
    refuse(() =>
      aside.branch('next', memo, { after: ['memo', 'capture'] }, ({ capture, hold }) => ({
        payload: { text: orElse(capture.paymentId, hold.holdId as never) },
      })),
    )
  })

  it('A branch of plain URLs hands on what stands before it, and breaks that with an after of its own', () => {
    const to = { action: 'http://old' }
    refuse(() =>
      held.branch('old', to).branch('memo', memo, ({ hold }) => ({ payload: { text: hold.holdId } })),
    )
    const past = held.branch('old', to).branch('b', { ...to, after: ['old'] })
    refuse(() => past.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.holdId } })))
    const cut = held.branch('old', { ...to, after: [] })
    // @ts-expect-error The branch before it is after no branch.
    refuse(() => cut.branch('memo', memo, ({ hold: _ }) => ({ payload })))
    // @ts-expect-error A branch of plain URLs has no answer with a type.
    refuse(() => held.branch('old', to).branch('memo', memo, ({ old: _ }) => ({ payload })))
    const ids: readonly 'hold'[] = []
    const perhaps = held.branch('old', { ...to, after: ids })
    // @ts-expect-error The list may be empty.
    refuse(() => perhaps.branch('memo', memo, ({ hold: _ }) => ({ payload })))
  })

  it('A part gets what stands before it, never its siblings, and gives its answers to what follows', () => {
    const both = held.add(({ hold, ...others }) => {
      expectTypeOf<keyof typeof others>().toEqualTypeOf<'input'>()
      return parallel(
        branch('capture', capture, { at: { id: hold.holdId } }),
        serial(branch('memo', memo, { payload }), branch('old', { action: 'http://old' })),
      )
    })
    both.branch('next', memo, ({ hold, capture, memo: _, ...others }) => {
      expectTypeOf(capture).toEqualTypeOf<Ref<{ paymentId: string }>>()
      expectTypeOf<keyof typeof others>().toEqualTypeOf<'input'>()
      return { payload: { text: orElse(hold.note, ''), count: 1 } }
    })
    const one = branch('memo', memo, { payload })
    // @ts-expect-error They run at the same time.
    refuse(() => held.add(({ memo }) => parallel(one, branch('capture', charge, memo))))
    // @ts-expect-error The memo is beside it.
    refuse(() => both.branch('next', memo, { after: ['memo'] }, ({ capture: _ }) => ({ payload })))
    const cut = held.add(parallel(branch('old', { action: 'http://old', after: [] })))
    // @ts-expect-error The part before it is after no branch.
    refuse(() => cut.branch('memo', memo, ({ hold: _ }) => ({ payload })))
    const old = branchOf<object>({ action: 'http://old' })
    refuse(() => held.add(old('old', {})).branch('memo', memo, ({ hold: _ }) => ({ payload })))
    // @ts-expect-error The part before it is after no branch.
    refuse(() => held.add(old('old', {}, { after: [] })).branch('memo', memo, ({ hold: _ }) => ({ payload })))
    expect(both.request.branches).toHaveLength(4)
  })

  it('The output may use every branch', () => {
    const aside = held.branch('memo', charge, { after: [] })
    aside.output((refs) => {
      expectTypeOf<keyof typeof refs>().toEqualTypeOf<'hold' | 'memo' | 'input'>()
      return { hold: refs.hold.note, all: [refs.memo] }
    })
    // @ts-expect-error There is no branch of that name.
    refuse(() => aside.output(({ other }) => ({ other })))
    expect(aside.request.branches).toHaveLength(2)
  })
})

describe('values in their places', () => {
  it('A payload has the type that the endpoint takes', () => {
    // @ts-expect-error The cents are missing.
    refuse(() => saga().branch('hold', hold, { payload: {} }))
    // @ts-expect-error The payload is missing.
    refuse(() => saga().branch('hold', hold))
    // @ts-expect-error The payload is missing.
    refuse(() => saga().branch('hold', hold, () => ({})))
    // @ts-expect-error The cents are a number.
    refuse(() => saga().branch('hold', hold, { payload: { cents: '1' } }))
    // @ts-expect-error The cents are a number, and the id is a string.
    refuse(() => held.branch('two', hold, ({ hold }) => ({ payload: { cents: hold.holdId } })))
    // @ts-expect-error The endpoint takes no payload.
    refuse(() => saga().branch('charge', charge, { payload: { cents: 1 } }))
    // @ts-expect-error There is no field of that name.
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.holdIdd } })))
  })

  it('A property that may be missing fits only with orElse', () => {
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: orElse(hold.note, '') } })))
    // @ts-expect-error The note may be missing.
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.note } })))
    // @ts-expect-error The note may be missing, and a reference is never left out of a payload.
    refuse(() => held.branch('two', hold, ({ hold }) => ({ payload: { cents: 1, memo: hold.note } })))
    // @ts-expect-error The owner may be null, and has no name then.
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.owner.name } })))
    refuse(() =>
      held.branch('memo', memo, ({ hold }) => ({ payload: { text: orElse(hold.owner.name, '') } })),
    )
    // @ts-expect-error The list may be shorter.
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.items[3]?.sku } })))
    refuse(() =>
      held.branch('memo', memo, ({ hold }) => ({ payload: { text: orElse(hold.items[3]?.sku, '') } })),
    )
    // @ts-expect-error The text that stands in its place is a number.
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: orElse(hold.note, 1) } })))
    // @ts-expect-error JSON has no undefined.
    refuse(() => held.output(({ hold }) => orElse(hold.note, undefined)))
    // @ts-expect-error A place of a URL needs the value.
    refuse(() => held.branch('capture', capture, ({ hold }) => ({ at: { id: hold.note } })))
    // @ts-expect-error A place of a URL takes a text, a number or a boolean.
    refuse(() => held.branch('capture', capture, ({ hold }) => ({ at: { id: hold.items } })))
    // @ts-expect-error A header needs the value.
    refuse(() => held.branch('charge', charge, ({ hold }) => ({ headers: { 'x-note': hold.note } })))
  })

  it('A reference is no text and no number', () => {
    // @ts-expect-error A reference has no length.
    refuse(() => held.output(({ hold }) => hold.holdId.length))
    // @ts-expect-error A sum of references is no number.
    refuse(() => held.output(({ input }) => input.cents + 1))
    // @ts-expect-error A reference is no promise.
    refuse(() => held.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.then } })))
  })

  it('An undo may not know a value, and needs null or orElse for it', () => {
    const c = { payload: { cents: 1 } }
    const s = saga()
    refuse(() =>
      s.branch('h', hold, { ...c, undo: (own) => ({ to: release, payload: { hold: own.holdId } }) }),
    )
    refuse(() =>
      s.branch('h', hold, () => ({
        ...c,
        undo: (own) => {
          expectTypeOf(own).toEqualTypeOf<Ref<Hold>>()
          return { to: release, payload: { hold: own.note, mode: 'part' as const } }
        },
      })),
    )
    // @ts-expect-error The value may be null.
    refuse(() => s.branch('h', hold, { ...c, undo: (own) => ({ to: free, payload: { hold: own.holdId } }) }))
    const ofInput = (input: Ref<string, never>) => ({
      ...c,
      undo: () => ({ to: free, payload: { hold: input } }),
    })
    refuse(() => held.branch('h', hold, ({ input }) => ofInput(input.ref)))
    const ofAnswer = (id: Ref<string>) => ({ ...c, undo: () => ({ to: free, payload: { hold: id } }) })
    // @ts-expect-error The value of another branch may be null, too.
    refuse(() => held.branch('h', hold, ({ hold }) => ofAnswer(hold.holdId)))
    const known = (own: Ref<Hold>) => ({ to: free, payload: { hold: orElse(own.holdId, '') } })
    refuse(() => s.branch('h', hold, { ...c, undo: known }))
    // @ts-expect-error A place of its URL needs an orElse.
    refuse(() => s.branch('h', hold, { ...c, undo: (own) => ({ to: undoCapture, at: { id: own.holdId } }) }))
    const placed = (own: Ref<Hold>) => ({ to: undoCapture, at: { id: orElse(own.holdId, '-') } })
    refuse(() => s.branch('h', hold, { ...c, undo: placed }))
    refuse(() =>
      s.branch('h', hold, { ...c, undo: (own) => ({ to: undoCapture, headers: { x: own.note } }) }),
    )
    // @ts-expect-error An undo cannot refuse.
    refuse(() => s.branch('h', hold, { ...c, undo: () => ({ to: charge }) }))
    // @ts-expect-error The payload is missing.
    refuse(() => s.branch('h', hold, { ...c, undo: () => ({ to: release }) }))
    // @ts-expect-error The hold is a text or null.
    refuse(() => s.branch('h', hold, { ...c, undo: () => ({ to: release, payload: { hold: 7 } }) }))
  })
})

describe('waits and roles', () => {
  it('The payload of a signal is the answer of its wait, and may be missing behind continue', () => {
    const waiting = held.signal('approved', approval, { timeoutMs: 1_000, onTimeout: 'abort' })
    refuse(() => waiting.branch('memo', memo, ({ approved }) => ({ payload: { text: approved.by } })))
    refuse(() =>
      held
        .signal('approved', approval)
        .branch('memo', memo, ({ approved }) => ({ payload: { text: approved.by } })),
    )
    const going = held.signal('approved', approval, { timeoutMs: 1_000, onTimeout: 'continue' })
    // @ts-expect-error The signal may not have come.
    refuse(() => going.branch('memo', memo, ({ approved }) => ({ payload: { text: approved.by } })))
    refuse(() =>
      going.branch('memo', memo, ({ approved }) => ({ payload: { text: orElse(approved.by, '') } })),
    )
    const either: 'abort' | 'continue' = ['abort', 'continue'][0] as 'abort' | 'continue'
    const open = held.signal('approved', approval, { onTimeout: either })
    // @ts-expect-error The signal may not have come.
    refuse(() => open.branch('memo', memo, ({ approved }) => ({ payload: { text: approved.by } })))
    // @ts-expect-error There is no such end.
    refuse(() => held.signal('approved', approval, { onTimeout: 'stop' }))
    // @ts-expect-error There is no branch of that name.
    refuse(() => held.signal('approved', approval, { after: ['hodl'] }))
    refuse(() =>
      waiting.branch('memo', memo, { after: ['approved'] }, ({ hold }) => ({
        payload: { text: hold.holdId },
      })),
    )
  })

  it('A timer has no answer, and hands on what stands before it', () => {
    const later = held.timer('pause', ({ hold }) => ({ until: hold.holdId }))
    refuse(() => later.branch('memo', memo, ({ hold }) => ({ payload: { text: hold.holdId } })))
    // @ts-expect-error A timer has no answer.
    refuse(() => later.branch('memo', memo, ({ pause: _ }) => ({ payload })))
    // @ts-expect-error It has one of them.
    refuse(() => held.timer('pause', { ms: 1, until: 2 }))
    // @ts-expect-error It has one of them.
    refuse(() => held.timer('pause', {}))
    // @ts-expect-error The time is a number.
    refuse(() => held.timer('pause', ({ hold }) => ({ ms: hold.holdId })))
    // @ts-expect-error It is after no branch.
    refuse(() => held.timer('pause', { after: [] }, ({ hold: _ }) => ({ ms: 1 })))
  })

  it('Behind a pivot there are only branches that cannot fail, and waits that end', () => {
    const sure = held.pivot('pay', charge)
    expectTypeOf<keyof typeof sure>().toEqualTypeOf<
      'gid' | 'request' | 'retriable' | 'signal' | 'timer' | 'output'
    >()
    refuse(() =>
      sure.retriable('memo', memo, ({ hold, pay }) => ({ payload: { text: hold.holdId, x: pay } })),
    )
    refuse(() => sure.retriable('capture', capture, ({ pay }) => ({ at: { id: pay.paymentId } })))
    // @ts-expect-error There is no branch behind a pivot.
    refuse(() => sure.branch('memo', memo, { payload }))
    // @ts-expect-error There is no second pivot.
    refuse(() => sure.pivot('again', charge))
    // @ts-expect-error There is no part behind a pivot.
    refuse(() => sure.add(branch('memo', memo, { payload })))
    // @ts-expect-error The endpoint may refuse.
    refuse(() => sure.retriable('charge', charge))
    // @ts-expect-error It cannot be undone.
    refuse(() => sure.retriable('memo', memo, { payload, undo: () => ({ to: undoCapture }) }))
    // @ts-expect-error It cannot be undone.
    refuse(() => sure.retriable('memo', memo, () => ({ payload, undo: () => ({ to: undoCapture }) })))
    // @ts-expect-error It is asked until it succeeds.
    refuse(() => sure.retriable('memo', memo, () => ({ payload, retry: { limit: 3 } })))
    // @ts-expect-error It is asked until it succeeds.
    refuse(() => sure.retriable('memo', memo, { retry: { limit: 3 } }, () => ({ payload })))
    // @ts-expect-error It stands behind the pivot.
    refuse(() => sure.retriable('memo', memo, { after: [], payload }))
    // @ts-expect-error It stands behind the pivot.
    refuse(() => sure.retriable('memo', memo, { after: ['hold'], payload }))
    refuse(() => sure.retriable('memo', memo, { after: ['pay'], payload, retry: { capMs: 1 } }))
    // @ts-expect-error An abort is too late.
    refuse(() => sure.signal('approved', approval, { onTimeout: 'abort' }))
    // @ts-expect-error An abort is the default, and too late.
    refuse(() => sure.signal('approved', approval))
    const thanked = sure.signal('thanked', approval, { onTimeout: 'continue' }).timer('pause', { ms: 1 })
    refuse(() =>
      thanked.retriable('memo', memo, ({ thanked }) => ({ payload: { text: orElse(thanked.by, '') } })),
    )
    // @ts-expect-error The signal may not have come.
    refuse(() => thanked.retriable('memo', memo, ({ thanked }) => ({ payload: { text: thanked.by } })))
    expectTypeOf(sure).toExtend<SureSaga<'pay'>>()
  })

  it('A pivot is never undone, and sees every branch', () => {
    const aside = held.branch('memo', memo, { after: [], payload })
    refuse(() => aside.pivot('pay', capture, ({ hold }) => ({ at: { id: hold.holdId } })))
    // @ts-expect-error It cannot be undone.
    refuse(() => held.pivot('pay', charge, { undo: () => ({ to: undoCapture }) }))
    // @ts-expect-error It cannot be undone.
    refuse(() => held.pivot('pay', charge, () => ({ undo: () => ({ to: undoCapture }) })))
    // @ts-expect-error It is asked until its answer is definite.
    refuse(() => held.pivot('pay', charge, { retry: { limit: 3 } }))
    // @ts-expect-error It stands behind all branches.
    refuse(() => aside.pivot('pay', charge, { after: ['hold'] }))
  })
})

describe('what was there before', () => {
  it('The types of a saga of plain URLs are what they were', () => {
    const to = { action: 'http://old' }
    expectTypeOf(saga()).toEqualTypeOf<Saga<never>>()
    expectTypeOf(
      saga({ gid: 'g' })
        .branch('a', to)
        .branch('b', { ...to, after: ['a'] }),
    ).toEqualTypeOf<Saga<'a' | 'b'>>()
    expectTypeOf(saga().add(parallel(branch('x', to), branch('y', to)))).toEqualTypeOf<Saga<'x' | 'y'>>()
    expectTypeOf(serial(branch('x', to), parallel())).toEqualTypeOf<Part<'x'>>()
    expectTypeOf(parallel(...([] as Part[]))).toEqualTypeOf<Part>()
    const settings: SagaSettings = {}
    expectTypeOf(saga(settings)).toEqualTypeOf<Saga<never>>()
    const withInput: Saga<'a'> = saga({ input: { cents: 1 } }).branch('a', to)
    expect(withInput.request.branches).toHaveLength(1)
  })

  it('Each saga can be submitted, and is a saga to a function that takes any', () => {
    const client = createClient({ url: 'http://127.0.0.1:1' })
    refuse(() => client.submit(held))
    refuse(() => client.submit(held.pivot('pay', charge).retriable('memo', memo, { payload })))
    expectTypeOf(held).toExtend<Saga>()
    expectTypeOf(held.pivot('pay', charge)).toExtend<SureSaga>()
  })
})
