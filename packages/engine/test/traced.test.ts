import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { RecordingTracer } from './support/recording-tracer.ts'
import { buildSaga } from './support/sagas.ts'

const FAST = { leaseMs: 3_000, pollMs: 500, checkpointMs: 60_000 }
const CALLER = '1234567890abcdef'
const TRACEPARENT = `00-${'a'.repeat(32)}-${CALLER}-01`
const SPAN = (number: number) => number.toString(16).padStart(16, '0')

describe('the spans of a saga', () => {
  it('A saga that succeeds has one accept, one run, a call for each branch and a save', async () => {
    const fixture = new Fixture()
    const tracer = new RecordingTracer()
    const node = await fixture.node({ tracer, ...FAST })
    const sent: (string | undefined)[] = []
    fixture.services.onArrival = ({ span }) => sent.push(span?.parent.slice(36, 52))
    const options = { waitMs: 10_000, trace: { traceparent: TRACEPARENT, tracestate: undefined } }
    const view = await node.engine.submit(buildSaga('a', 2), options)
    expect(view.traceId).toBe('a'.repeat(32))
    expect(tracer.lines).toEqual([
      `accept saga a begins in ${CALLER}`,
      `run a begins, accepted, in ${SPAN(1)}`,
      '01 action begins',
      '01 action ends with success',
      'accept saga a ends',
      '02 action begins',
      '02 action ends with success',
      'save begins',
      'save ends with saved',
      'run a ends as succeeded, finished',
    ])
    // The span of the run is the second one, and each call is sent with its own.
    expect(sent).toEqual([SPAN(3), SPAN(4)])
  })

  it('Each attempt and each compensation has a span, and a failed attempt ends its own', async () => {
    const fixture = new Fixture()
    const tracer = new RecordingTracer()
    const node = await fixture.node({ tracer, ...FAST })
    fixture.services.script('a', '01', 'action', 'unknown')
    fixture.services.script('a', '02', 'action', 'failure')
    await node.submit(buildSaga('a', 2))
    await fixture.untilStatus('a', 'failed')
    expect(tracer.lines.filter((line) => /^\d\d /.test(line))).toEqual([
      '01 action begins',
      '01 action ends with unknown',
      '01 action begins, attempt 2',
      '01 action ends with success',
      '02 action begins',
      '02 action ends with failure',
      '02 compensate begins',
      '02 compensate ends with success',
      '01 compensate begins',
      '01 compensate ends with success',
    ])
  })

  it('Another node that takes a saga over goes on below the accept that is stored', async () => {
    const fixture = new Fixture()
    const one = await fixture.node({ tracer: new RecordingTracer(), ...FAST })
    fixture.services.defer('a', '02', 'action')
    await one.submit(buildSaga('a', 2))
    await fixture.time.advance(500)
    one.kill()
    const tracer = new RecordingTracer()
    await fixture.node({ tracer, ...FAST })
    await fixture.untilStatus('a', 'succeeded')
    expect(tracer.lines[0]).toBe(`run a begins, claimed, in ${SPAN(1)}`)
    expect(tracer.lines.at(-1)).toBe('run a ends as succeeded, finished')
  })

  it('A submit that is refused ends its span with the code, and a transaction that is given back ends its run', async () => {
    const fixture = new Fixture()
    const tracer = new RecordingTracer()
    const node = await fixture.node({ tracer, ...FAST })
    await node.submit(buildSaga('a', 1), { waitMs: 10_000 })
    await expect(node.submit(buildSaga('a', 2))).rejects.toThrow()
    expect(tracer.lines.at(-1)).toBe('accept saga a ends with SAGA_GID_CONFLICT')
    fixture.services.otherwise = () => 'ongoing'
    await node.submit(buildSaga('b', 1))
    const closing = node.engine.close(1_000)
    await fixture.time.advance(2_000)
    await closing
    expect(tracer.lines.filter((line) => line.startsWith('run b'))).toEqual([
      expect.stringMatching(/^run b begins/),
      expect.stringMatching(/^run b ends as submitted, (released|lost|given-back)/),
    ])
  })

  it('The log names the trace and the span in each event about a transaction', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ tracer: new RecordingTracer(), ...FAST })
    fixture.services.script('a', '01', 'action', 'failure')
    fixture.services.script('a', '01', 'compensate', 'failure')
    await node.submit(buildSaga('a'))
    await fixture.untilStatus('a', 'failed')
    const [event] = node.seen.named('transaction-needs-attention')
    expect(event?.trace?.parent).toBe(`00-${'a'.repeat(32)}-${SPAN(2)}-01`)
  })
})
