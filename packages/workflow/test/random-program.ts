// Random programs as plain values, with a writer that makes each of them a function over promises.
import type { PlanContext } from '@counterstep/workflow'
import fc from 'fast-check'
import { Failure } from './failure.ts'
import { call, step } from './write-program.ts'

export type Leaf = { readonly do: 'call' | 'step' | 'run' | 'sleep' | 'signal'; readonly id: string }

export type Node =
  | Leaf
  /** One after the other. Only a part that is not the first may be a `fail`. */
  | { readonly do: 'seq'; readonly parts: readonly Node[] }
  /** `isNative` uses Promise.all and Promise.race in place of those of ctx. */
  | { readonly do: 'all' | 'race'; readonly parts: readonly Node[]; readonly isNative: boolean }
  | { readonly do: 'catch'; readonly body: Node; readonly otherwise: Node }
  | { readonly do: 'fail'; readonly code: string }

// Few ids, so that the same one often comes again.
const leaf: fc.Arbitrary<Leaf> = fc.record({
  do: fc.constantFrom('call', 'call', 'call', 'step', 'step', 'run', 'sleep', 'signal'),
  id: fc.constantFrom('a', 'b', 'c', 'd'),
})

/** Each part that runs beside others begins with an ask, so the order of asking is that of the parts. */
export const anyNode: fc.Arbitrary<Node> = fc.letrec<{ node: Node; late: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(tie('node'), fc.array(tie('late'), { maxLength: 3 }))
      .map(([first, rest]) => ({ do: 'seq' as const, parts: [first, ...rest] })),
    fc.record({
      do: fc.constantFrom('all', 'race'),
      parts: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      isNative: fc.boolean(),
    }),
    fc.record({ do: fc.constant('catch' as const), body: tie('node'), otherwise: tie('late') }),
  ),
  late: fc.oneof(
    { weight: 9, arbitrary: tie('node') },
    { weight: 1, arbitrary: fc.constantFrom('X', 'Y').map((code) => ({ do: 'fail' as const, code })) },
  ),
})).node

/** More at once than one answer may have, in some of them. */
const wide: fc.Arbitrary<Node> = fc.record({
  do: fc.constant('all' as const),
  parts: fc.array(leaf, { minLength: 95, maxLength: 105 }),
  isNative: fc.boolean(),
})

const oneStep: fc.Arbitrary<Leaf> = fc.record({
  do: fc.constant('step'),
  id: fc.constantFrom('a', 'b', 'c', 'd'),
})

/** Steps alone and steps beside others, which come to be asked for in one plan when their calls have ended together. */
export const anyFork: fc.Arbitrary<Node> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: oneStep },
      {
        weight: 4,
        arbitrary: fc
          .array(oneStep, { minLength: 2, maxLength: 3 })
          .map((parts) => ({ do: 'all' as const, parts, isNative: true })),
      },
      { weight: 1, arbitrary: wide },
    ),
    { minLength: 2, maxLength: 3 },
  )
  .map((parts) => ({
    do: 'all',
    parts: parts.map((part) => ({ do: 'seq', parts: [{ do: 'call', id: 'a' }, part] })),
    isNative: true,
  }))

export function runNode(ctx: PlanContext, node: Node): Promise<unknown> {
  switch (node.do) {
    case 'call':
      return call(ctx, node.id, {}, 'svc:/x')
    case 'step':
      return step(ctx, node.id)
    case 'run':
      return ctx.run(node.id, () => `ran ${node.id}`)
    case 'sleep':
      return ctx.sleep(node.id, 100).then(() => 'slept')
    case 'signal':
      return ctx.signal(node.id, node.id, { timeoutMs: 50 })
    case 'seq':
      return runInOrder(ctx, node.parts)
    case 'all': {
      const parts = node.parts.map((part) => runNode(ctx, part))
      return node.isNative ? Promise.all(parts) : ctx.all(parts)
    }
    case 'race': {
      const parts = node.parts.map((part) => runNode(ctx, part))
      return node.isNative ? Promise.race(parts) : ctx.race(parts)
    }
    case 'catch':
      return runCaught(ctx, node.body, node.otherwise)
    case 'fail':
      return Promise.reject(new Failure(node.code))
  }
}

async function runInOrder(ctx: PlanContext, parts: readonly Node[]): Promise<unknown> {
  const values: unknown[] = []
  for (const part of parts) values.push(await runNode(ctx, part))
  return values
}

async function runCaught(ctx: PlanContext, body: Node, otherwise: Node): Promise<unknown> {
  try {
    return await runNode(ctx, body)
  } catch (error: unknown) {
    if (!(error instanceof Failure)) throw error
    return { caught: error.failed.code, otherwise: await runNode(ctx, otherwise) }
  }
}
