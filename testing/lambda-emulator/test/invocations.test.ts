import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { InvocationReport } from '../src/index.ts'
import { describeLambda } from '../src/vitest/describe-lambda.ts'
import { openFunction, readAnswer } from './open-function.ts'

const WAIT_MS_MAX = 20_000

describeLambda('an invocation', (client) => {
  it('An invocation is answered by a handler under the real runtime client', async () => {
    const reports: InvocationReport[] = []
    const onReport = (report: InvocationReport) => reports.push(report)
    const tested = await openFunction(client, 'steps.handler', { onReport })
    const first = readAnswer(await tested.invoke({ print: 'hello' }))
    const second = readAnswer(await tested.invoke({}))
    expect([first.invocations, second.invocations]).toEqual([1, 2])
    expect(second.pid).toBe(first.pid)
    expect(first.remainingMs).toBeGreaterThan(10_000)
    expect(first.remainingMs).toBeLessThanOrEqual(20_000)
    expect(reports).toEqual([
      {
        functionName: 'tested',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        environment: 1,
        pid: first.pid,
        outcome: 'answered',
        initMs: expect.any(Number),
        durationMs: expect.any(Number),
        rssBytesMax: expect.any(Number),
        endedAt: expect.any(Number),
      },
      expect.objectContaining({ environment: 1, initMs: undefined, outcome: 'answered' }),
    ])
    expect(reports[0]?.rssBytesMax).toBeGreaterThan(20_000_000)
    expect(reports[0]?.requestId).not.toBe(reports[1]?.requestId)
  })

  it('The output of a function is in a file and told as lines', async () => {
    const tested = await openFunction(client, 'steps.handler')
    await tested.invoke({ print: 'hello' })
    await vi.waitFor(
      () =>
        expect(tested.lines.map(({ text }) => text)).toContainEqual(expect.stringMatching(/INFO\thello$/)),
      WAIT_MS_MAX,
    )
    await tested.stop()
    const log = join(tested.logFolder, 'tested-1.log')
    await vi.waitFor(async () => expect(await readFile(log, 'utf8')).toMatch(/INFO\thello\n/), WAIT_MS_MAX)
  })

  it('A function sees the variables of AWS and those of its owner, and no others of this process', async () => {
    const variables = { MINE: 'yes', AWS_ACCESS_KEY_ID: 'given', _HANDLER: 'not.this' }
    const tested = await openFunction(client, 'steps.variables', { variables })
    const seen = readAnswer(await tested.invoke({}))
    expect(seen).toMatchObject({
      MINE: 'yes',
      AWS_ACCESS_KEY_ID: 'given',
      _HANDLER: 'steps.variables',
      AWS_LAMBDA_FUNCTION_NAME: 'tested',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_REGION: 'eu-central-1',
    })
    expect(seen).not.toHaveProperty('VITEST')
  })

  it('An invocation fails with what the handler threw, and the environment lives on', async () => {
    const tested = await openFunction(client, 'steps.handler')
    const failed = await tested.invoke({ throw: 'not today' })
    expect(failed).toMatchObject({
      type: 'failed',
      error: { errorType: 'RangeError', errorMessage: 'not today' },
      report: { environment: 1, outcome: 'failed' },
    })
    expect(readAnswer(await tested.invoke({})).invocations).toBe(2)
  })

  it('An invocation fails when its process ends, and the next one starts cold', async () => {
    const tested = await openFunction(client, 'steps.handler')
    expect(await tested.invoke({ exit: 3 })).toMatchObject({
      type: 'failed',
      error: { errorType: 'Runtime.ExitError', errorMessage: expect.stringContaining('exit code 3') },
    })
    const next = await tested.invoke({})
    expect(readAnswer(next).invocations).toBe(1)
    expect(next).toMatchObject({ report: { environment: 2, initMs: expect.any(Number) } })
  })

  it('An invocation fails with the error of the start when the module does not load', async () => {
    const tested = await openFunction(client, 'broken.handler')
    const outcome = await tested.invoke({})
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { errorMessage: expect.stringContaining('no start today') },
    })
    expect(tested.environments()).toEqual([])
  })

  it('An invocation fails when the start takes longer than it may', async () => {
    const tested = await openFunction(client, 'hanging.handler', { initTimeoutMs: 1000 })
    expect(await tested.invoke({})).toMatchObject({
      type: 'failed',
      error: {
        errorType: 'Sandbox.Timedout',
        errorMessage: 'Error: initialisation timed out after 1000 ms',
      },
    })
  })

  it('An invocation fails when the answer has more than 6 MB, and the environment lives on', async () => {
    const tested = await openFunction(client, 'steps.handler')
    expect(await tested.invoke({ answerBytes: 6_291_555 })).toMatchObject({
      error: { errorType: 'Function.ResponseSizeTooLarge' },
    })
    const largest = await tested.invoke({ answerBytes: 6_291_554 })
    expect(largest).toMatchObject({ type: 'answered', report: { environment: 1 } })
  })

  it('An event of more than 6 MB is refused', async () => {
    const tested = await openFunction(client, 'steps.handler')
    await expect(tested.invoke('a'.repeat(6_291_555))).rejects.toThrow(RangeError)
  })
})
