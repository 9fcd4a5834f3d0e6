import { expect, expectTypeOf, it } from 'vitest'
import { type AsJson, step } from '../src/index.ts'

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}

type Sku = string & { readonly brand: 'sku' }

it('The type of a value that JSON keeps is the same', () => {
  expectTypeOf<AsJson<Tree>>().toEqualTypeOf<Tree>()
  expectTypeOf<AsJson<{ sku: Sku; note?: string; pair: [number, null] }>>().toEqualTypeOf<{
    sku: Sku
    note?: string
    pair: [number, null]
  }>()
  expectTypeOf<AsJson<unknown>>().toBeUnknown()
  expectTypeOf<AsJson<void>>().toBeVoid()
})

it('A value that writes itself by toJSON is asked once', () => {
  class Receipt {
    readonly id = 1
    toJSON() {
      return { ...this, at: new Date(0) }
    }
  }
  const read: AsJson<Receipt> = JSON.parse(JSON.stringify(new Receipt()))
  expectTypeOf(read.at).toBeString()
  expect(read).toEqual({ id: 1, at: '1970-01-01T00:00:00.000Z' })
})

it('What JSON writes otherwise has the type of what is read back', () => {
  const value = { at: new Date(0), bytes: Buffer.from('a'), rows: [{ at: new Date(0) }], tell: () => 1 }
  const read: AsJson<typeof value> = JSON.parse(JSON.stringify(value))
  expectTypeOf<keyof typeof read>().toEqualTypeOf<'at' | 'bytes' | 'rows'>()
  expectTypeOf(read.at).toBeString()
  expect(read.at.slice(0, 4)).toBe('1970')
  expect(read.bytes.data[0]).toBe(97)
  expect(read.rows[0]?.at.length).toBe(24)
  expectTypeOf<AsJson<bigint | number>>().toBeNumber()
})

it('The undo of a step gets what came out of JSON', () => {
  const book = step('book', {
    do: async (_tx: undefined, _input: { sku: string }) => ({ at: new Date(0) }),
    undo: async (_tx, _input, done) => {
      expectTypeOf(done).toEqualTypeOf<{ at: string } | undefined>()
      // @ts-expect-error The instant is a text by now.
      done?.at.getTime()
    },
  })
  expect(book.name).toBe('book')
})
