import { describe, expect, it } from 'vitest'
import type { CpuProfile } from '../src/profile/cpu-profile.ts'
import { mergedStacks, type StackFrame } from '../src/profile/merged-stacks.ts'
import { flameGraph } from '../src/report/charts/flame-graph.ts'

const at = (functionName: string, url = 'file:///a/packages/engine/src/run.ts') => ({
  functionName,
  url,
  lineNumber: 6,
})

/** Under the root: `work` twice, each calling `save`, and an idle second. A sample lasts as long as the next one's delta. */
const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: at('(root)', ''), children: [2, 3, 4] },
    { id: 2, callFrame: at('work'), children: [5] },
    { id: 3, callFrame: at('work'), children: [6] },
    { id: 4, callFrame: at('(idle)', '') },
    { id: 5, callFrame: at('save') },
    { id: 6, callFrame: at('save') },
  ],
  samples: [2, 5, 4, 6, 3],
  timeDeltas: [0, 300_000, 100_000, 1_000_000, 500_000, 100_000],
}

function shapeOf({ callFrame, totalUs, callees }: StackFrame): unknown {
  return [callFrame.functionName, totalUs, ...callees.map(shapeOf)]
}

describe('stacks', () => {
  it('are merged where they are equal, without idle time', () => {
    const root = mergedStacks(PROFILE, 0)
    expect(root && shapeOf(root)).toEqual(['(root)', 1_000_000, ['work', 1_000_000, ['save', 600_000]]])
  })

  it('are taken from an instant on', () => {
    const root = mergedStacks(PROFILE, 1.5)
    expect(root && shapeOf(root)).toEqual(['(root)', 600_000, ['work', 600_000, ['save', 500_000]]])
  })

  it('are none where a thread was idle', () => {
    expect(mergedStacks({ ...PROFILE, samples: [4], timeDeltas: [0, 9_000] }, 0)).toBeUndefined()
  })
})

describe('a flame graph', () => {
  it('gives each frame its share of the width, and its name, place and share', () => {
    const root = mergedStacks(PROFILE, 0)
    if (root === undefined) throw new Error('there is no stack')
    const text = String(flameGraph('main', root))
    const widths = [...text.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g)]
    expect(widths.map(([, kind, x, y, width]) => [kind, x, y, width])).toEqual([
      ['engine', '0.0', '0', '1080.0'],
      ['own', '0.0', '17', '1080.0'],
      ['own', '0.0', '34', '648.0'],
    ])
    expect(text).toContain('<title>save (packages/engine/src/run.ts:7) 60 %, 600 ms</title>')
  })
})
