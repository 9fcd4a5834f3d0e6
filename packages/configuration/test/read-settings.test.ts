import { describe, expect, it } from 'vitest'
import { findUnknownVariables, hasAll, readSettings } from '../src/read-settings.ts'
import { orUnset, trueOrFalse, wholeNumber } from '../src/schemas.ts'
import { declareSettings } from '../src/setting.ts'

const setting = declareSettings('any')

const SETTINGS = {
  waitMs: setting(wholeNumber(1, 1_000), 'how long', 250),
  limit: setting(orUnset(wholeNumber(1, 9)), 'how many'),
  loud: setting(trueOrFalse, 'says more', 'false'),
} as const
const NAMES = ['waitMs', 'limit', 'loud'] as const

function read(flags: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>>) {
  return readSettings(SETTINGS, NAMES, { flags: new Map(Object.entries(flags)), environment })
}

describe('settings', () => {
  it('A setting has its fallback where nothing is set, and no source then', () => {
    const { known, sources, problems } = read({}, { COUNTERSTEP_LIMIT: '' })
    expect(known).toEqual({ waitMs: 250, limit: undefined, loud: false })
    expect([...sources, ...problems]).toEqual([])
    expect(hasAll(known, NAMES)).toBe(true)
  })

  it('A setting comes from a flag before a variable, and its source says from which', () => {
    const environment = { COUNTERSTEP_WAIT_MS: '2', COUNTERSTEP_LIMIT: '3' }
    const { known, sources } = read({ 'wait-ms': '1' }, environment)
    expect(known).toMatchObject({ waitMs: 1, limit: 3 })
    expect([...sources]).toEqual([
      ['waitMs', '--wait-ms'],
      ['limit', 'COUNTERSTEP_LIMIT'],
    ])
  })

  it('All wrong settings are named by where they came from, and left out', () => {
    const { known, problems } = read({ 'wait-ms': '0' }, { COUNTERSTEP_LIMIT: '10', COUNTERSTEP_LOUD: '1' })
    expect(problems).toEqual([
      '--wait-ms must be a whole number from 1 to 1000.',
      'COUNTERSTEP_LIMIT must be a whole number from 1 to 9.',
      'COUNTERSTEP_LOUD must be true or false.',
    ])
    expect(known).toEqual({})
    expect(hasAll(known, ['limit'])).toBe(false)
  })

  it('An empty text from a flag or the file is refused, and an empty variable counts as unset', () => {
    const file = { path: 'c.json', values: new Map([['loud', '']]), problems: [] }
    const environment = { COUNTERSTEP_WAIT_MS: '' }
    const flags = new Map([['limit', '']])
    expect(readSettings(SETTINGS, NAMES, { flags, environment, file }).problems).toEqual([
      '--limit is empty: give it a value, or leave it out.',
      '"loud" in c.json is empty: give it a value, or leave it out.',
    ])
  })

  it('A setting that was not asked for is not read', () => {
    const given = { environment: { COUNTERSTEP_LIMIT: 'x' } }
    expect(readSettings(SETTINGS, ['waitMs'], given)).toMatchObject({ known: { waitMs: 250 }, problems: [] })
  })
})

it('A variable of Counterstep that is no setting is named, unless it is empty', () => {
  const environment = { COUNTERSTEP_WAIT_MS: '1', COUNTERSTEP_SPEED: '9', COUNTERSTEP_OLD: '', HOME: '/' }
  expect(findUnknownVariables(environment, ['COUNTERSTEP_WAIT_MS'])).toEqual(['COUNTERSTEP_SPEED'])
})
