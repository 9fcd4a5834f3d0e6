import type { ProblemView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { judgeConsistency } from './judge-consistency.ts'

const problem = (name: string, waiting: number, attention = 0): ProblemView => ({
  problem: name,
  waiting,
  attention,
  oldestAt: 1,
})

describe('the first card of the overview', () => {
  it('All is well only when nothing needs a person and nothing is called again', () => {
    expect(judgeConsistency(0, [])).toEqual({ tone: 'good', retrying: 0, top: [], others: 0 })
    expect(judgeConsistency(0, [problem('a action 404', 11)]).tone).toBe('warn')
    expect(judgeConsistency(2, []).tone).toBe('bad')
    expect(judgeConsistency(2, [problem('a action 404', 11, 2)])).toMatchObject({ tone: 'bad', retrying: 9 })
  })

  it('What has not been read is not called well', () => {
    expect(judgeConsistency(0, undefined).tone).toBe('plain')
    expect(judgeConsistency(1, undefined).tone).toBe('bad')
  })

  it('It names the three problems that most have', () => {
    const problems = [
      problem('a', 1),
      problem('b', 5),
      problem('c', 3, 3),
      problem('d', 2),
      problem('e', 9, 1),
    ]
    const { retrying, top, others } = judgeConsistency(3, problems)
    expect(top.map((each) => [each.problem, each.count])).toEqual([
      ['e', 8],
      ['b', 5],
      ['d', 2],
    ])
    expect({ retrying, others }).toEqual({ retrying: 16, others: 1 })
  })
})
