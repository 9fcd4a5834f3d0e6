import { expect, it } from 'vitest'
import { listInsecureSwitches } from '../src/host-config.ts'
import { readFunctionConfig } from '../src/read-function-config.ts'

const SOUND = {
  COUNTERSTEP_STORE: 'redis://cache',
  COUNTERSTEP_ALLOW_TARGETS: 'https://bank.example',
  COUNTERSTEP_AUTHORIZER: 'iam',
}
const CASES = [
  [{}, []],
  [{ COUNTERSTEP_AUTHORIZER: '', COUNTERSTEP_INSECURE_NO_KEYS: 'true' }, ['no-keys']],
  [{ COUNTERSTEP_ALLOW_ANY_TARGET: 'true' }, ['allow-any-target']],
  [{ COUNTERSTEP_STORE_ACCEPT_CLASS_C: 'true' }, ['store-accept-class-c']],
] as const
it.each(CASES)('The environment %o switches off the protections %o', (environment, switches) => {
  const read = readFunctionConfig('api', { ...SOUND, ...environment })
  if ('problems' in read) throw new Error(read.problems.join(' '))
  expect(listInsecureSwitches(read.config)).toEqual(switches)
})

it('The embedded store has nothing to switch off', () => {
  const store = {
    type: 'sqlite',
    path: 'a',
    place: 'a',
    synchronous: 'FULL',
    freeBytesMin: 0,
    waitMs: 0,
  } as const
  expect(listInsecureSwitches({ access: { insecure: [] }, targets: { others: 'none' }, store })).toEqual([])
})
