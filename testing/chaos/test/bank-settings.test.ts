import { expect, it } from 'vitest'
import { readCommand } from '../src/settings.ts'

const NOW = () => 42

it('The command of chaos orders faults by the number of sagas, and draws a seed', () => {
  expect(readCommand([], NOW)).toEqual({
    store: 'sqlite',
    sagas: 2_000,
    kills: 10,
    pauses: 5,
    ambiguous: 200,
    seed: 42,
    withoutBarrier: false,
    onlyWorkflows: false,
    inApps: false,
    json: false,
  })
})

it('The command of chaos takes all its options', () => {
  const line =
    '--store redis --sagas 10000 --kills 50 --pauses 200 --ambiguous 5000 --seed 7 --without-barrier --json'
  expect(readCommand(line.split(' '), NOW)).toEqual({
    store: 'redis',
    sagas: 10_000,
    kills: 50,
    pauses: 200,
    ambiguous: 5_000,
    seed: 7,
    withoutBarrier: true,
    onlyWorkflows: false,
    inApps: false,
    json: true,
  })
  expect(readCommand(['--kills', '0', '--help'], NOW)).toBe('help')
})

it('The command of chaos refuses what it does not understand', () => {
  for (const line of [
    '--store oracle',
    '--sagas 0',
    '--kills -1',
    '--seed x',
    '--sagas 9999999999',
    '--slow',
    '--only-workflows --without-barrier',
  ]) {
    expect(() => readCommand(line.split(' '), NOW), line).toThrow(/--/)
  }
})
