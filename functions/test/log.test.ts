import { describe, expect, it, onTestFinished } from 'vitest'
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

  it('S20: A line that cannot be written stops no transaction, and the process is told', async () => {
    const warned: Error[] = []
    const onWarning = (warning: Error) => warned.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const lines: string[] = []
    const log = createLog('info', (line) => lines.push(line))
    log.warn(
      { err: Object.assign(new Error('x'), { name: 10n, stack: [{ fn: 'call site' }] }) },
      'a branch has failed',
    )
    log.warn({ count: 10n }, 'not written')
    createLog('info', () => {
      throw new Error('the pipe has ended')
    }).error({}, 'not written either')
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['a branch has failed'])
    await expect.poll(() => warned.length).toBe(2)
    expect(warned[1]?.message).toBe(
      'the log has thrown Error: the pipe has ended, and lost: not written either',
    )
  })
})
