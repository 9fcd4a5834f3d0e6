import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@counterstep/test-servers/until'
import { expect } from 'vitest'
import type { PlayedBranches } from '../support/branch-service.ts'
import { type DtmFixture, UNTIL_MS_MAX } from '../support/dtm-fixture.ts'
import { normalizeCalls } from './compare-calls.ts'
import type { DeviantAnswer, Deviation } from './deviations.ts'
import { type GoldenAnswer, type GoldenCase, type GoldenStep, listAnswers, listCalls } from './golden-case.ts'
import { fill, freshValues, matches, type Values } from './placeholders.ts'

const SETTLE_MS = 100

/** Replays one case and expects the recorded answers and calls, or the deviations that are listed for it. */
export async function playCase(
  dtm: DtmFixture,
  golden: GoldenCase,
  deviation: Deviation | undefined,
): Promise<void> {
  const played = dtm.play(golden.branches)
  const values = freshValues(played.url)
  for (const [position, step] of golden.steps.entries()) {
    if (step.request !== undefined) {
      const answer = await send(dtm, step, values)
      expectAnswer(answer, step, deviation?.answers?.[position], values, `step ${position}`)
    } else if (step.until !== undefined) {
      await waitUntil(dtm, played, step.until, deviation?.untils?.[position], values)
    } else await delay(step.pauseMs ?? 0)
  }
  const calls = deviation?.calls ?? []
  // The pause below shows that no further call comes, but on a busy machine it is too short for the expected calls.
  if (calls !== 'any')
    await until('every call has come', UNTIL_MS_MAX, () => played.calls.length >= calls.length)
  await delay(golden.settleMs ?? SETTLE_MS)
  expectCalls(played, golden, deviation, values)
}

async function send(
  dtm: DtmFixture,
  { request, keepLines }: GoldenStep,
  values: Values,
): Promise<GoldenAnswer> {
  if (request === undefined) throw new Error('no request')
  const answer = await dtm.node.app.inject({
    method: request.method as 'GET',
    url: fill(request.target, values),
    headers: { ...request.headers },
    ...(request.body === undefined ? {} : { payload: fill(request.body, values) }),
  })
  const { location } = answer.headers
  return {
    status: answer.statusCode,
    contentType: String(answer.headers['content-type'] ?? ''),
    ...(location === undefined ? {} : { location }),
    body: keepLines === undefined ? answer.body : pickLines(answer.body, keepLines),
  }
}

function pickLines(body: string, pattern: string): string {
  const kept = new RegExp(pattern)
  return body
    .split('\n')
    .filter((line) => kept.test(line))
    .join('\n')
}

function expectAnswer(
  actual: GoldenAnswer,
  step: GoldenStep,
  deviant: DeviantAnswer | undefined,
  values: Values,
  what: string,
): void {
  const recorded = listAnswers(step)
  const isRecorded = recorded.some((answer) => isSame(actual, answer, values))
  if (deviant === undefined) {
    const expected = recorded.map((answer) => ({ ...answer, body: fill(answer.body, values) }))
    // If this fails, the message shows both sides.
    expect(isRecorded ? 'as recorded' : { what, actual, expected }).toBe('as recorded')
    return
  }
  expect({ what, isRecorded, status: actual.status }).toEqual({
    what,
    isRecorded: deviant.byTime === true ? isRecorded : false,
    status: deviant.status,
  })
  if (deviant.body === undefined) return
  const isAsWritten = matches(actual.body, deviant.body, values)
  expect(isAsWritten ? 'as written' : { what, actual, written: deviant.body }).toBe('as written')
}

function isSame(actual: GoldenAnswer, recorded: GoldenAnswer, values: Values): boolean {
  return (
    actual.status === recorded.status &&
    actual.contentType === (recorded.contentType ?? '') &&
    (recorded.location === undefined || actual.location === recorded.location) &&
    matches(actual.body, recorded.body, values)
  )
}

async function waitUntil(
  dtm: DtmFixture,
  played: PlayedBranches,
  { gid, status, calls = 0 }: NonNullable<GoldenStep['until']>,
  deviant: string | undefined,
  values: Values,
): Promise<void> {
  if (deviant === 'skip') return
  const wanted = deviant ?? status
  await until(`${gid} ${wanted} after ${calls} calls`, UNTIL_MS_MAX, async () => {
    if (played.calls.length < calls) return false
    const { body } = await dtm.node.get(`query?gid=${fill(gid, values)}`)
    return wanted === undefined || JSON.parse(body).transaction?.status === wanted
  })
}

function expectCalls(
  played: PlayedBranches,
  golden: GoldenCase,
  deviation: Deviation | undefined,
  values: Values,
): void {
  if (deviation?.calls === 'any') return
  const actual = normalizeCalls(played.calls, values, golden)
  const recorded = listCalls(golden).map((calls) => normalizeCalls(calls, values, golden))
  const same = recorded.find((calls) => calls.join('\n\n') === actual.join('\n\n'))
  if (deviation?.calls !== undefined) {
    expect(same).toBeUndefined()
    expect(played.calls.map(({ method, target }) => `${method} ${target.split('?', 1)[0]}`)).toEqual(
      deviation.calls,
    )
    return
  }
  expect(actual).toEqual(same ?? recorded[0] ?? [])
}
