import { branch, newGid, type Part, parallel, type Saga, saga, serial } from '@counterstep/sdk'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { catchCode } from './catch-error.ts'

const to = (name: string) => ({
  action: `http://service/${name}`,
  compensation: `http://service/${name}/undo`,
})

function readAfter(value: Saga): Record<string, readonly string[] | undefined> {
  return Object.fromEntries(value.request.branches.map(({ id, after }) => [id, after]))
}

describe('a saga', () => {
  it('A saga is a plain request, one branch after the other', () => {
    const transfer = saga({ gid: 'order-1', deadlineMs: 60_000 })
      .branch('debit', { ...to('debit'), payload: { cents: 1250 } })
      .branch('credit', to('credit'))
    expect(transfer.request).toEqual({
      gid: 'order-1',
      deadlineMs: 60_000,
      branches: [
        { id: 'debit', after: [], ...to('debit'), payload: { cents: 1250 } },
        { id: 'credit', after: ['debit'], ...to('credit') },
      ],
    })
  })

  it('A saga keeps the name and the tags by which it is found', () => {
    const naming = { name: 'transfer', tags: { region: 'eu' } }
    expect(saga(naming).branch('a', to('a')).request).toMatchObject(naming)
    expect(saga().branch('a', to('a')).request).not.toHaveProperty('name')
    expectTypeOf<NonNullable<Parameters<typeof saga>[0]>['name']>().toEqualTypeOf<string | undefined>()
    // @ts-expect-error A tag is a text.
    saga({ tags: { tier: 2 } })
  })

  it('A saga has one gid, which is made once, and is itself never changed', () => {
    const empty = saga()
    const one = empty.branch('a', to('a'))
    const two = one.branch('b', to('b'))
    expect([one.gid, two.request.gid]).toEqual([empty.gid, empty.gid])
    expect([empty, one, two].map(({ request }) => request.branches.length)).toEqual([0, 1, 2])
    expect(saga().gid).not.toBe(empty.gid)
  })

  it('A saga is composed of serial and parallel parts', () => {
    const travel = saga()
      .branch('reserve', to('reserve'))
      .add(
        parallel(branch('hotel', to('hotel')), serial(branch('out', to('out')), branch('back', to('back')))),
      )
      .branch('pay', to('pay'))
    expect(readAfter(travel)).toEqual({
      reserve: [],
      hotel: ['reserve'],
      out: ['reserve'],
      back: ['out'],
      pay: ['hotel', 'back'],
    })
  })

  it('Parallel parts start at once when nothing stands before them', () => {
    const both = saga().add(parallel(branch('a', to('a')), branch('b', to('b'))))
    expect(readAfter(both)).toEqual({ a: [], b: [] })
  })

  it('A branch may name the branches that it comes after', () => {
    const value = saga()
      .branch('a', to('a'))
      .branch('b', to('b'))
      .branch('c', { ...to('c'), after: ['a'] })
      .branch('d', { ...to('d'), after: [] })
    expect(readAfter(value)).toEqual({ a: [], b: ['a'], c: ['a'], d: [] })
  })

  it('Empty parts of a saga are skipped', () => {
    const value = saga().branch('a', to('a')).add(serial()).add(parallel()).branch('b', to('b'))
    expect(readAfter(value)).toEqual({ a: [], b: ['a'] })
  })

  it('A saga refuses an id twice, and an after that names no earlier branch', () => {
    const one = saga().branch('a', to('a'))
    expect(catchCode(() => one.branch('a', to('a')))).toBe('SAGA_BRANCH_ID_DUPLICATE')
    expect(catchCode(() => one.add(parallel(branch('b', to('b')), branch('b', to('b')))))).toBe(
      'SAGA_BRANCH_ID_DUPLICATE',
    )
    expect(catchCode(() => one.add(branch('b', { ...to('b'), after: ['c'] })))).toBe('SAGA_AFTER_UNKNOWN')
  })

  it('A saga knows the ids of its branches by type', () => {
    const one = saga().branch('a', to('a'))
    expectTypeOf(one).toEqualTypeOf<Saga<'a'>>()
    expectTypeOf(one.branch('b', to('b'))).toEqualTypeOf<Saga<'a' | 'b'>>()
    expectTypeOf(parallel(branch('x', to('x')), branch('y', to('y')))).toEqualTypeOf<Part<'x' | 'y'>>()
    expectTypeOf(one.add(branch('b', to('b')))).toEqualTypeOf<Saga<'a' | 'b'>>()
    expectTypeOf(one).toExtend<Saga>()
    const misspelt = () =>
      // @ts-expect-error There is no branch "aa".
      one.branch('b', { ...to('b'), after: ['aa'] })
    expect(catchCode(misspelt)).toBe('SAGA_AFTER_UNKNOWN')
  })

  it('A saga of any shape names only earlier branches in after', () => {
    let next = 0
    const { part } = fc.letrec<{ part: Part }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null).map(() => {
          next += 1
          return branch(`b${next}`, to('x'))
        }),
        fc.array(tie('part'), { maxLength: 4 }).map((parts) => serial(...parts)),
        fc.array(tie('part'), { maxLength: 4 }).map((parts) => parallel(...parts)),
      ),
    }))
    fc.assert(
      fc.property(part, (whole) => {
        const seen = new Set<string>()
        for (const { id = '', after = [] } of saga().add(whole).request.branches) {
          expect(after.every((each) => seen.has(each))).toBe(true)
          seen.add(id)
        }
      }),
    )
  })
})

describe('newGid', () => {
  it('New gids are UUIDs of version 7 that sort by time and never repeat', () => {
    const before = Date.now()
    const gids = Array.from({ length: 1_000 }, newGid)
    expect(new Set(gids).size).toBe(1_000)
    for (const gid of gids) {
      expect(gid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const at = Number.parseInt(gid.replace('-', '').slice(0, 12), 16)
      expect(at).toBeGreaterThanOrEqual(before)
      expect(at).toBeLessThanOrEqual(Date.now())
    }
  })
})
