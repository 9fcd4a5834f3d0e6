import { describe, expect, it } from 'vitest'
import { MinHeap } from '../src/min-heap.ts'
import { randomFrom } from './support/sagas.ts'

describe('a min-heap', () => {
  it('An empty heap returns no value', () => {
    const heap = new MinHeap<string>()
    expect([heap.size, heap.firstKey, heap.pop()]).toEqual([0, undefined, undefined])
  })

  it('A heap is empty again after its last value was taken', () => {
    const heap = new MinHeap<string>()
    heap.push(3, 'three')
    expect([heap.firstKey, heap.pop(), heap.size, heap.firstKey]).toEqual([3, 'three', 0, undefined])
    heap.push(1, 'one')
    expect(heap.pop()).toBe('one')
  })

  it.each([1, 2, 3, 4, 5])(
    'gives its values by their keys, whatever is pushed and popped (seed %i)',
    (seed) => {
      const random = randomFrom(seed)
      const heap = new MinHeap<number>()
      const model: number[] = []
      for (let step = 0; step < 5_000; step++) {
        if (random() < 0.55) {
          const key = Math.floor(random() * 200) - 100
          heap.push(key, key)
          model.push(key)
          model.sort((a, b) => a - b)
        } else {
          expect(heap.firstKey).toBe(model[0])
          expect(heap.pop()).toBe(model.shift())
        }
        expect(heap.size).toBe(model.length)
      }
    },
  )
})
