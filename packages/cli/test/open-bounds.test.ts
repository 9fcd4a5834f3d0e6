import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCommand } from '../src/config.ts'
import { boundConnectionsMax, readOpenFilesMax } from '../src/open-bounds.ts'

it('S41: Half of the descriptors are left to the store and the calls of branches', () => {
  expect(boundConnectionsMax(4_096, 1_024)).toBe(512)
  expect(boundConnectionsMax(4_096, 1_048_576)).toBe(4_096)
  expect(boundConnectionsMax(4_096, Number.POSITIVE_INFINITY)).toBe(4_096)
})

it('S41: The limit of open files is read where the system tells it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-limits-'))
  const path = join(folder, 'limits')
  const line = 'Max open files            1024                 524288               files     \n'
  await writeFile(
    path,
    `Limit                     Soft Limit           Hard Limit           Units     \n${line}`,
  )
  expect(readOpenFilesMax(path)).toBe(1_024)
  expect(readOpenFilesMax(join(folder, 'none'))).toBe(Number.POSITIVE_INFINITY)
  await rm(folder, { recursive: true })
})

it('S41: The bounds come from the settings, and wrong values are refused', () => {
  const read = (...args: string[]) => {
    const command = readCommand(['serve', ...args], {})
    return command.type === 'serve' ? command.config.access.bounds : command
  }
  expect(read()).toEqual({
    connectionsMax: 4_096,
    strangersPerAddressMax: 1_024,
    unreadBodyBytesMax: 2 ** 25,
  })
  expect(read('--connections-max', '100', '--strangers-per-address-max', '5')).toMatchObject({
    connectionsMax: 100,
    strangersPerAddressMax: 5,
  })
  for (const [flag, text] of [
    ['connections-max', '0'],
    ['connections-max', 'off'],
    ['strangers-per-address-max', '0'],
    ['unread-body-bytes-max', '1000'],
  ] as const)
    expect(read(`--${flag}`, text)).toMatchObject({ type: 'refused' })
})
