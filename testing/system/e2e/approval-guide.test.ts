import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient, saga, signal } from '@counterstep/sdk'
import { Guide } from '@counterstep/test-servers/guide'
import { expect, it, onTestFinished } from 'vitest'
import { serveUntilTestEnds, startChild } from './child-process.ts'

it('The saga of the guide about approvals is approved, refused and too late, as the guide prints it', async () => {
  const guide = new Guide('approval')
  const folder = guide.writePrograms('order.ts')
  const server = await serveUntilTestEnds(folder)
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'order.ts')], {
    env: { ...process.env, COUNTERSTEP_URL: server.url },
  })
  expect(stdout).toBe(guide.readBlock('text'))
})

it('The page of the guide about approvals sends one signal for two clicks, and says when it is too late', async () => {
  const folder = new Guide('approval').writePrograms('page.ts')
  const server = await serveUntilTestEnds(folder)
  const page = await startChild(join(folder, 'page.ts'), [], { COUNTERSTEP_URL: server.url, PORT: '0' })
  onTestFinished(() => page.kill('SIGTERM'))
  const client = createClient({ url: server.url })
  const approval = signal<{ by: string; isApproved: boolean }>('approval')
  const { gid } = await client.submit(
    saga({ gid: 'order-17' })
      .signal('approved', approval)
      .output(({ approved }) => approved),
  )
  const click = async (to: string, answer: string) => {
    const body = new URLSearchParams({ by: 'kim', answer })
    const response = await fetch(`${page.url}/?gid=${to}`, { method: 'POST', body })
    return `${response.status} ${await response.text()}`
  }
  expect(await (await fetch(`${page.url}/?gid=${gid}`)).text()).toContain('Approve')
  expect(await click(gid, 'yes')).toBe('200 Thank you.')
  expect(await client.wait(gid)).toMatchObject({
    status: 'succeeded',
    output: { by: 'kim', isApproved: true },
    signals: [{ name: 'approval', id: 'kim-true', state: 'taken', branchId: 'approved' }],
  })
  expect(await click(gid, 'yes')).toBe('200 Thank you.')
  expect(await click(gid, 'no')).toBe('409 It is too late, or not known: SAGA_ALREADY_FINAL')
  expect(await click('order-18', 'yes')).toBe('404 It is too late, or not known: SAGA_UNKNOWN_GID')
})
