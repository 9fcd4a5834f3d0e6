// A plain interpreter of the random programs: callbacks, no promises, and nothing of the package. The pump must do the same.
import type { JournalEntry } from '@counterstep/protocol'
import type { Leaf, Node } from './random-program.ts'

type Outcome = { readonly value: unknown } | { readonly failed: string }
type Done = (outcome: Outcome) => void

export interface Interpreted {
  /** Everything that the program has asked for, in its order. */
  readonly asks: readonly { readonly id: string; readonly do: Leaf['do'] }[]
  /** How the program ended. It is absent while it waits. */
  readonly end: Outcome | undefined
  /** Entries of the journal that the program had not asked for when their turn came. */
  readonly unasked: readonly string[]
}

/** Runs a program until it has used up the journal. */
export function interpret(program: Node, journal: readonly JournalEntry[]): Interpreted {
  const counts = new Map<string, number>()
  const waiting = new Map<string, Done>()
  const asks: { id: string; do: Leaf['do'] }[] = []
  const unasked: string[] = []
  let end: Outcome | undefined

  const ask = (leaf: Leaf, done: Done): void => {
    const count = (counts.get(leaf.id) ?? 0) + 1
    counts.set(leaf.id, count)
    const id = count === 1 ? leaf.id : `${leaf.id}.${count}`
    asks.push({ id, do: leaf.do })
    waiting.set(id, done)
  }

  const inOrder = (parts: readonly Node[], values: readonly unknown[], done: Done): void => {
    const [part, ...rest] = parts
    if (part === undefined) done({ value: values })
    else
      start(part, (outcome) =>
        'failed' in outcome ? done(outcome) : inOrder(rest, [...values, outcome.value], done),
      )
  }

  const allOf = (parts: readonly Node[], done: Done): void => {
    const values: unknown[] = []
    let left = parts.length
    parts.forEach((part, at) => {
      start(part, (outcome) => {
        if (left === 0) return
        if ('failed' in outcome) left = 0
        else {
          values[at] = outcome.value
          left -= 1
        }
        if (left === 0) done('failed' in outcome ? outcome : { value: values })
      })
    })
  }

  const firstOf = (parts: readonly Node[], done: Done): void => {
    let isOpen = true
    for (const part of parts) {
      start(part, (outcome) => {
        if (!isOpen) return
        isOpen = false
        done(outcome)
      })
    }
  }

  const start = (node: Node, done: Done): void => {
    switch (node.do) {
      case 'seq':
        inOrder(node.parts, [], done)
        break
      case 'all':
        allOf(node.parts, done)
        break
      case 'race':
        firstOf(node.parts, done)
        break
      case 'catch':
        start(node.body, (outcome) => {
          if (!('failed' in outcome)) {
            done(outcome)
            return
          }
          const caught = outcome.failed
          start(node.otherwise, (other) =>
            done('failed' in other ? other : { value: { caught, otherwise: other.value } }),
          )
        })
        break
      case 'fail':
        done({ failed: node.code })
        break
      case 'sleep':
        ask(node, () => done({ value: 'slept' }))
        break
      default:
        ask(node, done)
    }
  }

  start(program, (outcome) => {
    end ??= outcome
  })
  for (const { id, value, failed } of journal) {
    const done = waiting.get(id)
    if (done === undefined) unasked.push(id)
    else done(failed === undefined ? { value } : { failed: failed.code })
  }
  return { asks, end, unasked }
}
