import { describe, expect, it } from 'vitest'
import {
  addBranch,
  changeBranch,
  changeKind,
  createFirstDraft,
  listBranches,
  readDraft,
  readKind,
  setField,
  writeDraft,
} from './draft.ts'
import { readTags, writeTags } from './tags-text.ts'
import { toSdkCode } from './to-sdk-code.ts'

const first = createFirstDraft('127.0.0.1', 8470)

describe('a draft', () => {
  it('The first one calls the banks beside the server', () => {
    expect(listBranches(first)[1]?.action).toBe('http://127.0.0.1:8472/credit')
    expect(listBranches(createFirstDraft('console.example', 443))[0]?.action).toBe(
      'http://127.0.0.1:8471/debit',
    )
  })
  it('The form keeps what it does not know', () => {
    const draft = { ...first, checkpointMs: 0 }
    const changed = changeBranch(addBranch(draft), 2, { id: 'mail', action: 'mail:/send', later: true })
    expect(readDraft(writeDraft(changed)).draft).toEqual(changed)
    expect(changed).toMatchObject({ checkpointMs: 0, name: 'transfer' })
  })
  it('Another kind drops the URLs that it does not have', () => {
    const message = changeKind(first, 'message')
    expect(readKind(message)).toBe('message')
    expect(Object.keys(listBranches(message)[0] ?? {})).toEqual(['id', 'action', 'payload'])
    expect(readKind(changeKind(message, 'saga'))).toBe('saga')
  })
  it('An empty text drops the field', () => expect(setField({ a: 1, b: 2 }, 'a', '')).toEqual({ b: 2 }))
  it('Text that is no object is a fault', () => {
    expect(readDraft('[1]').fault).toBe('It must be a JSON object.')
    expect(readDraft('{').fault).toBeDefined()
  })
})

describe('tags as text', () => {
  it('Tags are read as they are written', () => {
    expect(writeTags({ region: 'eu', time: '10:30' })).toBe('region:eu time:10:30')
    expect(readTags('region:eu  time:10:30 ')).toEqual({ region: 'eu', time: '10:30' })
    expect(readTags(' ')).toBeUndefined()
  })
})

describe('the code of the SDK', () => {
  it('A saga becomes a program, and no text leaves its quotes', () => {
    const draft = {
      name: "it's",
      branches: [{ id: 'a', action: "x:/'+evil+'", payload: { 'a-b': ['\n', 1] } }],
    }
    const code = toSdkCode(draft, 'http://h')
    expect(code).toContain("saga('it\\'s')")
    expect(code).toContain("action: 'x:/\\'+evil+\\''")
    expect(code).toContain("payload: { 'a-b': ['\\n', 1] }")
  })
})
