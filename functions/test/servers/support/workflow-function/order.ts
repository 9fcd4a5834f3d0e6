import { step, workflow } from '@counterstep/sdk'

/** It is longer than the functions of the fixture hold a transaction. */
const REST_MS = 1_500

const pack = step('pack', {
  do: (_tx: undefined, part: string) => {
    console.log(`packs ${part}`)
    return part.toUpperCase()
  },
})

/** Packs one part after the other, and rests before the third and before the fifth. */
export const order = workflow(
  'order',
  { version: 1, steps: [pack] },
  async (ctx, { parts }: { readonly parts: readonly string[] }) => {
    const packed: string[] = []
    for (const [at, part] of parts.entries()) {
      if (at === 2 || at === 4) await ctx.sleep(`rest-${at}`, REST_MS)
      packed.push(await ctx.step(pack, part))
    }
    return { packed }
  },
)
