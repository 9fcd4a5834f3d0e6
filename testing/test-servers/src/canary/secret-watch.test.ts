import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { canary } from './canary.ts'
import { SecretWatch } from './secret-watch.ts'
import { withBranchSecrets, withSecrets } from './with-secrets.ts'

describe('S28: the watch over what servers show', () => {
  it('The watch over secrets hears one that a process prints, on either stream and in two pieces', async () => {
    const secret = canary('printed')
    const printing = (stream: string, text: string) => `process.${stream}.write(${JSON.stringify(text)});`
    const pieces = [printing('stdout', secret.slice(0, 7)), printing('stdout', secret.slice(7))]
    const child = spawn(process.execPath, ['-e', `${pieces.join('')}${printing('stderr', `${secret}!`)}`])
    const watch = new SecretWatch()
    watch.follow(child, 'a process')
    await once(child, 'close')
    expect(watch.shown.toSorted()).toEqual([`a process, stderr: ${secret}`, `a process, stdout: ${secret}`])
    expect(() => watch.assertNone()).toThrow(`secrets are shown:\na process`)
  })

  it('The watch over secrets keeps one output apart from another, and takes no part of a secret for one', () => {
    const watch = new SecretWatch()
    watch.hear('a log', canary('x').slice(0, 8))
    watch.hear('another', canary('x').slice(8))
    expect(watch.shown).toEqual([])
    watch.assertNone()
    expect(watch.heardCharacters).toBe(canary('x').length)
  })

  it('A secret is planted wherever a caller may have one, and the rest stays as it is', () => {
    const branch = { id: 'a', action: 'http://a/b?c=1', compensation: 'http://a/d', payload: { cents: 1 } }
    expect(withSecrets({ gid: 'g', branches: [branch] })).toEqual({
      gid: 'g',
      headers: { 'x-secret': canary('header-of-all') },
      branches: [
        {
          id: 'a',
          action: `http://a/b?c=1&token=${canary('query')}`,
          compensation: `http://a/d?token=${canary('query')}`,
          payload: { cents: 1, secret: canary('payload') },
          headers: { 'x-branch-secret': canary('header-of-branch') },
        },
      ],
    })
    expect(withBranchSecrets({ confirm: 'http://a' })).toMatchObject({
      confirm: `http://a?token=${canary('query')}`,
    })
  })
})
