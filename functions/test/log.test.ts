import { describe, expect, it } from 'vitest'
import { createLog } from '../src/log.ts'

describe('the log of a function', () => {
  it('The log of a function is lines of JSON from its level on', () => {
    const lines: string[] = []
    const log = createLog('warn', (line) => lines.push(line))
    log.info({}, 'not shown')
    log.warn({ gid: 'a' }, 'shown')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/\n$/)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', message: 'shown', gid: 'a' })
  })

  it('The log shows nothing of an error that may contain a payload', () => {
    const lines: string[] = []
    createLog('info', (line) => lines.push(line)).error({ err: new Error('card 4111') }, 'failed')
    expect(lines[0]).not.toContain('4111')
    expect(JSON.parse(lines[0] ?? '').err).toMatchObject({ type: 'Error' })
  })

  it('The log is silent at the level silent', () => {
    const lines: string[] = []
    createLog('silent', (line) => lines.push(line)).error({}, 'failed')
    expect(lines).toEqual([])
  })
})
