import type { WakeUpQueue, WakeUpRequest } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { splitBySpeed } from '../src/split-by-speed.ts'

const quickOne = { gid: 'a' as Gid, dueInMs: 0 }
const slowOne = { gid: 'b' as Gid, dueInMs: 0, isSlow: true }

function record(): WakeUpQueue & { readonly got: (readonly WakeUpRequest[])[] } {
  const got: (readonly WakeUpRequest[])[] = []
  return { got, schedule: async (requests) => void got.push(requests) }
}

const broken: WakeUpQueue = { schedule: () => Promise.reject(new Error('the queue is down')) }

describe('two queues', () => {
  it('Each request goes to the queue of its speed', async () => {
    const [quick, slow] = [record(), record()]
    await splitBySpeed(quick, slow).schedule([quickOne, slowOne])
    expect([quick.got, slow.got]).toEqual([[[quickOne]], [[slowOne]]])
  })

  it('A queue for which there is nothing is not asked', async () => {
    const quick = record()
    await splitBySpeed(quick, broken).schedule([quickOne])
    expect(quick.got).toEqual([[quickOne]])
  })

  it('A queue that is down does not keep the requests of the other one back, and is reported', async () => {
    const slow = record()
    await expect(splitBySpeed(broken, slow).schedule([quickOne, slowOne])).rejects.toThrow(
      'the queue is down',
    )
    expect(slow.got).toEqual([[slowOne]])
  })
})
