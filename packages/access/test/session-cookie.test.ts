import { expect, it } from 'vitest'
import { readSessionCookie } from '../src/sessions/session-cookie.ts'

const HALF = 'a'.repeat(43)
const OTHER = 'b'.repeat(43)
/** Each takes a fraction of a millisecond. The time is CPU time, since the test may wait for a core. */
const CPU_MS_MAX = 1_000

it.each([
  ['alone', `counterstep=${HALF}`, HALF],
  ['among others', `a=1; counterstep=${HALF}; b=2`, HALF],
  ['with blanks around it', `a=1;\t counterstep=${HALF} `, HALF],
  ['beside one of https', `counterstep=${OTHER}; __Secure-counterstep=${HALF}`, HALF],
  ['twice', `counterstep=${HALF}; counterstep=${OTHER}`, undefined],
  ['as the end of another name', `xcounterstep=${HALF}`, undefined],
  ['in the value of another', `a=counterstep=${HALF}`, undefined],
  ['without a value', 'counterstep=', undefined],
])('The half of a session is found in a cookie that stands %s', (_where, cookies, half) => {
  expect(readSessionCookie(cookies)).toBe(half)
})

it.each([';'.repeat(16_000), 'counterstep=;'.repeat(1_200), `${' '.repeat(15_900)}counterstep=`])(
  'S41: A head of very many cookies is looked through in no time (%#)',
  (cookies) => {
    const cpu = process.cpuUsage()
    for (let times = 0; times < 500; times++) readSessionCookie(cookies)
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(CPU_MS_MAX)
  },
)
